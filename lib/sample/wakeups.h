/*
 * Reads wakeups from the kernel's tracepoint sched:sched_waking, which fires in the waker. The events cover the whole
 * system, with one ring per CPU and no stacks. If an interrupt wakes a thread, the tracepoint fires in the interrupted
 * thread, and the record reports the interrupt.
 *
 * A second event per CPU copies the stacks of wakers, at most some 500 a second of recorded threads. The period of this
 * event follows the rate of wakeups, and is random, so that prof copies the stacks of threads that wake each other in
 * turns equally often. The event itself costs each wakeup 0.1 us, so above 20,000 wakeups a second it is on only in a
 * random eighth of the rounds.
 *
 * Records of wakeups have their time at the same offset as the records of perf_events.h, so that one perf_merge reads
 * both.
 *
 * docs/decisions.md, "prof records the wakeups of the whole system", has the reason for the scope.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

enum wakeup_context {
    WAKEUP_BY_THREAD,
    WAKEUP_BY_SOFT_INTERRUPT, /* a thread that sends to a local socket wakes the receiver this way */
    WAKEUP_BY_INTERRUPT,      /* an interrupt of a timer or a device, unrelated to the interrupted thread */
};

struct wakeup {
    uint64_t time;           /* ns, CLOCK_MONOTONIC */
    uint32_t woken;          /* tid */
    uint32_t by_pid, by_tid; /* 0: the CPU was idle */
    enum wakeup_context context;
};

struct wakeup_cpu {
    int fd; /* readable (poll) when a quarter of the ring has filled */
    struct perf_ring ring;
    uint64_t seen;     /* number of wakeups of all threads since the last choice of a period */
    uint64_t recorded; /* number of these wakeups that woke a recorded thread */
    uint64_t period;   /* wakeups per record; 0: the event is off */
};

/* Offsets of fields, in bytes from the start of the tracepoint's fields. */
struct wakeup_layout {
    uint64_t id; /* of the tracepoint */
    size_t flags, woken;
};

struct wakeups {
    ARRAY(struct wakeup_cpu) cpus;   /* all wakeups */
    ARRAY(struct wakeup_cpu) stacks; /* some wakeups, with stacks; empty: the kernel refuses them */
    struct wakeup_layout layout;
    bool have_ids;   /* records carry the id of their event */
    uint64_t chosen; /* ns, CLOCK_MONOTONIC: last choice of periods */
    uint64_t random; /* state of the random numbers */
    uint32_t least;  /* lowest number of a woken thread whose waker's stack counts */
};

/* Opens the events of all online CPUs. `have_ids`: whether the other rings of the merge have ids, so that all records
 * have the same layout. -ENOENT, -EACCES or -EPERM if the kernel refuses; the sentence has the reason, and the command
 * that permits wakeups. A failure leaves nothing open. */
int wakeups_open(struct wakeups *wakeups, bool have_ids, struct error *err);

/* Parses a record of one of the rings. False if the record is no wakeup, or is damaged. */
bool wakeups_parse(const struct wakeups *wakeups, const void *bytes, size_t size, struct wakeup *wakeup);

/* Excludes wakeups of threads below a number, and wakeups by interrupts, from `stacks`. Then programs that ran before
 * the recorded programs take no copies from them. Call this function once. */
void wakeups_filter_stacks(struct wakeups *wakeups, uint32_t least);

/* Counts a wakeup of the CPU with this index in `cpus`, for wakeups_choose_periods(). `is_recorded`: the woken thread
 * is recorded. */
void wakeups_count(struct wakeups *wakeups, size_t cpu, const struct wakeup *wakeup, bool is_recorded);

/* Returns the layout of the records of `stacks`, for perf_record_parse(). */
struct perf_layout wakeups_get_stack_layout(const struct wakeups *wakeups);

/* Chooses the periods of `stacks` for the next round, if the current round has taken 5 ms or longer. `now`: ns,
 * CLOCK_MONOTONIC. */
void wakeups_choose_periods(struct wakeups *wakeups, uint64_t now);

/* Parses the text of a tracepoint's "format" file. False if a required field is missing. */
bool wakeup_layout_parse(struct wakeup_layout *layout, const char *format);

/* Stops the events; the rings stay readable. Accepts a zeroed struct. */
void wakeups_stop(struct wakeups *wakeups);

/* Accepts a zeroed struct. */
void wakeups_close(struct wakeups *wakeups);
