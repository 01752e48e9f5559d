/*
 * All times in a recording are of CLOCK_MONOTONIC, in nanoseconds.
 */
#pragma once

#include "base/standard.h"

#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Reads the CPU clock of a process in ns: of all its threads, including ended threads (linux/posix-timers.h:
 * MAKE_PROCESS_CPUCLOCK with CPUCLOCK_SCHED). Every user may read the clock. Returns 0 if the process no longer
 * exists. */
static inline uint64_t process_clock_ns(uint32_t pid)
{
    struct timespec time;
    clockid_t clock = (clockid_t)(~pid << 3 | 2);
    return clock_gettime(clock, &time) ? 0 : (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* Returns the CLOCK_MONOTONIC time `ms` milliseconds from now. */
static inline struct timespec monotonic_after_ms(unsigned ms)
{
    const uint64_t second = UINT64_C(1000000000), end = monotonic_ns() + ms * UINT64_C(1000000);
    return (struct timespec){.tv_sec = (time_t)(end / second), .tv_nsec = (long)(end % second)};
}
