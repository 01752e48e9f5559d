/*
 * Prevents the kernel from exchanging the perf events of a thread with the events of its children.
 *
 * At a context switch between two threads that inherited the same events, the kernel swaps their events instead of
 * rescheduling them. The swap makes switches fast, but moves a half-used sampling period to the other thread: a thread
 * with short-lived children always continues with a fresh event, and gets hardly any samples.
 *
 * The kernel swaps only if all events are inherited. So prof adds an event that is not inherited to a thread with many
 * short-lived children: the thread keeps its own events, but its switches, and switches between its children, take
 * longer. A few short-lived children, or long-lived children, change nothing.
 *
 * docs/decisions.md, "Parents of short-lived children have an event of their own", has measurements.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/perf_record.h"

struct perf_apart_thread {
    uint32_t tid;
    int fd;         /* descriptor of the thread's extra event */
    uint32_t ended; /* number of children of the thread that ended since the last perf_apart_update_every_second() */
};

/* Starts zeroed. */
struct perf_apart {
    struct hash parents;                     /* live threads: tid -> tid of the parent thread */
    struct hash ended;                       /* live threads: tid -> number of its ended children */
    ARRAY(struct perf_apart_thread) threads; /* threads with an extra event */
};

/* Handles FORK and EXIT records, and ignores others. A thread whose children keep ending gets an extra event if the
 * kernel permits it and memory suffices; otherwise the thread has fewer samples. */
void perf_apart_handle_record(struct perf_apart *apart, const struct perf_record *record);

/* Call this function once a second. Closes the extra event of threads whose children no longer end. */
void perf_apart_update_every_second(struct perf_apart *apart);

/* Closes all extra events. */
void perf_apart_destroy(struct perf_apart *apart);
