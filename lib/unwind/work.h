/*
 * Bounds the cost of walks through one process.
 *
 * A target chooses its unwind information, its code and its stack, so it chooses what a walk has to interpret. The work
 * of a process is counted in units of about 10 ns: a CFI instruction is one. Each walk may do UNWIND_WORK_OF_WALK
 * units. Later walks may use the units that it leaves, at most UNWIND_WORK_MAX. Beyond that, walks through the process
 * end as UNWIND_TOO_COSTLY, and those through other processes lose nothing. Frames that the pc cache knows cost no
 * units.
 *
 * Measured: g++ -O2 (whose longest function has 13,361 CFI instructions) does 230 units in a walk on average, and node
 * 17. Neither was ever more than 16,000 units ahead of its walks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    UNWIND_WORK_OF_WALK = 2048,
    UNWIND_WORK_MAX = 4 << 20,     /* about 40 ms: the rings of perf events take the samples of 50 ms */
    UNWIND_WORK_OF_RULE = 50,      /* to find the FDE of a pc */
    UNWIND_WORK_OF_RETURN = 1000,  /* to read code ahead to its return */
    UNWIND_WORK_OF_JIT_CODE = 100, /* to read a few bytes of the process */
    UNWIND_WORK_OF_FDE = 8,        /* to put one into an index */
};

/* Units that the walks so far have used beyond their share. Zero it to start. */
struct unwind_work {
    uint32_t units;
};

static inline bool unwind_work_is_over(const struct unwind_work *work)
{
    return work->units >= UNWIND_WORK_MAX;
}

/* Adds `units` (at most UNWIND_WORK_MAX). Returns whether more may be done. */
static inline bool unwind_work_add(struct unwind_work *work, uint32_t units)
{
    work->units += units;
    if (work->units > 2u * UNWIND_WORK_MAX)
        work->units = 2u * UNWIND_WORK_MAX;
    return !unwind_work_is_over(work);
}

/* One more walk begins. */
static inline void unwind_work_start_walk(struct unwind_work *work)
{
    work->units -= work->units < UNWIND_WORK_OF_WALK ? work->units : UNWIND_WORK_OF_WALK;
}
