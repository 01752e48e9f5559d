/*
 * Options of a sanitized copy of a profile, and a summary of the removed data. See sanitize.h.
 */
#pragma once

#include "export/sanitize_text.h"

struct sanitize_options {
    unsigned parts;                     /* enum sanitize_part */
    const struct sanitize_words *words; /* words that the caller knows, or NULL for none */
    /* Functions of other libraries become one "(hidden)" per library; a library name may end in '*'. If empty, all
     * functions keep their names. */
    const char *const *libraries;
    size_t library_count;
    bool is_part; /* the profile lacks some threads or times of the recording */
};

/* A text before and after. */
struct sanitize_example {
    const char *before, *after; /* NUL-terminated */
};

enum { SANITIZE_EXAMPLES = 5 };

/* Kept and removed data. The texts are in the arena of the copy. */
struct sanitize_summary {
    uint64_t threads, samples, markers, functions, libraries, sources;
    double from, to;                  /* ms; times of the first and last sample */
    uint64_t changed[SANITIZE_PARTS]; /* number of texts with sensitive data, per bit of enum sanitize_part */
    uint64_t entries;                 /* entries of the metadata about machine and recording */
    uint64_t hidden;                  /* functions */
    struct sanitize_example examples[SANITIZE_PARTS][SANITIZE_EXAMPLES]; /* NULL after the last one */
};
