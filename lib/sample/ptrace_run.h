/*
 * Computes when a traced thread ran and waited, from the scheduler's counts.
 *
 * ptrace reports no switches. But the scheduler counts, in ns, how long a thread was on a CPU, and how long it was
 * runnable (schedstat in proc(5)). The counts are exact while the thread is off the CPU: asleep, or stopped. So between
 * two such moments the sampler knows the running, runnable and sleeping times, but not their order.
 * ptrace_run_add_moment() assumes the simplest order: a thread that sleeps at the end ran first; a thread that slept at
 * the start slept, then was runnable, and then ran. Short sleeps between two moments become one wait, or a part of the
 * next wait. The number of time slices shows how many. These waits share the time equally with the wait in which the
 * thread sleeps at the end.
 *
 * The results are switches, as in a perf ring.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/standard.h"

/* The scheduler's counts of a thread: schedstat in proc(5). */
struct ptrace_schedule {
    uint64_t cpu;    /* ns on a CPU; exact unless the thread is running */
    uint64_t ready;  /* ns runnable */
    uint64_t slices; /* number of times that the thread got a CPU */
};

struct ptrace_moment {
    uint64_t time; /* ns, CLOCK_MONOTONIC */
    struct ptrace_schedule schedule;
    bool asleep;    /* false if the thread is stopped, or runs with approximate counts */
    uint32_t ended; /* number of waits that have ended since the previous moment */
};

/* Starts zeroed, except `last`, the first moment. */
struct ptrace_run {
    struct ptrace_moment last; /* the last moment at which the thread had run since the moment before */
    uint64_t asleep_until;     /* ns: time of the last moment in the same sleep */
    uint64_t held;             /* ns since `last` for which the tracer may have kept the thread stopped */
    bool is_reported;          /* a switch has reported the state at `last` */
    uint32_t stops;            /* number of stops by the tracer since `last` */
    uint64_t preemptions;      /* number of preemptions of the thread up to `last` */
};

struct ptrace_switch {
    uint64_t time; /* ns */
    bool out;      /* true if the thread leaves its CPU; false if the thread starts to run */
    bool preempted;
    uint32_t ended;       /* number of waits between the two moments that the switches show as one wait */
    uint64_t slept_until; /* ns: time before which the last of these waits may have ended, or 0 for `time` */
};

enum { PTRACE_RUN_SWITCHES = 7 }; /* limit of switches between two moments */

/* Adds a moment. Fills in the switches since the last moment, in order, and returns their number. The total running
 * time of the switches equals the scheduler's running time. */
size_t ptrace_run_add_moment(struct ptrace_run *run, const struct ptrace_moment *now, struct ptrace_switch *switches);
