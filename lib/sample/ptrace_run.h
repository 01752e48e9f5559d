/*
 * Computes when a traced thread ran and waited, from the scheduler's counts.
 *
 * ptrace reports no switches. But the scheduler counts, in ns, how long a thread was on a CPU, and how long it was
 * runnable (schedstat in proc(5)). The counts are exact while the thread is not on a CPU: asleep, or stopped. So
 * between two such moments the running, runnable and sleeping times are known, but not their order. ptrace_run_take()
 * assumes the simplest order: a thread that sleeps now ran first; a thread that slept before slept until it was
 * runnable, and then ran. Short sleeps between two moments become one wait, or a part of the next.
 *
 * The results are switches, as in a perf ring.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The scheduler's counts of a thread: schedstat in proc(5). */
struct ptrace_schedule {
    uint64_t cpu;    /* ns on a CPU; exact unless the thread runs */
    uint64_t ready;  /* ns runnable */
    uint64_t slices; /* times it was switched in */
};

struct ptrace_moment {
    uint64_t time; /* ns, CLOCK_MONOTONIC */
    struct ptrace_schedule schedule;
    bool asleep; /* false: stopped, or running with approximate counts */
};

/* Starts zeroed, except `last`, the first moment. */
struct ptrace_run {
    struct ptrace_moment last;
    uint64_t held;    /* ns since `last`: longest time for which the tracer may have kept it stopped */
    bool is_reported; /* the state at `last` has been reported */
};

struct ptrace_switch {
    uint64_t time; /* ns */
    bool out;      /* the thread leaves its CPU; else it starts to run */
    bool preempted;
};

enum { PTRACE_RUN_SWITCHES = 6 }; /* most switches between two moments */

/* Adds a moment. Fills in the switches since the last moment, in order, and returns their number. Their total running
 * time equals the scheduler's. */
size_t ptrace_run_take(struct ptrace_run *run, const struct ptrace_moment *now, struct ptrace_switch *switches);
