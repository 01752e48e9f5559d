/*
 * Makes a report that is ready to print from its options.
 */
#pragma once

#include "cmd/report/report.h"

struct option_table;

/* Loads the profile, resolves the names in the options and queries the engine. Returns an exit status, after a message
 * if it is not 0. */
int report_prepare(struct report *report);

/* A report with the defaults of all options, for the command with this table. */
struct report report_make(const struct option_table *table, bool is_comparison);

void report_destroy(struct report *report);
