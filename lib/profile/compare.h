/*
 * Comparisons: one profile of two or more, with all their threads, each on its side (base or new), and one table of
 * functions (match_funcs.h). lib/tree computes the change between the sides (tree/compared.h), of any weight, because
 * each thread keeps its samples unchanged. So a comparison is saved and served like any profile, and other readers see
 * the threads of both sides.
 *
 * A side can have several runs: several profiles, or one recorded with --iterations. Their mean counts. All start at
 * time 0, so that a range covers the same part of each run.
 */
#pragma once

#include "profile/profile.h"

struct compare_input {
    struct profile *profile; /* a checked profile; the comparison takes ownership, and leaves it empty */
    const char *name;        /* display name of its side; the name of the first input counts */
    enum profile_side side;
    double from, to;     /* ms after the start of the profile: samples with from <= time < to; -INFINITY, INFINITY */
    const uint8_t *kept; /* per thread: whether it is compared; NULL: all */
};

/* `forgiven`: of enum forgiven. At least one input of each side. The caller zeroes `out`, and owns it on success. */
int profile_compare(struct profile *out, struct compare_input *inputs, size_t count, unsigned forgiven,
                    struct error *err);
