/*
 * The perf events that sample one process and all it starts, and the rings that they write to: one of each for each CPU
 * that is online.
 *
 * A ring becomes readable (poll) with every record. A reader that wants to read many at a time does not poll it, but
 * looks at it now and then. When an event wakes its reader is fixed when its ring is opened, and sending it to another
 * ring is no way out: the kernel waits for an RCU grace period then, tens of milliseconds, in which samples become old
 * and get lost. The rings belong to dummy events that never count anything: their poll never says that the target has
 * ended.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#ifndef PROF_SAMPLE_PERF_EVENTS_H
#define PROF_SAMPLE_PERF_EVENTS_H

#include "base/array.h"
#include "base/error.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_cpu {
    uint32_t cpu;
    int event_fd;
    int ring_fd; /* readable (poll) when there is a new record */
    struct perf_ring ring;
};

enum perf_tier {
    PERF_TIER_KERNEL_AND_USER,
    PERF_TIER_USER, /* no samples inside the kernel, though the counters include it */
};

enum { PERF_NOTES = 6, PERF_NOTE_SIZE = 240 };

struct perf_events {
    struct ARRAY_TYPE(perf_cpu_array, struct perf_cpu) cpus;
    struct perf_layout layout;
    enum perf_tier tier;
    bool hardware;       /* the event counts CPU cycles; otherwise the CPU clock */
    bool counts;         /* samples carry the thread's counter (SAMPLE_READ) */
    bool kernel_symbols; /* KSYMBOL records describe code that the kernel generates for the target (BPF programs) */
    int cpu_clock_fd;    /* counts the CPU time of all threads */
    uint32_t rate;       /* samples per second of CPU time */
    uint32_t stack_size; /* maximum bytes of stack copied per sample */
    size_t ring_size;    /* bytes each */

    /* One sentence for each feature that was refused, with the setting that permits it. */
    char notes[PERF_NOTES][PERF_NOTE_SIZE];
    size_t note_count;
};

struct perf_options {
    pid_t pid;     /* events start when it calls exec */
    uint32_t rate; /* samples per second of CPU time */
};

/*
 * Opens everything for a process that has not called exec yet. What is not allowed is stepped down from, with a note:
 * kernel frames first, then the size of rings, then that of stack copies; so is what the kernel does not know. -EPERM,
 * -EACCES or -ENOSYS: perf events are refused altogether, and the sentence says which setting would allow them. After a
 * failure nothing is left open.
 */
int perf_events_open(struct perf_events *events, const struct perf_options *options, struct error *err);

/* How long a ring may be left alone, in ns, at most 40 ms: each wakeup of the reader costs some 10 us. If its CPU was
 * busy the ring is a quarter full then; or half full, if the reader `is_on_time` (nothing of normal priority keeps it
 * from running) and the other half leaves room for 30 ms. */
uint64_t perf_events_interval(const struct perf_events *events, bool is_on_time);

/* Stops sampling; the rings stay readable. */
void perf_events_stop(struct perf_events *events);

/* The kernel's counts over all recorded threads, including those that have ended. */
struct perf_totals {
    uint64_t cpu_time; /* ns */
    uint64_t lost;     /* samples dropped because a ring was full; 0 if the kernel does not count them (before 6.0) */
};

struct perf_totals perf_events_totals(const struct perf_events *events);

void perf_events_close(struct perf_events *events);

#endif
