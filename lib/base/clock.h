/*
 * The clock that everything in a recording is timed by: CLOCK_MONOTONIC, in nanoseconds.
 */
#pragma once

#include <stdint.h>
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

/* The time that it is `ms` milliseconds from now on. */
static inline struct timespec monotonic_after_ms(unsigned ms)
{
    const uint64_t second = UINT64_C(1000000000), end = monotonic_ns() + ms * UINT64_C(1000000);
    return (struct timespec){.tv_sec = (time_t)(end / second), .tv_nsec = (long)(end % second)};
}
