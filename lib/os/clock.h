/*
 * All times in a recording are of CLOCK_MONOTONIC, in nanoseconds.
 */
#pragma once

#include "base/standard.h"

#include <time.h>

#define SECOND UINT64_C(1000000000) /* in ns */

static inline uint64_t timespec_to_ns(struct timespec time)
{
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static inline struct timespec timespec_from_ns(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return timespec_to_ns(now);
}

static inline uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Reads the CPU clock of a process in ns: of all its threads, including ended threads (linux/posix-timers.h:
 * MAKE_PROCESS_CPUCLOCK with CPUCLOCK_SCHED). Every user may read the clock. Returns 0 if the process no longer
 * exists. */
static inline uint64_t process_read_clock_ns(uint32_t pid)
{
    struct timespec time;
    clockid_t clock = (clockid_t)(~pid << 3 | 2);
    return clock_gettime(clock, &time) ? 0 : timespec_to_ns(time);
}

/* Returns the CLOCK_MONOTONIC time `ms` milliseconds from now. */
static inline struct timespec make_monotonic_time_after_ms(unsigned ms)
{
    return timespec_from_ns(monotonic_ns() + ms * UINT64_C(1000000));
}
