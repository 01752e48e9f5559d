/*
 * Data quality of a recording and of its threads: samples requested and received, quality of stacks, code without
 * symbols.
 */
#pragma once

#include "assemble/replay_state.h"
#include "assemble/symbolization.h"

struct trust_counts {
    uint64_t requested; /* expected samples for the CPU time, or 0 if unknown */
    uint64_t samples, truncated, completed_live, without_cfi;
    uint64_t unnamed; /* samples whose leaf function has no symbol */
};

struct thread_trust {
    uint32_t thread; /* of the replay */
    struct trust_counts counts;
};

enum { TRUST_THREADS = 100 };

struct trust {
    struct trust_counts all;
    ARRAY(struct thread_trust) threads; /* the TRUST_THREADS threads with the most samples, most first */
    size_t others;                      /* number of other threads with samples */
    bool is_quick; /* set by the caller: counts samples without symbols only for the whole profile, because counts per
                      thread need a pass over all samples */
};

/* The caller zeroes `trust`, and may then set `is_quick`. Call trust_destroy() also after a failure. */
int trust_find(struct trust *trust, const struct replay *replay, const struct symbolization *symbolization,
               struct error *err);
void trust_destroy(struct trust *trust);
