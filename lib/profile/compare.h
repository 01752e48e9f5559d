/*
 * Comparisons: one profile of two or more, with all their threads, each on its side (base or new), and one table of
 * functions (match_funcs.h). lib/tree computes the change of any weight between the sides (tree/compared.h), because
 * the samples of each thread stay unchanged. A comparison is saved and served like any profile, and other readers see
 * the threads of both sides.
 *
 * A side can have several runs, from several profiles or from a profile recorded with --iterations. The mean of the
 * runs counts. All runs start at time 0, so a range covers the same part of each run.
 */
#pragma once

#include "profile/profile.h"

struct compare_input {
    struct profile *profile; /* a checked profile; the comparison takes ownership, and leaves the struct empty */
    const char *name;        /* display name of the side; the name of the side's first input counts */
    enum profile_side side;
    double from, to;     /* ms after the start of the profile: samples with from <= time < to; -INFINITY, INFINITY */
    const uint8_t *kept; /* for each thread, whether to compare the thread, or NULL (all) */
};

/* `forgiven` has bits of enum forgiven. Each side has at least one input. The caller zeroes `out`, and owns it on
 * success. */
int profile_compare(struct profile *out, struct compare_input *inputs, size_t count, unsigned forgiven,
                    struct error *err);
