#include "record/thread_clock.h"

/* The value of a counter and the time of its sample are read one after the other. */
static const uint64_t reading_apart_ns = 100000;

static uint64_t at_most_passed(uint64_t grown, uint64_t since, uint64_t time)
{
    uint64_t passed = (time > since ? time - since : 0) + reading_apart_ns;
    return grown < passed ? grown : passed;
}

uint64_t thread_clock_advance(struct thread_clock *clock, uint64_t id, uint64_t value, uint64_t time)
{
    for (size_t i = 0; i < clock->counters.length; i++) {
        struct thread_counter *counter = &clock->counters.data[i];
        if (counter->id != id)
            continue;
        uint64_t grown = value >= counter->value ? value - counter->value : value, since = counter->time;
        *counter = (struct thread_counter){.id = id, .value = value, .time = time};
        return at_most_passed(grown, since, time);
    }
    struct thread_counter counter = {.id = id, .value = value, .time = time};
    return array_push(&clock->counters, counter) ? at_most_passed(value, clock->started, time) : 0;
}

void thread_clock_destroy(struct thread_clock *clock)
{
    array_free(&clock->counters);
}
