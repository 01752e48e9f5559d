/*
 * The counters of a process, of all CPUs and of energy, as `counters` records have them.
 *
 * Records have whole values, not changes, so that a flight recorder can drop the oldest ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counters of a process; those that change seldom come first, because a chunk repeats what follows a changed value. */
enum counter_kind {
    COUNTER_SWAP,         /* bytes in swap space now */
    COUNTER_THREADS,      /* that there are now */
    COUNTER_MAJOR_FAULTS, /* page faults that waited for a disk, so far, like all that follow but the memory */
    COUNTER_DISK_READ,    /* bytes that were fetched from storage, */
    COUNTER_DISK_WRITTEN, /* and those that are to be written to it */
    COUNTER_PREEMPTIONS,  /* switches off a CPU of threads that could have run on */
    COUNTER_READ,         /* bytes that system calls have read, of files, pipes, devices */
    COUNTER_WRITTEN,
    COUNTER_WAITS,  /* switches off a CPU of threads that wait */
    COUNTER_MEMORY, /* bytes resident now */
    COUNTER_MINOR_FAULTS,
    COUNTER_CPU_TIME, /* ns */
    COUNTER_KINDS
};

#define COUNTER_UNKNOWN UINT64_MAX /* a value */

/* Values of spool_counters.of: the number of a process, which is below both, or one of these. */
enum {
    COUNTERS_OF_POWER = (int)0x7ffffffe, /* µJ, by the names in INFO_POWER */
    COUNTERS_OF_CPUS = (int)0x7fffffff,  /* ns that each CPU was busy, by its number */
};

/* Whether a value is what there is now, not a sum of what has happened. */
static inline bool counter_is_level(enum counter_kind kind)
{
    return kind == COUNTER_MEMORY || kind == COUNTER_SWAP || kind == COUNTER_THREADS;
}
