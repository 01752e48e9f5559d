/*
 * Why a thread waits, by its kernel functions when it leaves its CPU: if perf recorded their addresses, the system call
 * is not needed. Only the running kernel's functions have names.
 */
#pragma once

#include "base/hash.h"
#include "record/wait_reason.h"
#include "symbol/kallsyms.h"

/* Starts zeroed. */
struct perf_data_reasons {
    struct kallsyms kernel; /* read when the first reason is needed */
    bool is_read;
    struct hash by_address; /* of a frame -> enum wait_reason */
};

void perf_data_reasons_destroy(struct perf_data_reasons *reasons);

/* The reason of a wait by the thread's kernel frames, leaf first; REASON_UNKNOWN if they do not show it. */
enum wait_reason perf_data_reason(struct perf_data_reasons *reasons, const uint64_t *frames, size_t count);

/* The reason for which a kernel function waits, whatever its callers. */
enum wait_reason perf_data_reason_of_function(const char *name);
