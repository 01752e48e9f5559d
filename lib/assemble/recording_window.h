/*
 * Splits a running recording into consecutive profiles, called windows. Each window has the samples since the previous
 * window. Every sample is in exactly one window, by its place in the spool. So the windows add up to the profile of the
 * whole recording, with three exceptions. Windows lack the CPU time without samples (unsampled.h), which the recorder
 * knows only at the end. A window also has threads that have only been runnable so far. The whole profile omits threads
 * that were only runnable. A wait across several windows is in each window, with the part of its time that the recorder
 * wrote since the previous window.
 *
 * A thread's window starts at the end of its last row in the previous window, so that each moment is in one window.
 * Windows have no markers and counters. Each window reads all events so far, for the processes, threads and mappings of
 * its samples: about 1 us of CPU time for each process so far.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "spool/spool.h"

/* State of a thread at the end of the previous window. */
struct window_thread {
    uint64_t time; /* ns: end of the thread's last row in a window, or 0 for no window yet */
    double cpu;    /* ms of CPU time after its last sample, which no row of a window contains yet */
};

ARRAY_TYPE(struct window_threads, struct window_thread); /* indexed by thread number in the spool */

/* Zeroed before the first window. assemble_recording() assembles a window, and on success advances to the next. */
struct recording_window {
    struct spool_place place; /* start in the spool */
    uint64_t zero;            /* ns: time 0 of all windows; 0 before the first */
    double from, to;          /* ms after `zero`: range of the last window */
    bool is_last;             /* set by the caller after the end of the recording */
    uint64_t missed;          /* chunks that a flight recorder dropped before any window read them */
    struct window_threads threads;
};

/* Copies `window`, so that the caller can return to it. After -ENOMEM, *copy needs no freeing. */
int recording_window_copy(struct recording_window *copy, const struct recording_window *window, struct error *err);

void recording_window_destroy(struct recording_window *window);

/* Returns the state of a thread; zero if unknown. */
struct window_thread recording_window_get_thread(const struct recording_window *window, uint32_t thread);
