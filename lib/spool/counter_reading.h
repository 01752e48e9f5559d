/*
 * What was counted of a process, of all CPUs or of energy at a moment: the values that counters.h reads, in the spool.
 *
 * A reading is stored among the samples (chunk.h), as one of a thread that no thread is, whose frames are the values.
 * So a value that has not changed takes no bytes, the rest some 20 to 30 in all; and a flight recorder drops the oldest
 * readings with the samples of their time. Values are whole, not changes, so that what is left still adds up.
 */
#pragma once

#include "spool/chunk.h"
#include "spool/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is counted of a process, those that change seldom first: what follows a value that has changed is written. */
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

/* Values of `whose`: the number of a process, which is below both, or one of these. */
enum {
    COUNTERS_OF_POWER = (int)0x7ffffffe, /* µJ, by the names in INFO_POWER */
    COUNTERS_OF_CPUS = (int)0x7fffffff,  /* ns that each CPU was busy, by its number */
};

struct counter_reading {
    uint32_t whose;
    uint64_t time;  /* ns, CLOCK_MONOTONIC */
    uint64_t since; /* ns: nothing has changed from the reading before up to then; 0: all the time between is meant */
    bool is_base;   /* what has changed since the reading before does not count: nothing was recorded, or this is the
                       first of what ran before */
    size_t count;   /* COUNTER_KINDS of a process; at most CHUNK_MAX_FRAMES */
    const uint64_t *values;
};

/* Whether a value is what there is now, not a sum of what has happened. */
static inline bool counter_is_level(enum counter_kind kind)
{
    return kind == COUNTER_MEMORY || kind == COUNTER_SWAP || kind == COUNTER_THREADS;
}
