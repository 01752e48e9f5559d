/*
 * Who wakes whom: the kernel's tracepoint sched:sched_waking, which the waking thread raises, of the whole system,
 * with a ring for each CPU and without stacks. An interrupt that wakes a thread raises it in the thread that it
 * interrupts, and the record reports the interrupt.
 *
 * The times of records are where those of perf_events.h have theirs, so that one perf_merge reads the rings of both.
 *
 * Why the whole system: docs/decisions.md, "Record wakeups of the whole system".
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "sample/perf_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wakeup_context {
    WAKEUP_BY_THREAD,
    WAKEUP_BY_SOFT_INTERRUPT, /* a thread that sends to a socket of this machine does it in one */
    WAKEUP_BY_INTERRUPT,      /* of a timer or a device: the thread that it interrupted has nothing to do with it */
};

struct wakeup {
    uint64_t time;           /* ns, CLOCK_MONOTONIC */
    uint32_t woken;          /* tid */
    uint32_t by_pid, by_tid; /* 0: the CPU was idle */
    enum wakeup_context context;
};

struct wakeup_cpu {
    int fd; /* readable (poll) when a quarter of the ring has filled since */
    struct perf_ring ring;
};

/* Where a record has what, bytes from the beginning of the tracepoint's fields. */
struct wakeup_layout {
    uint64_t id; /* of the tracepoint */
    size_t flags, woken;
};

struct wakeups {
    ARRAY(struct wakeup_cpu) cpus;
    struct wakeup_layout layout;
    bool have_ids; /* records carry the id of their event */
};

/* Opens the events of all CPUs that are online. `have_ids`: as the records of the rings that are read together with
 * these, because all have their fields in the same places. -ENOENT, -EACCES or -EPERM where the kernel does not allow
 * it: the sentence says why, and which command allows it. Nothing stays open after a failure. */
int wakeups_open(struct wakeups *wakeups, bool have_ids, struct error *err);

/* Reads a record of one of the rings: false if it is not a wakeup, or damaged. */
bool wakeups_parse(const struct wakeups *wakeups, const void *bytes, size_t size, struct wakeup *wakeup);

/* Reads the text of a tracepoint's "format" file: false if a field that is needed is not there. */
bool wakeup_layout_parse(struct wakeup_layout *layout, const char *format);

/* No more wakeups are recorded; the rings stay readable. For a zeroed struct as well. */
void wakeups_stop(struct wakeups *wakeups);

/* Also for a zeroed struct. */
void wakeups_close(struct wakeups *wakeups);
