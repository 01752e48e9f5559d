/*
 * Comparisons: one profile made of two or more, with the threads of all of them, each on its side (base or new), and
 * one table of functions (match_funcs.h). lib/tree counts the change between the sides (tree/compared.h): of whatever
 * weight, since each thread keeps its samples as they were recorded. So a comparison is saved and served like any
 * profile, and other readers see the threads of both sides.
 *
 * A side can have several runs: several profiles, or one that was recorded with --iterations. What counts is their
 * mean. All begin at time 0, so that a range is of the same part of each run.
 */
#pragma once

#include "profile/profile.h"

struct compare_input {
    struct profile *profile; /* checked, and given away: empty after the comparison, whether or not it fails */
    const char *name;        /* of its side, for people: that of the first input counts */
    enum profile_side side;
    double from, to;     /* ms after the start of the profile: samples with from <= time < to; -INFINITY, INFINITY */
    const uint8_t *kept; /* per thread, whether it is compared; NULL: all are */
};

/* `forgiven`: of enum forgiven. At least one input of each side. The caller zeroes `out`, and owns it on success. */
int profile_compare(struct profile *out, struct compare_input *inputs, size_t count, unsigned forgiven,
                    struct error *err);
