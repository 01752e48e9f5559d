/*
 * How far a recording can be trusted: samples requested and received, the quality of stacks, code without names; of the
 * whole, and of each thread.
 */
#pragma once

#include "assemble/replay.h"
#include "assemble/symbolization.h"

struct trust_counts {
    uint64_t requested; /* samples that the CPU time would have had; 0: unknown */
    uint64_t samples, truncated, completed_live, without_cfi;
    uint64_t unnamed; /* samples whose innermost function has no name */
};

struct thread_trust {
    uint32_t thread; /* of the replay */
    struct trust_counts counts;
};

enum { TRUST_THREADS = 100 };

struct trust {
    struct trust_counts all;
    ARRAY(struct thread_trust) threads; /* those with the most samples, up to TRUST_THREADS, most first */
    size_t others;                      /* threads with samples beyond them */
    bool is_quick; /* set before: samples without a name are counted of all threads together, and not of each, which
                      takes a look at all samples */
};

/* `trust` is zeroed, but for `is_quick`; call trust_destroy() also after a failure. */
int trust_find(struct trust *trust, const struct replay *replay, const struct symbolization *symbolization,
               struct error *err);
void trust_destroy(struct trust *trust);
