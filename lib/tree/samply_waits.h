/*
 * Running and waiting times of a thread, from samply's "OnCpu" markers. Each is an interval on a CPU, with the reason
 * why it ended ("outwhy"): "preempted" (the thread was runnable) or "blocked". The time between two such markers is a
 * wait.
 */
#pragma once

#include "tree/marker_chart.h"
#include "tree/marker_text.h"

enum wait_state { WAIT_RUNS, WAIT_PREEMPTED, WAIT_BLOCKED, WAIT_OTHER, WAIT_STATES };

/* The schema of such markers, or SCHEMA_NONE if no thread has any. */
uint32_t waits_schema(const struct marker_schemas *schemas);

/* Lists the rects of a window from left to right: the row of a rect is its enum wait_state, its marker the "OnCpu"
 * marker that it shows or begins with. Omits rects narrower than a pixel that the previous rect covers. `totals`: ms
 * of each state in the whole window. `list`: the markers of one thread by start. */
int waits_rects(struct marker_rects *rects, double totals[WAIT_STATES], const struct marker_context *context,
                const struct marker_list *list, const struct marker_window *window, struct error *err);
