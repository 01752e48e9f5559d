/*
 * The critical path: the work and the waits that bring a thread to the end of a time range. A faster program must
 * shorten a segment of this path.
 *
 * The path goes backwards in time. Where the thread runs, or is runnable, the path stays on the thread. If the thread
 * waited, and a recorded thread ended the wait, the path continues with the waker at the time of the wakeup, also in
 * other processes. At the start of a thread, the path continues with the thread that created it. A wait that a timer, a
 * device or a thread outside of the recording ended is itself on the path. So the segments tile the range.
 *
 * Thread-safe: the functions share no state.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "tree/weights.h"

enum path_state {
    PATH_RUNS,     /* on a CPU */
    PATH_RUNNABLE, /* ready to run, without a CPU */
    PATH_WAITS,    /* in a wait that no recorded thread ended */
    PATH_UNSEEN,   /* in short waits, whose causes and wakers are not recorded */
    PATH_ABSENT,   /* before the thread starts, with an unknown creator, or after it ends */
    PATH_STATES
};

struct path_segment {
    double from, to; /* ms */
    uint32_t thread;
    enum path_state state;
    uint32_t stack;  /* recorded stack, for PATH_WAITS with the leaf that names the kind and object of the wait;
                        PROFILE_NONE: unknown */
    uint32_t waker;  /* for PATH_WAITS, string with the name of the waker; PROFILE_NONE: unknown */
    uint32_t waiter; /* the thread that waits for this thread, or that this thread creates; PROFILE_NONE: none yet */
    /* stack of the wait of `waiter`; PROFILE_NONE if `waiter` created this thread or is PROFILE_NONE */
    uint32_t waited_for;
    uint32_t wakes_in; /* stack with which this thread ends the wait of `waiter`; PROFILE_NONE: unknown */
};

ARRAY_TYPE(struct critical_path, struct path_segment); /* zero it first; free it with array_free() */

/* Finds the path of a thread through a range with finite bounds, ms. The segments are in the order of time and cover
 * the range: each segment ends at the start of the next segment. The path of an empty range is empty. Uses the memory
 * of an earlier call. Time: n log n for n rows and threads, whatever the profile contains. */
int critical_path_find(struct critical_path *path, const struct profile *profile, uint32_t thread,
                       struct time_range range, struct error *err);

struct path_range {
    uint32_t thread;
    struct time_range time; /* ms */
};

ARRAY_TYPE(struct path_ranges, struct path_range);

/* Finds the paths of several ranges, one after the other, as critical_path_find() does. */
int critical_paths_find(struct critical_path *path, const struct profile *profile, const struct path_range *ranges,
                        size_t count, struct error *err);

/* Parses the name of a waker: returns the thread number of a recorded thread, or PROFILE_NONE. */
uint32_t parse_waker_tid(const char *waker);
