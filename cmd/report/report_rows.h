/*
 * Limits of the printed rows, and the last line about hidden rows.
 */
#pragma once

#include "cmd/report/report.h"

/* Counts of hidden rows, for the last line. */
struct omissions {
    size_t light; /* rows below the minimum percentage */
    size_t deep;  /* rows whose children are hidden because of their depth */
    size_t limit; /* the limit of rows if it hides some; otherwise 0 */
};

/* Prints "Hidden: 12 functions below 0.5% (--min-percent 0), rows after the first 60 (--limit 0)"; prints nothing if no
 * row is hidden. `row_noun`: singular name of the rows. */
void report_print_omissions(const struct report *report, const struct omissions *omissions, const char *row_noun);

/* Returns the maximum depth of the tree: --depth, or the default. */
uint32_t report_level_limit(const struct report *report);

/* Returns the maximum number of rows: --limit, or `usual`. */
size_t report_row_limit(const struct report *report, size_t usual);

/* Returns a weight in percent of the total. */
double report_percent(const struct report *report, double weight);

bool report_is_small(const struct report *report,
                     double weight); /* Returns whether the weight is below --min-percent. */
