/*
 * What a profile says of itself: the machine, the command, how it was recorded, and how far it can be trusted.
 */
#ifndef PROF_ASSEMBLE_FACTS_H
#define PROF_ASSEMBLE_FACTS_H

#include "assemble/naming.h"
#include "assemble/replay.h"

/* Fills profile->meta. `start_ns` is CLOCK_MONOTONIC at the profile's zero. */
int fill_facts(struct profile *profile, const struct replay *replay, const struct naming *naming, uint64_t start_ns,
               struct error *err);

#endif
