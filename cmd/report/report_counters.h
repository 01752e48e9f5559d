/*
 * The report of counters.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

int report_print_counters(const struct report *report, struct error *err);
int report_write_counters(struct json_writer *json, const struct report *report, struct error *err);

/* Prints what the first processes have used, a line each; nothing where prof has not counted it. */
void report_print_figures(const struct report *report);
