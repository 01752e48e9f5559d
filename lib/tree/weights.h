/*
 * The one pass over samples: how much weight each stack has in the threads and the time range of the query. What
 * follows (call tree, inversion, search, functions, details) works on stacks and nodes and never sees a sample again.
 */
#pragma once

#include "profile/profile.h"
#include "tree/wait_rows.h"

/*
 * What a sample counts. Time is that since the sample before it in its thread, which is also what its CPU time is
 * measured over. The rest of that time the thread did not run: for which function it waited only a sample that was
 * taken meanwhile knows, one without CPU time. All other waits count for the stack "(not running)".
 *
 * In threads with recorded waits (wait_rows.h), CPU time counts for the next sample on a CPU, also that before a wait.
 * The rest of the time counts for the wait that it is, or for the next one: waits too short for rows are near others
 * of their kind more often than not, and no function is blamed that was not seen waiting. Where no such row follows,
 * the last one before takes its place.
 */
enum sample_weight {
    WEIGH_RECORDED,     /* what the file says: samples, ms or bytes; without that, 1 */
    WEIGH_SAMPLES,      /* 1 */
    WEIGH_TIME,         /* ms: CPU time and off-CPU time */
    WEIGH_CPU_TIME,     /* ms of CPU time; where that is unknown, all of the time */
    WEIGH_OFF_CPU_TIME, /* ms without CPU time: waiting, or ready to run */
    WEIGH_ON_CPU,       /* as recorded, but 0 for a sample without CPU time */
    WEIGH_OFF_CPU,      /* as recorded, but 0 for one with CPU time */
    WEIGH_KINDS,

    /* Of native allocations: bytes, negative where they are deallocated. */
    WEIGH_ALLOCATED = WEIGH_KINDS,
    WEIGH_RETAINED,          /* allocated, and not deallocated in the range */
    WEIGH_DEALLOCATED,       /* allocated in the range, too: where it was allocated */
    WEIGH_DEALLOCATION_SITES /* where it was deallocated */
};

struct time_range {
    double from, to; /* ms; samples with from <= time < to. -INFINITY and INFINITY: all */
};

extern const struct time_range whole_time;

struct stack_weights {
    double *of_stack;  /* one per stack of the profile */
    uint32_t *samples; /* samples per stack that count; NULL where that is what of_stack says */
    size_t length;
};

/* The samples of the thread that lie in the range: first and one past the last. */
void samples_in_range(const struct sample_table *samples, struct time_range range, size_t *first, size_t *last);

/* Which samples, and what each counts. */
struct weighing {
    const uint32_t *threads;
    size_t thread_count;
    struct time_range range;
    enum sample_weight weight;
    enum sample_table_kind table; /* of which samples; times are of TABLE_SAMPLES alone */
    /* Per thread of the profile and kind of table, in place of its own; NULL: those. */
    const struct sample_table (*samples)[SAMPLE_TABLES];
    uint32_t not_running; /* the stack of waits that are of no function; PROFILE_NONE: not counted */
    bool counts_apart;    /* stack_weights_sum() fills `samples`, even if it says the same as of_stack */
    size_t *row; /* weigh_thread() leaves here to which row each call belongs: the number of rows for what comes after
                  * the last one; NULL: nobody asks */
};

/* The gaps of a thread: the time before each of its samples, and that after the last one, as far as the thread was
 * there. Of gap i sample i has the CPU time; the thread ran first, then it waited. */
struct thread_gaps {
    const struct sample_table *samples;
    double start, end; /* ms: where the first gap begins, and where the last one ends */
    double known_end;  /* ms: of the thread; NAN if the file does not say it */
    double interval;
    double shortest_wait;              /* ms: no gap_is_wait() that is not longer */
    const struct paused_range *paused; /* nothing is known of these times: they are no waits */
    size_t paused_count;
    struct wait_rows waits;
};

struct gap_time {
    double cpu, wait; /* ms */
};

struct thread_gaps thread_gaps_of(const struct profile *profile, uint32_t thread);

/* What of gap `i` (to samples->length, included) is in the range. */
struct gap_time gap_time_in(const struct thread_gaps *gaps, size_t i, struct time_range range);

/* Whether the thread ran so little in gap `i` that it is drawn as not running. */
bool gap_is_wait(const struct thread_gaps *gaps, size_t i);

/* Whether gap `i` ends with a sample that was taken while the thread waited, or with the end of a recorded wait: it
 * says in which function. */
bool gap_has_waiting_sample(const struct thread_gaps *gaps, size_t i);

/* The gap in which a time is, and from when to when it is; SIZE_MAX: the thread was not there. */
size_t gap_at(const struct thread_gaps *gaps, double time, struct time_range *extent);

/* Until when a thread with recorded waits ran in gap `i`, ms: what follows is a wait too short for rows, or several of
 * them. Less than half an interval of those is not told apart from running. */
double gap_ran_until(const struct thread_gaps *gaps, size_t i);

/* Whether a thread is known not to have run at a time, in which function is not; if so, in which part of the gap, ms.
 */
bool is_not_running_at(const struct thread_gaps *gaps, double time, struct time_range *wait);

/* Calls `add` with what each sample of a thread counts, for its stack and for "(not running)". `count`: 1 for the
 * sample itself, if it counts: of times, the samples on a CPU and one for each recorded wait, where their time does. */
void weigh_thread(const struct profile *profile, const struct weighing *weighing, uint32_t thread,
                  void (*add)(void *context, uint32_t stack, double weight, unsigned count), void *context);

/* How many samples of a thread count in a range, with or without a stack: see weigh_thread(). */
double weighed_sample_count(const struct profile *profile, uint32_t thread, enum sample_weight weight,
                            enum sample_table_kind table, struct time_range range);

/* Sums the samples of several threads (indexes out of range count nothing; one that is named twice counts once). Uses
 * the memory of an earlier call with the same struct, which is zeroed at first. */
int stack_weights_sum(struct stack_weights *weights, const struct profile *profile, const struct weighing *weighing,
                      struct error *err);

void stack_weights_destroy(struct stack_weights *weights);
