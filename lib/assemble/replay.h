/*
 * Reads a recording once, from start to end, into struct replay.
 */
#pragma once

#include "assemble/replay_state.h"
#include "base/error.h"

/* Reads the whole spool into `replay`, which is zeroed except for perf_map_directory, rest_path, window and jit_files.
 * Call replay_destroy() also after a failure. */
int replay_spool(struct replay *replay, const char *spool_path, struct error *err);

/* Reads the new part of a running recording's spool since the last call. The spool has all samples older than
 * `complete_until` (ns of CLOCK_MONOTONIC), so the replay applies events up to this time. Adds no samples for CPU time
 * without samples, because the recording continues. Does not support flight recorders, which drop their oldest samples.
 */
int replay_continue(struct replay *replay, const char *spool_path, uint64_t complete_until, struct error *err);

void replay_destroy(struct replay *replay);
