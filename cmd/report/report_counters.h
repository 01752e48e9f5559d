#pragma once

#include "cmd/report/report.h"

struct json_writer;

int report_print_counters(const struct report *report, struct error *err);
int report_write_counters(struct json_writer *json, const struct report *report, struct error *err);

/* Prints one line of counters for each of the first processes. Prints nothing if the profile has no counters of
 * processes. */
void report_print_figures(const struct report *report);
