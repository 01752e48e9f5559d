/*
 * CPU samples and waits of a replay, as rows of the sample store.
 */
#pragma once

#include "assemble/replay_state.h"
#include "spool/chunk.h"

/* Takes a sample, wait, event sample or counter reading, after the queued events of its time. Counts and ignores a
 * sample of an unknown thread. */
int replay_add_sample(struct replay *replay, const struct sample *sample, struct error *err);
