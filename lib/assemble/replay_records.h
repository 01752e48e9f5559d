/*
 * Passes each record of the spool to the file that handles its kind.
 *
 * The spool stores events and samples in blocks, so an event may precede older samples in the file. An event therefore
 * stays in `queue` until a sample of its time or later arrives. So each sample gets the processes, threads and mappings
 * of its own time.
 */
#pragma once

#include "assemble/replay_state.h"

/* Handles a record: applies samples and events without a time at once, and queues other events. Counts and ignores a
 * record with a damaged number. Fails if memory runs out, or the sample store cannot write. The record may change. */
int replay_handle_record(struct replay *replay, struct spool_record *record, struct error *err);

/* Applies the queued records up to `time` (ns of CLOCK_MONOTONIC), in their order. Fails only if memory runs out. */
int replay_apply_queue(struct replay *replay, uint64_t time, struct error *err);
