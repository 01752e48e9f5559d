/*
 * The string table of a message of pprof or OpenTelemetry: distinct texts, "" first, valid UTF-8.
 */
#pragma once

#include "profile/profile.h"

struct export_strings {
    struct strings table;
    const struct profile *profile;
    uint32_t *of_profile; /* for each string of the profile, its index in the export, or PROFILE_NONE if not used yet */
    bool failed;          /* memory ran out */
};

/* Returns false if memory ran out. Call export_strings_destroy() also after a failure. */
bool export_strings_init(struct export_strings *strings, const struct profile *profile);
void export_strings_destroy(struct export_strings *strings);

/* Returns the index of a text; invalid UTF-8 becomes U+FFFD. */
uint32_t export_add_string(struct export_strings *strings, const char *text);
uint32_t export_add_text(struct export_strings *strings, const char *text, size_t length);

/* Returns the index of a string of the profile, 0 for PROFILE_NONE. */
uint32_t export_add_profile_string(struct export_strings *strings, uint32_t string);
