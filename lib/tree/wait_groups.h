/*
 * Recorded waits (wait_rows.h) in groups: by reason, by object (a lock, a file, a socket), by the functions that called
 * into the wait, by thread, by waker, or by object and waker. The groups cover the current query of an engine: its
 * threads, range, transforms and search. The totals of the groups add up to the off-CPU time of the query, clipped to
 * its range. A sampled wait represents waits of similar length of the same thread, so totals and counts of short waits
 * are estimates (quality.md, Waits).
 *
 * Rows with the reason "Not seen" are sums: they have the exact total and the mean length, which the file rounds. Their
 * longest wait, first wait and percentile are unknown. If the mean length of a sum rounds to 0, the number of its waits
 * is unknown.
 */
#pragma once

#include "tree/engine.h"

enum wait_grouping {
    WAITS_BY_REASON,
    WAITS_BY_OBJECT,
    WAITS_BY_STACK,
    WAITS_BY_THREAD,
    WAITS_BY_WAKER,
    WAITS_BY_OBJECT_AND_WAKER, /* the waker held the lock, or wrote to the pipe */
    WAIT_GROUPINGS
};

struct wait_group {
    double total;         /* ms of all waits in the range */
    double there;         /* ms: lifetime in the range of the threads that waited */
    double total_error;   /* ms: half of the 95 % interval of `total`, an estimate; 0 if prof read all waits */
    double count;         /* waits that overlap the range; an estimate if `count_error` is not 0; 0: unknown */
    double count_error;   /* half of the 95 % interval of `count` */
    double squares;       /* ms^2: sum of the squares of the lengths of the waits in the range; a row "Not seen" counts
                             as one wait */
    double fourths;       /* ms^4: sum of the fourth powers of these lengths */
    double runnable;      /* ms of `total` in which the thread was runnable while another thread ran */
    double longest;       /* ms: the longest wait, clipped to the range; 0: unknown */
    double from, to;      /* ms: start and end of the longest wait; NAN: unknown, because the group has only sums */
    double percentile_99; /* ms: length that 99 % of the waits do not exceed, clipped to the range, within 1.5 %; NAN:
                             unknown */
    double first;         /* ms: start of the first wait; NAN: unknown */
    uint32_t key;     /* subcategory of "Idle", func, call node of the caller, thread, or string; of a pair, the func of
                         the object. PROFILE_NONE: waits without a row; by stack, also waits without callers; by waker,
                         also unknown wakers */
    uint32_t threads; /* number of threads that waited */
    uint32_t first_thread; /* thread of the first wait */
    uint32_t reason;       /* reason of the longest wait: subcategory of "Idle"; PROFILE_NONE: no row */
    uint32_t func;         /* object of the longest wait; PROFILE_NONE: no row */
    uint32_t thread;       /* thread of the longest wait */
    uint32_t node;         /* call node of the longest wait; in groups by stack, its caller; NODE_NONE: none */
    uint32_t waker;        /* waker of the longest wait: string; PROFILE_NONE: unknown */
    uint32_t own_func; /* innermost function of the longest wait in the program's own code (own_frame.h); PROFILE_NONE:
                          unknown */
    uint32_t own_line; /* line of `own_func`, 1-based; 0: unknown */
    uint32_t waker_func; /* innermost function of the waker in the program's own code, at the end of the longest wait of
                            which prof has the stack of the waker; PROFILE_NONE: unknown */
    uint32_t waker_line; /* line of `waker_func`, 1-based; 0: unknown */
};

struct wait_totals {
    double there;    /* ms: lifetime of the threads in the range */
    double waited;   /* ms without CPU time: the totals of all groups */
    double runnable; /* ms of `waited` in which the threads were runnable */
    double count;    /* number of waits */
    double ran;      /* ms: the root total of the tree for WEIGH_CPU_TIME. `ran` differs from `there` minus `waited` if
                        samples were lost or merged, or if clocks differ */
};

struct wait_groups {
    ARRAY(struct wait_group) list; /* longest total first */
    struct wait_totals totals;
};

/* Fills the groups; the caller zeroes them at first. Uses the memory of an earlier call with the same struct. Linear in
 * the samples of the threads. In a query of one side of a comparison, the groups have only waits of this side, and
 * times and counts are means over the runs of this side. */
int engine_group_waits(struct engine *engine, enum wait_grouping grouping, struct wait_groups *groups,
                       struct error *err);

/* Fills the groups with the waits of one run of a comparison. */
int engine_group_waits_of_run(struct engine *engine, enum wait_grouping grouping, enum profile_side side, uint32_t run,
                              struct wait_groups *groups, struct error *err);

/* Whether the query counts the thread. In a query of one side of a comparison, the threads of the other side do not
 * count. */
bool engine_counts_thread(const struct engine *engine, uint32_t thread);

/* Returns the factor that makes times and counts of waits means of the runs, in a query of one side of a comparison. */
double engine_get_wait_factor(const struct engine *engine);

/* Returns the lifetime of the threads of the query in its range, ms: in a query of one side, the mean of the runs. */
double engine_measure_lifetime(const struct engine *engine);

/* Whether the profile has wakers. */
bool profile_has_wakers(const struct profile *profile);

void wait_groups_destroy(struct wait_groups *groups);

/* Whether a grouping needs wakers. */
static inline bool wait_grouping_has_wakers(enum wait_grouping grouping)
{
    return grouping == WAITS_BY_WAKER || grouping == WAITS_BY_OBJECT_AND_WAKER;
}
