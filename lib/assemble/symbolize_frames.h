/*
 * Symbolizes the addresses of a replayed recording: frames, funcs, native symbols, sources and libraries of a profile.
 */
#pragma once

#include "assemble/replay_state.h"
#include "assemble/symbolization.h"
#include "process/open_files.h"

/* Symbolizes all new frames of `replay` with `symbolizer`, and adds the results to `profile`, whose categories it
 * creates. Reads libraries through the open-file table `files` (may be NULL), and saves the machine code of JIT
 * functions in `cache_directory` (NULL: nowhere). `symbolization` is zeroed at first; call symbolization_destroy() also
 * after a failure. Fails only when memory runs out. */
int symbolize_frames(struct symbolization *symbolization, const struct replay *replay, const struct open_files *files,
                     const char *cache_directory, struct symbolizer *symbolizer, struct profile *profile,
                     struct interner *interner, struct error *err);

void symbolization_destroy(struct symbolization *symbolization);
