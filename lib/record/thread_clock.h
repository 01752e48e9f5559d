/*
 * How much CPU time a thread used between two of its samples.
 *
 * Counting samples is not enough: where the kernel may not be sampled, ticks inside it vanish. But every sample carries
 * the value of a counter that goes on counting. There is one counter per thread and CPU event, an inherited one has the
 * id of the event that it was inherited from, and it starts at 0 with its thread: so a thread keeps the last value for
 * each event id, and the first value that is seen of an id is a difference itself.
 */
#ifndef PROF_RECORD_THREAD_CLOCK_H
#define PROF_RECORD_THREAD_CLOCK_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_counter {
    uint64_t id, value;
    uint64_t time; /* ns: when it had that value */
};

/* Zero one for a thread that starts. */
struct thread_clock {
    uint64_t started;                      /* ns: when the thread did */
    ARRAY(struct thread_counter) counters; /* one for each CPU that the thread was sampled on */
};

/*
 * By how much the counter `id`, in ns, grew since the last call for it. A value below the last one is that of a new
 * counter: a thread number was used again and its end was not seen. Never more than the time that has passed: the
 * time_running of a hardware event takes in that of children that have ended. Returns 0 if memory ran out.
 */
uint64_t thread_clock_advance(struct thread_clock *clock, uint64_t id, uint64_t value, uint64_t time);

void thread_clock_destroy(struct thread_clock *clock);

#endif
