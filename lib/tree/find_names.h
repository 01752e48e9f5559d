/*
 * Finds functions by a few letters of their names (fuzzy.h), for a command palette. A word that matches only the
 * library's name scores 1. Equal scores are ordered by weight, then by length, shorter first.
 */
#pragma once

#include "tree/timings.h"

struct name_finder {
    const struct profile *profile;
    uint64_t *letters; /* for each string, the set of its letters */
    double *weight;    /* per func */
};

struct found_name {
    uint32_t func;
    int32_t score;
    double weight;
};

ARRAY_TYPE(struct found_names, struct found_name);

/* The profile must outlive the finder, unchanged. All weights start at 0. */
int name_finder_init(struct name_finder *finder, const struct profile *profile, struct error *err);

/* Sets the weight of each func to the magnitude of its total. Funcs that are not in `functions` get 0. */
void name_finder_weigh(struct name_finder *finder, const struct func_timings *functions);

/* Finds the best `limit` funcs of the profile, best first. A call reuses the memory of `found` from the previous call.
 * Without words, all funcs have the same score. */
int name_finder_find(const struct name_finder *finder, const char *text, size_t length, size_t limit,
                     struct found_names *found, struct error *err);

void name_finder_destroy(struct name_finder *finder);
