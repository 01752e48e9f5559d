/*
 * The symbolized frames of a replayed recording (symbolize_frames.h), and the reasons for missing symbols.
 */
#pragma once

#include "assemble/answer_rows.h"
#include "base/array.h"
#include "profile/intern.h"
#include "symbol/symbol.h"

/* The profile's frames of one address: its function, then the functions inlined at the address, outermost first. */
struct symbolized_frame {
    uint32_t first, count; /* range of symbolization.frames */
    bool is_unnamed;       /* without a symbol */
};

/* A library with unsymbolized addresses, and the reason. */
struct missing_symbols {
    uint32_t library; /* index of a string */
    enum missing_symbols_reason reason;
    bool
        is_packaged; /* the file has a build id and is in a directory of packages: debug servers may have its symbols */
    bool is_partial; /* most addresses of the library have names */
    uint64_t unnamed; /* addresses */
    uint64_t samples; /* samples with an unsymbolized address of the library as leaf */
};

/* The reason why a library has no symbols or lines. */
struct symbolization_problem {
    uint32_t library, reason; /* indexes of strings */
};

struct symbolization {
    ARRAY(struct symbolized_frame) named;          /* one per frame of the replay */
    struct row_list frames;                        /* profile frames */
    uint64_t addresses, unnamed;                   /* distinct addresses in libraries; addresses without a symbol */
    uint64_t jit_addresses, jit_unnamed;           /* distinct addresses in JIT code; addresses without a symbol */
    uint64_t jit_unnamed_samples;                  /* samples of jit_unnamed */
    bool shares_frames;                            /* some addresses share a frame of the profile */
    ARRAY(struct missing_symbols) missing_symbols; /* most samples first */
    ARRAY(uint32_t) gone; /* symbolized libraries whose file no longer exists, as strings of the profile */
    ARRAY(struct symbolization_problem) problems;
};
