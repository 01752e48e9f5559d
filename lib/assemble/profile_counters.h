/*
 * Makes counters of a profile from the readings of a recording (replay_counters.h): of each process that has a row, and
 * of the machine.
 *
 * Times and changes are those of the format: the sum of changes is what a counter has. A counter of what there is
 * (memory, threads) begins with 0, so that its sum is what there is, and not how it differs from the beginning. CPU
 * time is counted in ms, so that its change per ms is the share of one CPU. Counters that stay 0 are left out.
 *
 * `display` has data that the format does not define, under names that other readers skip: see tree/counters.h.
 */
#pragma once

#include "assemble/replay.h"
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
