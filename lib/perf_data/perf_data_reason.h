/*
 * Finds the reason for which a thread waits, from its kernel functions at the switch. These functions suffice without
 * the system call. Only the running kernel's functions have names.
 */
#pragma once

#include "base/hash.h"
#include "process/wait_reason.h"
#include "symbol/kallsyms.h"

/* Starts zeroed. */
struct perf_data_reasons {
    struct kallsyms kernel; /* read when the first reason is needed */
    bool is_read;
    struct hash by_address; /* address of a frame -> enum wait_reason */
};

void perf_data_reasons_destroy(struct perf_data_reasons *reasons);

/* Returns the reason of a wait by the thread's kernel frames, leaf first, or REASON_UNKNOWN if no frame shows a
 * reason. */
enum wait_reason perf_data_find_reason(struct perf_data_reasons *reasons, const uint64_t *frames, size_t count);

/* Returns the reason for which a kernel function waits, independent of its callers. */
enum wait_reason perf_data_find_reason_of_function(const char *name);
