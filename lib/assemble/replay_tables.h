/*
 * The tables of a replay, filled from events of the spool: processes, threads, libraries, mappings and names.
 *
 * The spool stores events and samples in blocks, so an event may precede older samples in the file. An event therefore
 * waits in `pending` until a sample of its time or later arrives: each sample sees the processes, threads and mappings
 * of its own time.
 */
#pragma once

#include "assemble/replay_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Handles an event of the spool. Applies events of the whole recording at once, and queues the others in `pending`.
 * Counts and ignores an event with a damaged number. Fails only if memory runs out. */
int replay_take_event(struct replay *replay, const struct spool_event *event, struct error *err);

/* Applies the pending events up to `time` (ns of CLOCK_MONOTONIC), in their order. Fails only if memory runs out. */
int replay_apply_pending(struct replay *replay, uint64_t time, struct error *err);

/* Whether a process, thread or library may have this index. The recorder assigns indexes in sequence, so an index
 * larger than the number of events so far comes from a damaged spool. */
bool replay_is_possible(const struct replay *replay, uint32_t number);

/* Whether an event has described the thread. */
bool replay_knows_thread(const struct replay *replay, uint32_t number);

/* Whether an event has described the library: that event may be in a lost block. */
bool replay_knows_lib(const struct replay *replay, uint32_t number);

/* Extends the recording's range to `time` (ns of CLOCK_MONOTONIC). 0: does nothing. */
void replay_note_time(struct replay *replay, uint64_t time);
