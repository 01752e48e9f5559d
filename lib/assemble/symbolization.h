/*
 * From the addresses of a replayed recording to the frames, funcs, native symbols, sources and libraries of a profile.
 */
#ifndef PROF_ASSEMBLE_SYMBOLIZATION_H
#define PROF_ASSEMBLE_SYMBOLIZATION_H

#include "assemble/answer_rows.h"
#include "assemble/replay.h"
#include "profile/intern.h"
#include "record/open_files.h"
#include "symbol/symbol.h"

/* The profile's frames that stand for one address: the function it lies in, then those inlined there, outside in. */
struct symbolized_frame {
    uint32_t first, count; /* into symbolization.frames */
};

/* A library most of whose addresses have no name, and why. */
struct missing_symbols {
    uint32_t library; /* string */
    enum missing_symbols_reason reason;
    uint64_t unnamed; /* addresses */
};

/* Why names or lines of a library are missing. */
struct symbolization_problem {
    uint32_t library, reason; /* strings */
};

struct symbolization {
    ARRAY(struct symbolized_frame) named; /* one per frame of the replay */
    struct row_list frames;               /* profile frames */
    uint64_t addresses, unnamed;          /* distinct addresses in libraries, and those without a symbol */
    uint64_t jit_addresses, jit_unnamed;  /* distinct addresses of JIT code, and those that no file names */
    uint64_t jit_unnamed_samples;         /* samples in the latter */
    bool shares_frames;                   /* several addresses may have the same frame */
    ARRAY(struct missing_symbols) missing_symbols;
    ARRAY(uint32_t) gone; /* strings: libraries that were deleted or replaced since they were mapped, but have names */
    ARRAY(struct symbolization_problem) problems;
};

/* Looks up every frame of `replay` with `symbolizer`, in `files` (or NULL) where they were kept, and adds what it finds
 * to `profile`, whose categories it creates. `symbolization` is zeroed; symbolization_destroy() is owed in any case.
 * Fails only when memory runs out. */
int symbolize_frames(struct symbolization *symbolization, const struct replay *replay, const struct open_files *files,
                     struct symbolizer *symbolizer, struct profile *profile, struct interner *interner,
                     struct error *err);

void symbolization_destroy(struct symbolization *symbolization);

#endif
