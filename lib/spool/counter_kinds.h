/*
 * The counters of a process, of all CPUs and of energy, as `counters` records have them.
 *
 * Records have whole values, not changes, so that a flight recorder can drop the oldest records.
 */
#pragma once

#include "base/standard.h"

/* Counters of a process. Counters that change seldom come first, because a chunk stores all values after the first
 * changed one. */
enum counter_kind {
    COUNTER_SWAP,         /* bytes in swap space now */
    COUNTER_THREADS,      /* current number of threads */
    COUNTER_MAJOR_FAULTS, /* page faults that waited for a disk, so far */
    COUNTER_DISK_READ,    /* bytes read from storage */
    COUNTER_DISK_WRITTEN, /* bytes to be written to storage */
    COUNTER_PREEMPTIONS,  /* switches off a CPU of threads that are runnable */
    COUNTER_READ,         /* bytes that system calls have read from files, pipes, devices */
    COUNTER_WRITTEN,
    COUNTER_WAITS,  /* switches off a CPU of threads that begin to wait */
    COUNTER_MEMORY, /* bytes resident now */
    COUNTER_MINOR_FAULTS,
    COUNTER_CPU_TIME, /* ns */
    COUNTER_KINDS
};

#define COUNTER_UNKNOWN UINT64_MAX /* the value of an unknown counter */

/* Values of spool_counters.of: the number of a process, which is less than COUNTERS_OF_CPUS and COUNTERS_OF_POWER, or
 * one of these two. */
enum {
    COUNTERS_OF_POWER = (int)0x7ffffffe, /* µJ, by the names in INFO_POWER */
    COUNTERS_OF_CPUS = (int)0x7fffffff,  /* ns of busy time of each CPU, indexed by the number of the CPU */
};

/* Whether a counter has a current level, such as memory, not a sum since the start. */
static inline bool counter_is_level(enum counter_kind kind)
{
    return kind == COUNTER_MEMORY || kind == COUNTER_SWAP || kind == COUNTER_THREADS;
}
