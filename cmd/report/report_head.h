/*
 * The header of a report: a line about the profile, warnings, filters.
 */
#pragma once

#include "cmd/report/report.h"

/* Prints one line about the profile, warnings about its quality, and the filters; with --verbose all metadata. */
int report_print_head(const struct report *report, struct error *err);

/* One line about the options that exclude samples, if there are such. */
void report_print_filters(const struct report *report);

void report_warn(const struct report *report, const char *text);

/* How often an event of meta.events happened in the threads and the range of the report, and in how many samples. */
struct event_count {
    double total, samples;
};
struct event_count report_count_event(const struct report *report, size_t event);

/* How many samples the recording lost; 0 if the profile does not say. */
int report_count_lost(const struct report *report, double *lost, struct error *err);
