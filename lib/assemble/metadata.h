/*
 * The metadata of a profile: the machine, the command, the settings of the recording, and the quality of its data.
 */
#pragma once

#include "assemble/hints.h"
#include "assemble/replay.h"
#include "assemble/symbolization.h"

/* Fills profile->meta. `start_ns` is CLOCK_MONOTONIC at time 0 of the profile. */
int fill_metadata(struct profile *profile, const struct replay *replay, const struct symbolization *symbolization,
                  const struct hints *hints, uint64_t start_ns, struct error *err);
