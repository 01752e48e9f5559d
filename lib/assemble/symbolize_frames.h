/*
 * Symbolizes the addresses of a replayed recording: frames, funcs, native symbols, sources and libraries of a profile.
 */
#pragma once

#include "assemble/replay_state.h"
#include "assemble/symbolization.h"
#include "process/open_files.h"

struct symbolize_frames_input {
    const struct replay *replay;
    struct symbolizer *symbolizer;
    struct profile *profile;
    struct interner *interner;
    const struct open_files *files; /* may be NULL */
    /* directory for the machine code of JIT functions, or NULL (prof does not save the code) */
    const char *cache_directory;
};

/* Symbolizes all new frames of the replay, and adds the results to the profile, whose categories it creates.
 * `symbolization` is zeroed at first; call symbolization_destroy() also after a failure. Fails only when memory runs
 * out. */
int symbolize_frames(struct symbolization *symbolization, const struct symbolize_frames_input *input,
                     struct error *err);

void symbolization_destroy(struct symbolization *symbolization);
