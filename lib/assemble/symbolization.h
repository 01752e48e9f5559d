/*
 * Turns the addresses of a replayed recording into frames, funcs, native symbols, sources and libraries of a profile.
 */
#pragma once

#include "assemble/answer_rows.h"
#include "assemble/replay.h"
#include "profile/intern.h"
#include "process/open_files.h"
#include "symbol/symbol.h"

/* The profile's frames for one address: the function that contains it, then the functions inlined there, outermost
 * first. */
struct symbolized_frame {
    uint32_t first, count; /* range of symbolization.frames */
    bool is_unnamed;       /* no symbol is known for it */
};

/* A library some of whose addresses have no name, and why. */
struct missing_symbols {
    uint32_t library; /* index of a string */
    enum missing_symbols_reason reason;
    bool is_packaged; /* it is where packages install files, and has a build id: debug servers may know it */
    bool is_partial;  /* most of its addresses have names */
    uint64_t unnamed; /* addresses */
    uint64_t samples; /* whose innermost function is one of these */
};

/* Why a library has no names or lines. */
struct symbolization_problem {
    uint32_t library, reason; /* indexes of strings */
};

struct symbolization {
    ARRAY(struct symbolized_frame) named;          /* one per frame of the replay */
    struct row_list frames;                        /* profile frames */
    uint64_t addresses, unnamed;                   /* distinct addresses in libraries; those without a symbol */
    uint64_t jit_addresses, jit_unnamed;           /* distinct addresses in JIT code; those that no file names */
    uint64_t jit_unnamed_samples;                  /* samples in the latter */
    bool shares_frames;                            /* several addresses may share a frame */
    ARRAY(struct missing_symbols) missing_symbols; /* those without a name for most samples first */
    ARRAY(uint32_t) gone;                          /* strings: libraries with names whose file is no longer there */
    ARRAY(struct symbolization_problem) problems;
};

/* Looks up every frame of `replay` that it has not yet (`named`) with `symbolizer`, and adds the results to `profile`,
 * whose categories it creates. Reads libraries through the open-file table `files` (may be NULL), and keeps the machine
 * code of JIT functions in `cache_folder` (NULL: nowhere). `symbolization` is zeroed at first; call
 * symbolization_destroy() also after a failure. Fails only when memory runs out. */
int symbolize_frames(struct symbolization *symbolization, const struct replay *replay, const struct open_files *files,
                     const char *cache_folder, struct symbolizer *symbolizer, struct profile *profile,
                     struct interner *interner, struct error *err);

void symbolization_destroy(struct symbolization *symbolization);
