/*
 * Lowers the sampling rate of threads that switch very often.
 *
 * The kernel sets the sampling timer of a thread each time the thread is switched in. In a virtual machine, a 1 ms
 * timer is most of the recording cost of a switch; a 10 ms timer costs almost nothing.
 *
 * So a thread that leaves its CPU 10,000 times within a second gets one sample every 10 intervals, until it has fewer
 * than 5,000 switches in a second. The thread's CPU time stays exact, because SWITCH records measure the time, which is
 * spread over fewer samples. SWITCH records exclude the kernel's work for prof's events at a switch, 0.08 us, which
 * schedstat includes.
 *
 * prof lowers the rate only of threads that ran before prof attached. The threads of a command inherit events from each
 * other, and the kernel does not set the timer when they switch among themselves (perf_apart.h). A thread started by a
 * thread with a lowered rate keeps that rate, because the period of inherited events cannot change.
 *
 * docs/decisions.md, "prof samples a thread less often if it switches very often", has measurements.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/perf_record.h"

enum { PERF_RATE_FEWER = 10 }; /* factor by which the interval of a thread with a lowered rate is longer */

struct perf_rate_thread {
    uint32_t tid;
    uint32_t first, count; /* range of the thread's events in `fds` */
    uint32_t left; /* number of times that the thread left a CPU since the last perf_rate_update_every_second() */
    bool is_lower, was_lower, has_ended;
};

/* The sampling rates of threads. Starts zeroed, except the interval. With interval 0, the rates never change. */
struct perf_rate {
    uint64_t interval;   /* ns between two samples of a thread */
    struct hash indexes; /* tid -> index in threads */
    ARRAY(struct perf_rate_thread) threads;
    ARRAY(int) fds;   /* events of the threads; owned by the caller, open until perf_rate_destroy() */
    uint32_t lowered; /* number of threads with a lowered rate at some time */
};

/* Adds a thread without events. False if memory ran out; then the thread's rate never changes. */
bool perf_rate_begin_thread(struct perf_rate *rate, uint32_t tid);

/* Adds an event of the last added thread: a CPU clock with a period in ns. */
bool perf_rate_add_event(struct perf_rate *rate, int fd);

/* Handles SWITCH and EXIT records, and ignores others. */
void perf_rate_handle_record(struct perf_rate *rate, const struct perf_record *record);

/* Changes the rates. Call this function once a second. */
void perf_rate_update_every_second(struct perf_rate *rate);

void perf_rate_destroy(struct perf_rate *rate);
