/*
 * When a traced thread ran and when it waited, as far as readings of it show.
 *
 * No record reports its switches. But the scheduler counts, to the ns, how long a thread was on a CPU, and how long it
 * was runnable (schedstat in proc(5)). The counts are exact while the thread is not on a CPU: when it sleeps, and when
 * it has stopped. So between two such moments the times of running, being runnable and sleeping are known, and their
 * order is not. The simplest order counts: a thread that sleeps now ran first; one that slept was asleep until it was
 * runnable, and then ran. Short sleeps between two moments become one wait, or a part of the next.
 *
 * The results are switches as a perf ring would report them.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the scheduler says of a thread: schedstat in proc(5). */
struct ptrace_schedule {
    uint64_t cpu;    /* ns on a CPU; up to date whenever the thread does not run */
    uint64_t ready;  /* ns that it waited for a CPU */
    uint64_t slices; /* how often it was put on a CPU */
};

struct ptrace_moment {
    uint64_t time; /* ns, CLOCK_MONOTONIC */
    struct ptrace_schedule schedule;
    bool asleep; /* else it has stopped, or runs and the figures are near enough */
};

/* Starts zeroed but for `last`, the first moment. */
struct ptrace_run {
    struct ptrace_moment last;
    uint64_t held; /* ns since then for which the tracer may have kept it stopped, at most */
    bool is_told;  /* what it did at that moment */
};

struct ptrace_switch {
    uint64_t time; /* ns */
    bool out;      /* it leaves its CPU, else it comes to one */
    bool preempted;
};

enum { PTRACE_RUN_SWITCHES = 6 }; /* at most, from a moment to the next */

/* Takes in a moment. Fills in the switches since the last one, in order, and returns their number. The sum of the time
 * on a CPU between switches is that of the scheduler's. */
size_t ptrace_run_take(struct ptrace_run *run, const struct ptrace_moment *now, struct ptrace_switch *switches);
