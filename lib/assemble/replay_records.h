/*
 * Hands each event of the spool to the file that owns its kind.
 *
 * The spool stores events and samples in blocks, so an event may precede older samples in the file. An event therefore
 * waits in `queue` until a sample of its time or later arrives: each sample sees the processes, threads and mappings
 * of its own time.
 */
#pragma once

#include "assemble/replay_state.h"

#include <stdint.h>

/* Handles an event of the spool. Applies events of the whole recording at once, and queues the others.
 * Counts and ignores an event with a damaged number. Fails only if memory runs out. */
int replay_take_event(struct replay *replay, const struct spool_event *event, struct error *err);

/* Applies the pending events up to `time` (ns of CLOCK_MONOTONIC), in their order. Fails only if memory runs out. */
int replay_apply_pending(struct replay *replay, uint64_t time, struct error *err);
