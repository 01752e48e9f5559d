/*
 * The header of a report: a line about the profile, the warnings and the filters.
 */
#pragma once

#include "cmd/report/report.h"

/* Prints one line about the profile, warnings about its quality, and the filters; with --verbose all metadata. */
int report_print_head(const struct report *report, struct error *err);

/* Prints one line about the options that exclude samples, if any. */
void report_print_filters(const struct report *report);

void report_warn(const struct report *report, const char *text);

/* Number of occurrences of an event of meta.events in the selected threads and range, and number of its samples. */
struct event_count {
    double total, samples;
};
struct event_count report_get_event_count(const struct report *report, size_t event);
