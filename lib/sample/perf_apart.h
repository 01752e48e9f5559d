/*
 * Keeps threads apart from their children in the kernel's perf events.
 *
 * If a thread gives its CPU to one that has inherited the same events, the kernel has the two threads exchange them.
 * That makes switches fast, but an event that has used half of its sampling period ends with the other thread: a
 * thread whose children are short always continues with an event that has just begun, and has hardly any samples.
 *
 * The kernel exchanges only events that are all inherited. So a thread whose children keep ending gets one more event
 * that is not: its own events stay with it for as long as that goes on, and its switches take longer, as do those
 * between its children of that time. A few children that end, and children that live, change nothing.
 *
 * Measurements: docs/decisions.md, "Keep threads apart from short-lived children".
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/perf_record.h"

#include <stddef.h>
#include <stdint.h>

struct perf_apart_thread {
    uint32_t tid;
    int fd;         /* of its own event */
    uint32_t ended; /* threads and processes that it started, since the last perf_apart_second() */
};

/* Starts zeroed. */
struct perf_apart {
    struct hash parents; /* of living threads: tid -> tid of the thread that started it */
    struct hash ended;   /* of living threads: tid -> how many threads and processes that it started have ended */
    ARRAY(struct perf_apart_thread) threads; /* those that are kept apart */
};

/* Takes in the record of a start or an end, and ignores others. The thread whose children keep ending is kept apart if
 * the kernel permits it and there is memory for it; otherwise it just has fewer samples. */
void perf_apart_record(struct perf_apart *apart, const struct perf_record *record);

/* To be called each second: a thread whose children have ceased to end is kept apart no longer. */
void perf_apart_second(struct perf_apart *apart);

/* From now on no thread is kept apart. */
void perf_apart_destroy(struct perf_apart *apart);
