/*
 * The states of a thread over time: running, or waiting for a reason. The time in each state between any two times is
 * the difference of two prefix sums, so a graph of a long recording costs as much as one of a short recording.
 *
 * A state has a rate at each time, in ms per ms. The CPU time of a gap (weights.h) is spread over the gap. A recorded
 * wait has rate 1 from its start to its end; its unseen waits are spread as by measure_wait_in(). The sum of all rates
 * is therefore 1 on average, but not at each time.
 */
#pragma once

#include "tree/weights.h"

/* A state is STATE_RUNNING, STATE_REASONS + a subcategory of "Idle", or the last state, which is a wait of a thread
 * without rows of waits. */
enum { STATE_RUNNING, STATE_REASONS };

/* Returns the number of states. */
uint32_t count_thread_states(const struct profile *profile);

/* At `time`, the rate of a state changes. */
struct state_event {
    double time; /* ms */
    float change;
    uint32_t state; /* index of thread_states.state */
};

struct thread_states {
    struct time_range there; /* ms: lifetime of the thread */
    const struct paused_range *paused;
    size_t paused_count;
    uint32_t *state; /* the states that occur */
    uint32_t count;
    struct state_event *events; /* in the order of time */
    size_t event_count;
    double *sums, *rates; /* before each STATE_STEP-th event: one per state that occurs */
    uint64_t last_use;
};

/* Reads prefix sums at ascending times. */
struct state_cursor {
    const struct thread_states *states;
    size_t event;               /* index of the next event */
    double *sum, *rate, *since; /* per state that occurs; owned */
    double *read;               /* the sums of the last state_cursor_read(), ms */
};

int state_cursor_init(struct state_cursor *cursor, const struct thread_states *states, struct error *err);

/* Stores in cursor->read the time in each state before `time`, ms. */
void state_cursor_read(struct state_cursor *cursor, double time);

void state_cursor_destroy(struct state_cursor *cursor);

/* Returns the lifetime of the thread between two times, without the paused time, ms. */
double measure_lifetime_between(const struct thread_states *states, double from, double to);

/* The states of the threads of a profile that were requested. Starts zeroed. */
struct state_cache {
    struct thread_states **of_thread; /* NULL before the first request; an element is NULL until requested */
    size_t event_count;               /* number of events of all threads */
    uint64_t request;                 /* number of the current request, which the caller raises */
};

/* Stores in *states the states of a thread; NULL for a thread that is unknown or has no recorded waits. Linear in the
 * rows of the thread for its first request. The states of one request stay until the next request. */
int state_cache_find(struct state_cache *cache, const struct profile *profile, uint32_t thread,
                     const struct thread_states **states, struct error *err);

void state_cache_destroy(struct state_cache *cache, size_t thread_count);
