/*
 * Selects the recorded threads by name: all, or threads whose name matches a pattern (glob(7): "worker-*"). After a
 * rename, the new name counts.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/standard.h"

struct thread_filter {
    const char *const *patterns; /* the caller's */
    size_t count;                /* 0: all threads match */
    uint64_t left_out;           /* number of samples of threads that do not match */
};

bool thread_filter_matches(const struct thread_filter *filter, const char *name);
