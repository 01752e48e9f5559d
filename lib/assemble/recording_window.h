/*
 * A recording that goes on, as one profile after the other: each has the samples that came since the one before. Every
 * sample is in one window, which is that of its place in the spool. So the sums of all windows are those of the profile
 * of the whole recording, but for three things. That has the CPU time that no sample covers (unsampled.h), which is
 * known when a recording ends, unless the recorder keeps only the newest samples. A window has the waits of threads
 * that were only ready to run up to then; the profile leaves out a thread that never was anything else. A wait that
 * goes on from one window to the next is one of both, each with the part of its time that the recorder wrote meanwhile.
 *
 * A thread's window begins where its last row in the window before ends, so that all its time is in one of them.
 * Windows have no markers and counters. Each reads all events of the recording so far, for the processes, threads and
 * mappings that samples refer to: about 1 us of CPU time for each process that there ever was.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "spool/spool.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a thread at the end of the window before. */
struct window_thread {
    uint64_t time; /* ns: up to which its time is in windows; 0: none is */
    double cpu;    /* ms after its last sample that no row has as its weight */
    double waited; /* the same of waits, after its last wait */
};

ARRAY_TYPE(struct window_threads, struct window_thread); /* by the threads' numbers in the spool */

/* Zeroed before the first window. assemble_recording() makes the next one, and goes on to the window after it if it
 * succeeds. */
struct recording_window {
    struct spool_place place; /* where it begins */
    uint64_t zero;            /* ns: zero of the times of all windows; 0 before the first */
    double from, to;          /* ms after it: the last window */
    bool is_last;             /* set by the caller: the recording has ended */
    uint64_t missed;          /* chunks that a flight recorder dropped before a window had them, so far */
    struct window_threads threads;
};

/* Has *copy be as `window` is, so that the caller can go back to it. -ENOMEM leaves nothing to be freed. */
int recording_window_copy(struct recording_window *copy, const struct recording_window *window, struct error *err);

void recording_window_destroy(struct recording_window *window);

struct assembly;
struct replay_thread;
struct thread;

/* ---- for the assembly of a window ---- */

/* Sets the zero of times: that of all windows, so that what a thread waited before this one has its length. */
int recording_window_begin(struct assembly *assembly, struct error *err);

/* Gives the profile's thread the time in which it is in the window: what it did after its last row is in the next one,
 * unless this is the last. `last`: ns, the end of the recording so far. */
void recording_window_cut(struct assembly *assembly, const struct replay_thread *from, uint64_t last,
                          struct thread *thread);

/* Goes on to the next window; `end`: ns. */
void recording_window_go_on(struct recording_window *window, struct assembly *assembly, uint64_t end);

/* The state of a thread; zero if it is not known. */
struct window_thread recording_window_thread(const struct recording_window *window, uint32_t thread);
