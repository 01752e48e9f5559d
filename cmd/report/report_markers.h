/*
 * The report of markers.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;
struct marker_view;

/* Makes a view of the markers in the report's threads and range that match `search`. The caller frees *view also after
 * a failure. */
int report_view_markers(const struct report *report, const char *search, struct marker_view **view, struct error *err);

int report_print_markers(const struct report *report, struct error *err);

/* Writes the member "markers" of the JSON report. */
int report_write_markers(struct json_writer *json, const struct report *report, struct error *err);
