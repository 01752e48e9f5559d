/*
 * Limits the cost of walks through one process.
 *
 * A hostile target could make walks expensive through its unwind information, code and stack. Work counts in units of
 * about 10 ns: one CFI instruction is one unit. Each walk adds UNWIND_WORK_OF_WALK units to the budget of its process.
 * A process may exceed its budget by at most UNWIND_WORK_MAX units. Beyond that, its walks end as UNWIND_TOO_COSTLY;
 * walks through other processes are not affected. Frames in the pc cache cost no units.
 *
 * Measured: g++ -O2 (whose longest function has 13,361 CFI instructions) does 230 units in a walk on average, and node
 * 17. Walks in both programs stayed within 16,000 units beyond their budgets.
 */
#pragma once

#include "base/standard.h"

enum {
    UNWIND_WORK_OF_WALK = 2048,
    UNWIND_WORK_MAX = 4 << 20,     /* about 40 ms, because the perf rings hold the samples of 50 ms */
    UNWIND_WORK_OF_RULE = 50,      /* finding the FDE of a pc */
    UNWIND_WORK_OF_RETURN = 1000,  /* reading code up to its return instruction */
    UNWIND_WORK_OF_JIT_CODE = 100, /* reading a few bytes of the process */
    UNWIND_WORK_OF_FDE = 8,        /* indexing one FDE */
};

/* Units of work beyond the budget. Starts zeroed. */
struct unwind_work {
    uint32_t units;
};

static inline bool unwind_work_is_over(const struct unwind_work *work)
{
    return work->units >= UNWIND_WORK_MAX;
}

/* Adds `units` of work (at most UNWIND_WORK_MAX). Returns false once the limit is reached. */
static inline bool unwind_work_add(struct unwind_work *work, uint32_t units)
{
    work->units += units;
    if (work->units > 2u * UNWIND_WORK_MAX)
        work->units = 2u * UNWIND_WORK_MAX;
    return !unwind_work_is_over(work);
}

/* Starts a walk. */
static inline void unwind_work_start_walk(struct unwind_work *work)
{
    work->units -= work->units < UNWIND_WORK_OF_WALK ? work->units : UNWIND_WORK_OF_WALK;
}
