/*
 * Groups of events (perf record -e '{cycles,instructions}:S'): one event is sampled, and each sample of this event has
 * the counts of all events. The increase of a count since the previous sample belongs to the sample. Threads: one at a
 * time.
 */
#pragma once

#include "perf_data/perf_data_record.h"

struct perf_data_groups {
    struct hash last;       /* (event id, thread if each thread has a counter) -> index in `values` */
    ARRAY(uint64_t) values; /* counts at the previous sample */
};

void perf_data_groups_destroy(struct perf_data_groups *groups);

/* Returns the increase of the counter of `count` since its previous sample. False if memory ran out. */
bool perf_data_groups_compute_step(struct perf_data_groups *groups, const struct perf_data_record *record,
                                   const struct perf_data_count *count, uint64_t *step);
