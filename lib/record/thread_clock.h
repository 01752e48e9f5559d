/*
 * How much CPU time a thread used between two of its samples.
 *
 * Counting samples is not enough: where the kernel may not be sampled, ticks inside it vanish. But every sample carries
 * the value of a counter that goes on counting. There is one counter per thread and CPU event, an inherited one has the
 * id of the event that it was inherited from, and it starts at 0 with its thread: so a thread keeps the last value for
 * each event id, and the first value that is seen of an id is a difference itself.
 */
#pragma once

#include "base/array.h"

#include <stdint.h>

struct thread_counter {
    uint64_t id, value;
    uint64_t time; /* ns: when it had that value */
};

/* The CPU time of one thread. Starts zeroed. */
struct thread_clock {
    uint64_t started;                      /* ns: when the thread did */
    ARRAY(struct thread_counter) counters; /* one for each CPU that the thread was sampled on */
};

/*
 * Returns by how much the counter `id`, in ns, grew since the last call for it. A value below the last one comes from a
 * new counter: a tid was used again, and the record of its end was lost. The result is at most the time that has
 * passed, because the time_running of a hardware event includes that of children that have ended. Returns 0 if memory
 * ran out.
 */
uint64_t thread_clock_advance(struct thread_clock *clock, uint64_t id, uint64_t value, uint64_t time);

void thread_clock_destroy(struct thread_clock *clock);
