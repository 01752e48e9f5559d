/*
 * CPU samples, waits and event samples of a replay, as rows of the sample stores.
 */
#pragma once

#include "assemble/replay_state.h"

/* Handles SPOOL_SAMPLE, SPOOL_WAIT, SPOOL_EVENT_SAMPLE and SPOOL_WAKER_STACK. Counts and ignores a sample of an unknown
 * thread. */
int replay_add_sample(struct replay *replay, const struct spool_record *record, struct error *err);

/* Stores a slice of a known thread. The parts of a slice arrive in the order of time. */
int replay_add_slice(struct replay *replay, const struct spool_slice *slice, struct error *err);
