/*
 * Selection of threads and range, and the query of the engine.
 */
#pragma once

#include "cmd/report/report.h"

/* Sets threads, range and weight. Returns an exit status, after a message if it is not 0. */
int report_apply_selection(struct report *report);

/* Makes the query for the options and the resolved transforms. */
struct tree_query report_make_query(const struct report *report);

/* Runs the query, and sets report->total. */
int report_query_engine(struct report *report, struct error *err);

/* Returns whether an option excludes samples. */
bool report_is_filtered(const struct report *report);
