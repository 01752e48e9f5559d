/*
 * A profile for the eyes of others: without what it tells of the person and the machine that recorded it. The numbers
 * stay, and so do the tables' rows, so that a view of the original (functions by their numbers) is one of the copy.
 *
 * The copy has a string table of its own, with only those texts that something in it refers to: what is left out is not
 * in the file at all. Functions that no sample of the copy has are without names.
 */
#pragma once

#include "base/arena.h"
#include "export/sanitize_text.h"
#include "profile/profile.h"

struct sanitize_options {
    unsigned parts;                     /* enum sanitize_part */
    const struct sanitize_words *words; /* that the caller knows; NULL: none */
    /* Functions of other libraries become "(hidden)", one of each library; a name may end in '*'. None: all keep their
     * names. */
    const char *const *libraries;
    size_t library_count;
    bool is_part; /* the profile has not all threads or times of the recording */
};

/* A text before and after. */
struct sanitize_example {
    const char *before, *after; /* NUL-terminated */
};

enum { SANITIZE_EXAMPLES = 5 };

/* What stays, and what was left out. The texts are in the arena of the copy. */
struct sanitize_summary {
    uint64_t threads, samples, markers, functions, libraries, sources;
    double from, to;                  /* ms; the first and the last time of a sample */
    uint64_t changed[SANITIZE_PARTS]; /* texts that had something of a part, by its bit; each text counts once */
    uint64_t entries;                 /* of what the profile says of the machine and the recording */
    uint64_t hidden;                  /* functions */
    struct sanitize_example examples[SANITIZE_PARTS][SANITIZE_EXAMPLES]; /* NULL from the last one on */
};

/* Replaces the tables of `copy`, which begins as a shallow copy of a checked profile, by sanitized ones. They are in
 * `memory`, but for the strings: strings_destroy() frees these, also after a failure. `summary` is filled. */
int sanitize_profile(struct profile *copy, const struct sanitize_options *options, struct arena *memory,
                     struct sanitize_summary *summary, struct error *err);

/* Appends what a summary says, a line for each thing: "+..." stays, "-..." is left out, and after such a line "~..."
 * and "=..." are a text before and after. False if memory ran out. */
bool sanitize_describe(const struct sanitize_summary *summary, const struct sanitize_options *options,
                       struct text_buffer *out);
