/*
 * The report of intervals that the program marks.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

int report_print_intervals(const struct report *report, struct error *err);

/* Writes the member "intervals" of the JSON report. */
int report_write_intervals(struct json_writer *json, const struct report *report, struct error *err);
