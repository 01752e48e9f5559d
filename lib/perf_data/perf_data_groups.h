/*
 * Events of a group (perf record -e '{cycles,instructions}:S'): one of them is sampled, and each of its samples has
 * what all of them have counted until then. What one counted since the sample before is its part of this sample.
 *
 * Threads: one at a time.
 */
#pragma once

#include "perf_data/perf_data_record.h"

struct perf_data_groups {
    struct hash last;       /* id, and thread if each thread has a counter -> index in `values` */
    ARRAY(uint64_t) values; /* at the sample before */
};

void perf_data_groups_destroy(struct perf_data_groups *groups);

/* What the counter of `count` has counted since the sample before of the same one. False if memory ran out. */
bool perf_data_groups_step(struct perf_data_groups *groups, const struct perf_data_record *record,
                           const struct perf_data_count *count, uint64_t *step);
