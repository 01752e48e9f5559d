/*
 * Reads a recording once, from start to end, into struct replay.
 */
#pragma once

#include "assemble/replay_state.h"
#include "base/error.h"

#include <stdint.h>

/* Reads the whole spool into `replay`, which is zeroed except for perf_map_directory,
 * rest_path, window and jit_files. Call replay_destroy()
 * also after a failure. */
int replay_spool(struct replay *replay, const char *spool_path, struct error *err);

/* Likewise for a running recording: reads the part of the spool that is new since the last call. All samples older than
 * `settled` (ns of CLOCK_MONOTONIC) are in the spool, so events up to then apply. Adds no samples for CPU time without
 * samples, because this is not the end. Does not support flight recorders, which drop their oldest samples. */
int replay_go_on(struct replay *replay, const char *spool_path, uint64_t settled, struct error *err);

void replay_destroy(struct replay *replay);
