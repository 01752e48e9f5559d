/*
 * What a profile says of itself: the machine, the command, how it was recorded, and how far it can be trusted.
 */
#ifndef PROF_ASSEMBLE_METADATA_H
#define PROF_ASSEMBLE_METADATA_H

#include "assemble/hints.h"
#include "assemble/replay.h"
#include "assemble/symbolization.h"

/* Fills profile->meta. `start_ns` is CLOCK_MONOTONIC at the profile's zero. */
int fill_metadata(struct profile *profile, const struct replay *replay, const struct symbolization *symbolization,
                  const struct hints *hints, uint64_t start_ns, struct error *err);

#endif
