/*
 * The one pass over samples: sums the weight of each stack for the threads and the time range of the query. Later
 * passes (call tree, inversion, search, functions, details) work on stacks and nodes, and read no samples.
 */
#pragma once

#include "profile/profile.h"
#include "tree/wait_rows.h"

/*
 * The weight of a sample. The time and CPU time of a sample cover the time since the previous sample of its thread. In
 * the remaining time, the thread did not run. Only a sample without CPU time, taken during a wait, shows the function
 * that waited; other waits count for the stack "(not running)".
 *
 * In threads with recorded waits (wait_rows.h), CPU time counts for the next sample on a CPU, even before a wait. The
 * row of a wait weighs its length, and the length of the unseen waits that it stands for. In a range, the weight of
 * unseen waits is spread over the time before the end of the wait. A thread without a row of a wait has only "(not
 * running)".
 */
enum sample_weight {
    WEIGH_RECORDED,     /* recorded weight of the file: samples, ms or bytes; without weights, 1 per sample */
    WEIGH_SAMPLES,      /* 1 per sample (is_sample_row()) */
    WEIGH_TIME,         /* ms: CPU time and off-CPU time */
    WEIGH_CPU_TIME,     /* ms of CPU time; elapsed time if CPU time is unknown */
    WEIGH_OFF_CPU_TIME, /* ms without CPU time: waiting, or ready to run */
    WEIGH_ON_CPU,       /* recorded weight, but 0 for a sample without CPU time */
    WEIGH_OFF_CPU,      /* recorded weight, but 0 for a sample with CPU time */
    WEIGH_KINDS,

    /* Weights of native allocations in bytes; negative for deallocations. */
    WEIGH_ALLOCATED = WEIGH_KINDS,
    WEIGH_RETAINED,          /* bytes allocated and not deallocated in the range */
    WEIGH_DEALLOCATED,       /* deallocated bytes that were allocated in the range, at the allocation's stack */
    WEIGH_DEALLOCATION_SITES /* deallocated bytes, at the stack of the deallocation */
};

struct time_range {
    double from, to; /* ms; samples with from <= time < to. -INFINITY and INFINITY: all */
};

extern const struct time_range whole_time;

struct stack_weights {
    double *of_stack;  /* one per stack of the profile */
    uint32_t *samples; /* number of counted samples per stack, or NULL if equal to of_stack */
    size_t length;
};

/* Finds the samples of the thread in the range: the first, and one past the last. */
void find_samples_in_range(const struct sample_table *samples, struct time_range range, size_t *first, size_t *last);

/* Selects samples and their weight. */
struct weighing {
    const uint32_t *threads;
    size_t thread_count;
    struct time_range range;
    enum sample_weight weight;
    enum sample_table_kind table; /* the sample table to read; only TABLE_SAMPLES has times */
    /* The sample tables to read, indexed by thread and kind of table, or NULL (the tables of the profile). */
    const struct sample_table (*samples)[SAMPLE_TABLES];
    uint32_t not_running;       /* the stack "(not running)", for waits without a known function, or PROFILE_NONE if not
                                 * counted */
    struct row_cursor *cursors; /* two zeroed cursors that weigh_thread() continues in its next call for a thread, if
                                 * the range does not begin before the end of the last; or NULL (one pass per call) */
    bool counts_apart;          /* stack_weights_sum() counts `samples`, even if they equal of_stack */
    size_t *row; /* weigh_thread() stores the row of each call of `add` here, or the number of rows for time after
                  * the last row (NULL if not needed) */
};

/* The gaps of a thread: the time before each sample, and the time after the last one, within the lifetime of the
 * thread. Sample i has the CPU time of gap i; in a gap, the thread ran first, then it waited. */
struct thread_gaps {
    const struct sample_table *samples;
    double start, end; /* ms: where the first gap begins, and where the last one ends */
    double known_end;  /* ms: end of the thread, or NAN if the file has no such time */
    double interval;
    double shortest_wait;              /* ms: minimum length of a gap_is_wait() */
    const struct paused_range *paused; /* times in which recording was paused: no waits */
    size_t paused_count;
    struct wait_rows waits;
};

struct gap_time {
    double cpu, wait; /* ms */
};

struct thread_gaps find_sample_gaps(const struct profile *profile, uint32_t thread);

/* Return where gap `i` (0 to samples->length) begins and ends, ms. */
static inline double get_gap_start(const struct thread_gaps *gaps, size_t i)
{
    return i == 0 ? gaps->start : gaps->samples->time[i - 1];
}

static inline double get_gap_end(const struct thread_gaps *gaps, size_t i)
{
    return i < gaps->samples->length ? gaps->samples->time[i] : gaps->end;
}

/* Returns the part of gap `i` (0 to samples->length) in the range. */
struct gap_time measure_gap_in(const struct thread_gaps *gaps, size_t i, struct time_range range);

/* The weight of a recorded wait in the range. */
struct wait_weight {
    double own;    /* ms of the wait itself */
    double unseen; /* ms of the unseen waits that the wait stands for */
    double length; /* ms: full length of the wait */
};

struct wait_weight measure_wait_in(const struct thread_gaps *gaps, size_t i, struct time_range range);

/* Limit in ms: a wait that ends later than this after a range has no weight in the range. */
extern const double wait_weight_spread;

/* Returns whether graphs show the thread as not running in gap `i`, because it ran too little. */
bool gap_is_wait(const struct thread_gaps *gaps, size_t i);

/* Returns whether the function that waited in gap `i` is known: the gap ends with a sample taken during a wait, or with
 * the end of a recorded wait. */
bool gap_has_waiting_sample(const struct thread_gaps *gaps, size_t i);

/* Finds the gap that contains a time, and its bounds, or SIZE_MAX outside of the thread's lifetime. */
size_t find_gap_at(const struct thread_gaps *gaps, double time, struct time_range *extent);

/* Returns the time until which a thread with recorded waits ran in gap `i`, ms. The rest of the gap is waits too short
 * for rows; a rest below half an interval counts as running. */
double get_running_end_of_gap(const struct thread_gaps *gaps, size_t i);

/* Returns whether a thread did not run at a time, in an unknown function; *wait is then this part of the gap, ms. */
bool is_not_running_at(const struct thread_gaps *gaps, double time, struct time_range *wait);

/* Calls `add` with the weight of each sample of a thread, for the sample's stack and for "(not running)". `count` is 1
 * for a sample (is_sample_row()). Off-CPU time counts recorded waits instead of samples, and WEIGH_TIME counts both. */
void weigh_thread(const struct profile *profile, const struct weighing *weighing, uint32_t thread,
                  void (*add)(void *context, uint32_t stack, double weight, unsigned count), void *context);

/* Returns the number of counted samples of a thread in a range, see weigh_thread(). */
double count_weighed_samples(const struct profile *profile, uint32_t thread, enum sample_weight weight,
                             enum sample_table_kind table, struct time_range range);

/* Returns the CPU time of a thread in a range in ms, or 0 if the thread has no CPU times. */
double sum_thread_cpu_time(const struct profile *profile, uint32_t thread, struct time_range range);

/* Returns the number of samples of all threads. */
double count_all_samples(const struct profile *profile);

/* Sums the samples of several threads. Ignores indexes out of range and repeated ones. The caller zeroes the struct
 * once; later calls reuse its memory. */
int stack_weights_sum(struct stack_weights *weights, const struct profile *profile, const struct weighing *weighing,
                      struct error *err);

void stack_weights_destroy(struct stack_weights *weights);
