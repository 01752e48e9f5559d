/*
 * The lengths of waits, counted in a histogram for each group, for percentiles. A bucket is 2.9 % wide (24 to the
 * octave), so a percentile is off by at most 1.5 %. Only buckets with a count take memory: at most 1,300 for each
 * group, however many waits a profile has.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"

struct length_count {
    uint32_t group;
    int32_t bucket;
    double count;
};

/* Starts zeroed. */
struct length_counts {
    struct hash index; /* group and bucket -> entry */
    ARRAY(struct length_count) entries;
};

/* Counts `count` waits of `ms` > 0, which may be a fraction. False if memory ran out. */
bool length_counts_add(struct length_counts *counts, uint32_t group, double ms, double count);

/* Stores the length (ms) that a `share` of the waits of each group does not exceed in `of_group`; NAN for a group
 * without a count. Sorts the entries, so it is the last call before length_counts_destroy(). */
void length_counts_find_percentiles(struct length_counts *counts, double share, double *of_group, size_t groups);

void length_counts_destroy(struct length_counts *counts);
