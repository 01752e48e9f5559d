/*
 * Which threads are stored, by their names: all, or those whose name matches one of some patterns (glob(7):
 * "worker-*"). A thread that is renamed counts by the name that it has at the time.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_filter {
    const char *const *patterns; /* the caller's */
    size_t count;                /* 0: all threads match */
    uint64_t left_out;           /* samples of other threads */
};

bool thread_filter_matches(const struct thread_filter *filter, const char *name);
