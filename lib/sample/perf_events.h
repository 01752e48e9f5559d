/*
 * The perf events that sample one process and all it starts, and the rings that they write to: one event and two rings
 * for each CPU that is online.
 *
 * Two rings, because a reader wants to be woken in two ways. While the copied stacks are deep enough it should sleep
 * long and read many samples at once; while they are too short it should read the rest from the living process at once,
 * before that has changed. When an event wakes its reader is a property of the ring and fixed when it is opened; but
 * which ring an event writes to can be changed at any time. So each CPU has a slow ring, which wakes when
 * it holds a few dozen samples, and a fast one, which wakes at every record. The rings belong to dummy events that
 * never count anything.
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

enum perf_ring_kind { PERF_RING_SLOW, PERF_RING_FAST, PERF_RING_KINDS };

struct perf_cpu {
    uint32_t cpu;
    int event_fd;
    int ring_fds[PERF_RING_KINDS]; /* readable (poll) when the ring wants to be read */
    struct perf_ring rings[PERF_RING_KINDS];
    enum perf_ring_kind ring_kind; /* that the event writes to now */
};

enum perf_tier {
    PERF_TIER_KERNEL_AND_USER,
    PERF_TIER_USER, /* ticks inside the kernel give no sample; the counters go on counting there */
};

enum { PERF_NOTES = 6, PERF_NOTE_SIZE = 240 };

struct perf_events {
    struct ARRAY_TYPE(perf_cpu_array, struct perf_cpu) cpus;
    struct perf_layout layout;
    enum perf_tier tier;
    bool hardware;                     /* the event is CPU cycles; else it is the CPU clock */
    bool counts;                       /* samples carry the thread's counter (SAMPLE_READ) */
    uint32_t rate;                     /* samples per second of CPU time */
    uint32_t stack_size;               /* bytes of stack that are copied with a sample, at most */
    size_t ring_size[PERF_RING_KINDS]; /* bytes each */

    /* One sentence for each thing that was asked for and not granted, with the setting that gives it back. */
    char notes[PERF_NOTES][PERF_NOTE_SIZE];
    size_t note_count;
};

struct perf_options {
    pid_t pid;                      /* events start when it calls exec */
    uint32_t rate;                  /* samples per second of CPU time */
    enum perf_ring_kind first_ring; /* that samples go to at first */
};

/*
 * Opens everything for a process that has not called exec yet. What is not allowed is stepped down from, with a note:
 * kernel frames first, then the size of rings, then that of stack copies; so is what the kernel does not know. -EPERM,
 * -EACCES or -ENOSYS: perf events are refused altogether, and the sentence says which setting would allow them. After a
 * failure nothing is left open.
 */
int perf_events_open(struct perf_events *events, const struct perf_options *options, struct error *err);

/* Sends the samples of one CPU to its other ring from now on. What is in the first stays there to be read. */
void perf_events_use_ring(struct perf_events *events, size_t cpu_index, enum perf_ring_kind kind);

/* No more samples; the rings can still be read. */
void perf_events_stop(struct perf_events *events);

/* Samples that the kernel dropped because a ring was full, by its own account; 0 where it does not keep one (before
 * Linux 6.0). */
uint64_t perf_events_lost(const struct perf_events *events);

void perf_events_close(struct perf_events *events);

#endif
