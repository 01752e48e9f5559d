/*
 * Groups of events (perf record -e '{cycles,instructions}:S'): one event is sampled, and each of its samples has the
 * counts of all. The difference of a count to the previous sample is its part of this sample.
 * Threads: one at a time.
 */
#pragma once

#include "perf_data/perf_data_record.h"

struct perf_data_groups {
    struct hash last;       /* id, and thread if each thread has a counter -> index in `values` */
    ARRAY(uint64_t) values; /* at the sample before */
};

void perf_data_groups_destroy(struct perf_data_groups *groups);

/* The increase of the counter of `count` since its previous sample. False if memory ran out. */
bool perf_data_groups_step(struct perf_data_groups *groups, const struct perf_data_record *record,
                           const struct perf_data_count *count, uint64_t *step);
