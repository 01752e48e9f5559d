/*
 * The CPU time of threads, and the tables of threads.
 */
#pragma once

#include "cmd/report/report.h"

/* Returns the CPU time of a thread in the range in ms, regardless of search and transforms, or 0 if the profile has
 * no CPU times. */
double report_sum_cpu_time(const struct report *report, uint32_t thread);

/* Returns the number of samples of a thread in the range, also if the report counts waits. */
double report_count_thread_samples(const struct report *report, uint32_t thread);

/* Returns how often a thread moved to another CPU in the range, which only its slices show. */
double report_count_migrations(const struct report *report, uint32_t thread);

/* Prints the busiest threads; threads with the same name share a row. Prints nothing for a single thread. */
int report_print_busy_threads(const struct report *report, struct error *err);

/* Prints all processes and their threads. */
int report_print_threads(const struct report *report, struct error *err);

/* Returns the number of samples in the report, or of waits. In a file without times, a row may stand for several
 * samples. */
double report_count_samples(const struct report *report);

/* What report_count_samples() counts. */
struct counted_noun {
    const char *text; /* in the singular; the plural adds an s */
    const char *key;  /* of the number in JSON */
};

struct counted_noun report_get_counted_noun(const struct report *report);
