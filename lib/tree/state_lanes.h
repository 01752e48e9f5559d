/*
 * Lanes of the timeline: the share of each state (thread_states.h) in each pixel, for one thread or the sum of several.
 */
#pragma once

#include "tree/engine.h"
#include "tree/thread_states.h"

/* Lane `i` is the sum of the threads from ends[i - 1] (0 for the first) to ends[i]. Threads that are unknown or have no
 * recorded waits add nothing. */
struct state_lanes_query {
    const uint32_t *threads, *ends;
    size_t lane_count;
    struct time_range range; /* ms: left edge of the first pixel, right edge of the last pixel */
    uint32_t width;          /* pixels */
};

/* The state that counts the existing threads of a lane. */
enum { STATE_THERE = UINT32_MAX };

struct state_row {
    uint32_t lane, state;
};

struct state_lanes {
    ARRAY(struct state_row) rows; /* lane by lane; first STATE_THERE, then the states that occur in the range */
    ARRAY(float) shares; /* `width` shares per row: threads in the state, averaged over the time of the pixel */
};

/* Computes the lanes of a range. The waits of a pixel never have more time than the pixel has left. Earlier pixels with
 * room get the rest, so the sums over a range equal those of engine_sum_states() while the time of the threads
 * suffices. The query of the engine does not matter. The cost does not depend on the length of the range, except for
 * the first request of a thread. `lanes` starts zeroed; later calls reuse its memory. */
int engine_compute_state_lanes(struct engine *engine, const struct state_lanes_query *query, struct state_lanes *lanes,
                               struct error *err);

void state_lanes_destroy(struct state_lanes *lanes);

/* Stores the time of threads in each state in a range, ms; one sum per count_thread_states(). The sums of reasons are
 * those of engine_group_waits(). */
int engine_sum_states(struct engine *engine, const uint32_t *threads, size_t count, struct time_range range,
                      double *sums, struct error *err);

/* Finds the wait of a thread that has the most time in a range, among waits of one state. Returns a time during that
 * wait, ms; NAN: none. */
double engine_find_longest_wait(const struct engine *engine, uint32_t thread, uint32_t state, struct time_range range);
