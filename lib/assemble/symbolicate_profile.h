/*
 * Symbolicates a saved profile whose libraries are on this machine. samply saves only addresses, and a user may install
 * debug info after a recording.
 */
#pragma once

#include "profile/profile.h"
#include "symbol/symbol.h"

/* A library that contains frames of the profile. */
struct symbolicated_library {
    uint32_t lib;                /* row */
    uint64_t addresses, unnamed; /* numbers of distinct addresses, and of those without a symbol */
    char problem[256];           /* reason for missing symbols; may be empty */
};

struct symbolicate_result {
    ARRAY(struct symbolicated_library) libraries; /* by row */
    uint64_t addresses, unnamed;                  /* of all libraries */
};

/*
 * Looks up every address of the profile in libraries whose file has the profile's id, and rebuilds its stacks, frames,
 * funcs, native symbols, sources and resources: inlined calls become frames, and frames of one function share a func.
 * An address keeps its frames if the lookup finds no more than the profile has (no name, or no file and line where the
 * profile has both). Samples, their weights, and the sums of threads do not change.
 *
 * `result` is zeroed; call symbolicate_result_destroy() also after a failure. Fails only when memory runs out; then the
 * caller must destroy the profile.
 */
int profile_symbolicate(struct profile *profile, struct symbolizer *symbolizer, struct symbolicate_result *result,
                        struct error *err);

void symbolicate_result_destroy(struct symbolicate_result *result);
