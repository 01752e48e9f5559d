/*
 * The waits of a thread that an engine's query counts: each recorded wait, or its part in the range.
 */
#pragma once

#include "tree/engine.h"

struct wait_part {
    double ms;              /* weight in the range: the recorded wait and the unseen waits that it stands for */
    double longest;         /* ms of the recorded wait in the range, without unseen waits */
    double length;          /* ms of the recorded wait, in and outside of the range */
    double unseen;          /* number of unseen waits that the wait stands for */
    bool is_recorded;       /* false if the thread has no row of a wait */
    struct time_range time; /* full time of a recorded wait */
    uint32_t stack;         /* recorded stack; PROFILE_NONE: no row has a stack */
    uint32_t node;          /* call node in the query */
    uint32_t waker;         /* string; PROFILE_NONE: unknown */
    uint32_t waker_stack;   /* recorded stack; PROFILE_NONE: unknown */
};

/* Calls `add` for each wait of a thread, in the order of time, until `add` returns false. Returns whether no call did.
 * Linear in the samples of the thread. */
bool visit_wait_parts(const struct engine *engine, uint32_t thread,
                      bool (*add)(void *context, const struct wait_part *part), void *context);
