/*
 * Threads, range and query of a report.
 */
#pragma once

#include "cmd/report/report.h"

/* Sets threads, range and weight. Returns an exit status, after a message if it is not 0. */
int report_select(struct report *report);

/* The query for the options and the transforms so far. */
struct tree_query report_query(const struct report *report);

/* Runs that query, and sets the total. */
int report_query_engine(struct report *report, struct error *err);

/* Whether an option excludes samples. */
bool report_is_filtered(const struct report *report);
