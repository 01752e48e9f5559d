/*
 * Running and waiting times of a thread, from samply's "OnCpu" markers. Each marker is an interval on a CPU, with the
 * reason for its end ("outwhy"): "preempted" (the thread was runnable) or "blocked". The time between two "OnCpu"
 * markers is a wait.
 */
#pragma once

#include "tree/marker_chart.h"
#include "tree/marker_text.h"

enum wait_state { WAIT_RUNS, WAIT_RUNNABLE, WAIT_BLOCKED, WAIT_OTHER, WAIT_STATES };

/* Returns the schema of "OnCpu" markers, or SCHEMA_NONE if no thread has any. */
uint32_t find_on_cpu_schema(const struct marker_schemas *schemas);

/* Lists the rects of a window from left to right: the row of a rect is its enum wait_state, and its marker the first
 * "OnCpu" marker in the rect. Omits rects narrower than a pixel that the previous rect covers. `totals` gets the ms of
 * each state in the window. `list` contains the markers of one thread, sorted by start. */
int list_on_cpu_rects(struct marker_rects *rects, double totals[WAIT_STATES], const struct marker_context *context,
                      const struct marker_list *list, const struct marker_window *window, struct error *err);
