/*
 * Notes of a user about ranges and functions. A file has its notes in the section "Notes" of `meta.extra`, which the
 * Firefox Profiler shows with the information about the profile:
 *
 *     {"label": "Range 1 (ms)", "format": "list", "value": [15.25, 19.25, "parsing", "called too often"]}
 *     {"label": "Function 2", "format": "list", "value": ["memcpy", "libc.so.6", "copies each request"]}
 *
 * A note names its function by name and library, because indexes of functions differ between files.
 */
#pragma once

#include "base/arena.h"
#include "profile/profile.h"

enum { NOTES_MAX = 100 }; /* limit of a profile; list_notes() and set_notes() ignore further notes */

struct note {
    double from, to;     /* ms, as in the profile; NAN in a note about a function */
    uint32_t func;       /* of find_funcs_of_notes(); PROFILE_NONE before, and for a range or a missing function */
    const char *name;    /* of the range or of the function */
    const char *library; /* of the function, "" for none */
    const char *comment;
};

ARRAY_TYPE(struct notes, struct note);

static inline bool is_range_note(const struct note *note)
{
    return note->from < note->to;
}

bool is_notes_section(const struct profile *profile, const struct extra_section *section);

/* Reads a JSON value as in the comment above, into texts in the arena. False if the value is no note; if memory ran
 * out, a text is NULL. */
bool read_note(struct note *note, struct arena *arena, const char *json, size_t length);

/* Appends the notes of a profile, with texts in the arena. Ignores entries that are no notes. */
int list_notes(struct notes *notes, struct arena *arena, const struct profile *profile, struct error *err);

/* Finds the functions of notes by name and library. Linear in the functions of the profile, for each note. */
void find_funcs_of_notes(struct notes *notes, const struct profile *profile);

/* Replaces the notes of a profile. `json`: an array of values as in the comment above. Ignores elements that are no
 * notes. */
int set_notes(struct profile *profile, const char *json, size_t length, struct error *err);
