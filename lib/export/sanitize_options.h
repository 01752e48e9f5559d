/*
 * What a sanitized copy of a profile leaves out, and a summary of it. See sanitize.h.
 */
#pragma once

#include "export/sanitize_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
