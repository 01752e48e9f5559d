/*
 * Finding functions by a few letters of their names (fuzzy.h), as one types them into a command palette. A word that is
 * in no place of the name but a part of the library's name counts 1. Equally good ones are ordered by the weight that
 * they are given, then the shorter first.
 */
#pragma once

#include "tree/timings.h"

struct name_finder {
    const struct profile *profile;
    uint64_t *letters; /* per string: which letters it has */
    double *weight;    /* per func */
};

struct found_name {
    uint32_t func;
    int32_t score;
    double weight;
};

ARRAY_TYPE(struct found_names, struct found_name);

/* The profile must outlive the finder, and not change. All funcs have the weight 0. */
int name_finder_init(struct name_finder *finder, const struct profile *profile, struct error *err);

/* Gives funcs the magnitude of their totals as weight, and 0 to those that are not among `functions`. */
void name_finder_weigh(struct name_finder *finder, const struct func_timings *functions);

/* The best `limit` funcs of the profile, best first, into `found`, whose memory is used again. Without words all funcs
 * are equally good. */
int name_finder_find(const struct name_finder *finder, const char *text, size_t length, size_t limit,
                     struct found_names *found, struct error *err);

void name_finder_destroy(struct name_finder *finder);
