/*
 * Makes the profile's counters from the readings of a recording (replay_counters.h), for each process in the profile
 * and for the machine.
 *
 * In the format, the sum of changes is the value of a counter. A counter of a level (memory, threads) starts at 0, so
 * that the sum of its changes is the level. CPU time is in ms, so that a change per ms is the used share of one CPU.
 * Counters that stay 0 are omitted.
 *
 * `display` has data outside of the format's definition, under names that other readers skip: see
 * tree/timeline_counters.h.
 */
#pragma once

#include "assemble/replay_state.h"
#include "base/error.h"
#include "profile/profile.h"

struct profile_counters_source {
    const struct replay *replay;
    const uint32_t *order; /* threads of the profile, as indexes of the replay's threads */
    size_t count;
    uint64_t start_ns, end_ns; /* time 0 of the profile, ns of CLOCK_MONOTONIC */
};

int profile_counters_fill(struct profile *profile, const struct profile_counters_source *source, struct error *err);
