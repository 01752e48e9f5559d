/*
 * The report of markers.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

int report_print_markers(const struct report *report, struct error *err);

/* Writes the member "markers" of the JSON report. */
int report_write_markers(struct json_writer *json, const struct report *report, struct error *err);
