/*
 * Samples threads less often while they switch very often.
 *
 * The kernel sets the sampling timer of a thread each time the thread comes to a CPU. In a virtual machine, a timer of
 * 1 ms is most of what recording adds to a switch; a timer of 10 ms costs next to nothing.
 *
 * So a thread that has left its CPU 10,000 times within a second gets a sample each 10 intervals from then on, and
 * each interval again after a second with less than half as many. Its CPU time stays exact, from SWITCH records,
 * spread over fewer samples. The kernel's work at a switch for our events is outside of these records, but in
 * schedstat: 0.08 us of each turn.
 *
 * This is for threads that ran before prof attached. The threads of a command inherit events from each other, and the
 * kernel leaves the timer alone when they switch among themselves (perf_apart.h). A thread that was started by one
 * that was sampled less often at that time stays so, because the period of inherited events cannot be changed.
 *
 * Measurements: docs/decisions.md, "Sample threads that switch very often less often".
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERF_RATE_FEWER = 10 }; /* the intervals of a thread that switches often are as many times as long */

struct perf_rate_thread {
    uint32_t tid;
    uint32_t first, count; /* its events, among all */
    uint32_t left;         /* how often it left a CPU since the last perf_rate_second() */
    bool is_lower, was_lower, has_ended;
};

/* Starts zeroed, but for the interval. Without one all is as it was. */
struct perf_rate {
    uint64_t interval;   /* ns between two samples of a thread */
    struct hash indexes; /* tid -> index in threads */
    ARRAY(struct perf_rate_thread) threads;
    ARRAY(int) fds;   /* of their events, which belong to the caller and must stay open until perf_rate_destroy() */
    uint32_t lowered; /* how many threads were sampled less often at some time */
};

/* Begins a thread without events. False if there is no memory; then its rate does not change. */
bool perf_rate_begin_thread(struct perf_rate *rate, uint32_t tid);

/* Adds an event of the thread that began last: a clock of the CPU, with a period in ns. */
bool perf_rate_add_event(struct perf_rate *rate, int fd);

/* Takes in the record of a switch or an end, and ignores others. */
void perf_rate_record(struct perf_rate *rate, const struct perf_record *record);

/* To be called each second. */
void perf_rate_second(struct perf_rate *rate);

void perf_rate_destroy(struct perf_rate *rate);
