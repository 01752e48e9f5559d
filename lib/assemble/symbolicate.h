/*
 * Names for a saved profile whose libraries are on this machine: samply saves addresses alone, and of a program that
 * was recorded without its debug info the file may be here by now.
 */
#ifndef PROF_ASSEMBLE_SYMBOLICATE_H
#define PROF_ASSEMBLE_SYMBOLICATE_H

#include "profile/profile.h"
#include "symbol/symbol.h"

/* A library of the profile that frames lie in. */
struct symbolicated_library {
    uint32_t lib;                /* row */
    uint64_t addresses, unnamed; /* distinct addresses, and those that have no name now */
    char problem[256];           /* why, as far as that is known; may be empty */
};

struct symbolicate_result {
    ARRAY(struct symbolicated_library) libraries; /* by row */
    uint64_t addresses, unnamed;                  /* of all */
};

/*
 * Looks up every address of the profile, in libraries whose file has the id that the profile gives, and builds its
 * stacks, frames, funcs, native symbols, sources and resources anew: inlined calls become frames of their own, and
 * frames of one function are of one func. An address of which nothing better is known now (no name, or no file and
 * line where the profile has them) keeps its frames. Samples and their weights stay as they are; the sum of every
 * thread does too.
 *
 * `result` is zeroed; symbolicate_result_destroy() is owed in any case. Fails only when memory runs out, and then the
 * profile is only good for profile_destroy().
 */
int profile_symbolicate(struct profile *profile, struct symbolizer *symbolizer, struct symbolicate_result *result,
                        struct error *err);

void symbolicate_result_destroy(struct symbolicate_result *result);

#endif
