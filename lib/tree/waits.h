/*
 * When a thread ran, and when and why it waited, from samply's "OnCpu" markers: each is an interval on a CPU, with the
 * reason why it ended ("outwhy"). "preempted": the thread could have gone on; "blocked": it had to wait for something.
 * The time between two such markers is a wait.
 */
#pragma once

#include "tree/marker_chart.h"
#include "tree/marker_text.h"

enum wait_state { WAIT_RUNS, WAIT_PREEMPTED, WAIT_BLOCKED, WAIT_OTHER, WAIT_STATES };

/* The schema of such markers, or SCHEMA_NONE: then no thread has any. */
uint32_t waits_schema(const struct marker_schemas *schemas);

/* What a window shows, from left to right: a rect's row is its enum wait_state, its marker the "OnCpu" that it is or
 * begins with. What is shorter than a pixel and hidden by what is drawn before it is left out. `totals`: ms of each
 * state in the window, of all of it. `list`: the markers of one thread by their starts. */
int waits_rects(struct marker_rects *rects, double totals[WAIT_STATES], const struct marker_context *context,
                const struct marker_list *list, const struct marker_window *window, struct error *err);
