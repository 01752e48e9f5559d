/*
 * The symbolized frames of a replayed recording (symbolize_frames.h), and the reasons why some have no symbol.
 */
#pragma once

#include "assemble/answer_rows.h"
#include "base/array.h"
#include "profile/intern.h"
#include "symbol/symbol.h"

/* The profile's frames of one address: its function, then the functions inlined there, outermost first. */
struct symbolized_frame {
    uint32_t first, count; /* range of symbolization.frames */
    bool is_unnamed;       /* without a symbol */
};

/* A library with unsymbolized addresses, and the reason. */
struct missing_symbols {
    uint32_t library; /* index of a string */
    enum missing_symbols_reason reason;
    bool is_packaged; /* in a directory of packages, with a build id: debug servers may have it */
    bool is_partial;  /* most of its addresses have names */
    uint64_t unnamed; /* addresses */
    uint64_t samples; /* samples with one of these addresses as leaf */
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
    bool shares_frames;                            /* several addresses may share a frame */
    ARRAY(struct missing_symbols) missing_symbols; /* most samples first */
    ARRAY(uint32_t) gone;                          /* strings: symbolized libraries whose file no longer exists */
    ARRAY(struct symbolization_problem) problems;
};
