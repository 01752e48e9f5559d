/*
 * CPU time of threads, and the lists of threads.
 */
#pragma once

#include "cmd/report/report.h"

/* CPU time of a thread in the range in ms, regardless of search and transforms; 0 if the profile has none. */
double report_cpu_time(const struct report *report, uint32_t thread);

/* Prints the busiest threads, those with the same name in one row. Prints nothing for a single thread. */
int report_print_busy_threads(const struct report *report, struct error *err);

/* Prints all processes and their threads. */
int report_print_threads(const struct report *report, struct error *err);

/* "1.234 s" or "12.3 ms" */
void report_format_time(double ms, char *out, size_t size);

/* How many samples the figures count; in a file without times, a row may stand for several. */
double report_counted_samples(const struct report *report);
