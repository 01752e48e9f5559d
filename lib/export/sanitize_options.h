/*
 * Options of a sanitized copy of a profile, and a summary of what it removes. See sanitize.h.
 */
#pragma once

#include "export/sanitize_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sanitize_options {
    unsigned parts;                     /* enum sanitize_part */
    const struct sanitize_words *words; /* known to the caller; NULL: none */
    /* Functions of other libraries become one "(hidden)" per library; a name may end in '*'. None: all functions
     * keep their names. */
    const char *const *libraries;
    size_t library_count;
    bool is_part; /* the profile has not all threads or times of the recording */
};

/* A text before and after. */
struct sanitize_example {
    const char *before, *after; /* NUL-terminated */
};

enum { SANITIZE_EXAMPLES = 5 };

/* Kept and removed data. The texts are in the arena of the copy. */
struct sanitize_summary {
    uint64_t threads, samples, markers, functions, libraries, sources;
    double from, to;                  /* ms; the first and the last time of a sample */
    uint64_t changed[SANITIZE_PARTS]; /* texts that had something of a part, by its bit; each text counts once */
    uint64_t entries;                 /* of the profile's information on machine and recording */
    uint64_t hidden;                  /* functions */
    struct sanitize_example examples[SANITIZE_PARTS][SANITIZE_EXAMPLES]; /* NULL after the last one */
};
