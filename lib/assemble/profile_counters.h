/*
 * Makes the profile's counters from the readings of a recording (replay_counters.h), for each process in the profile
 * and for the machine.
 *
 * In the format, the sum of changes is the value of a counter. A counter of a level (memory, threads) starts with 0, so
 * that its sum is the level, not the difference from the start. CPU time is in ms, so that its change per ms is the
 * share of one CPU. Counters that stay 0 are omitted.
 *
 * `display` has data that the format does not define, under names that other readers skip: see
 * tree/timeline_counters.h.
 */
#pragma once

#include "assemble/replay_state.h"
#include "base/error.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct profile_counters_source {
    const struct replay *replay;
    const uint32_t *order; /* the threads of the profile, as indexes of those of the replay */
    size_t count;
    uint64_t start_ns, end_ns; /* of the profile, CLOCK_MONOTONIC */
};

int profile_counters_fill(struct profile *profile, const struct profile_counters_source *source, struct error *err);
