/*
 * Limits of the printed rows, and the last line about hidden rows.
 */
#pragma once

#include "cmd/report/report.h"

/* Counts of the printed and of the hidden rows. */
struct row_counts {
    size_t light; /* rows below the minimum percentage */
    size_t deep;  /* rows whose children are hidden because of their depth */
    size_t limit; /* the limit of rows if it hides some; otherwise 0 */
    size_t printed;
};

/* Returns whether to print one more row of this weight, and counts the row. The limit of rows is --limit, or `usual`.
 * counts->limit is set when the limit hides the row, which ends the caller's loop. */
bool report_count_row(const struct report *report, struct row_counts *counts, double weight, size_t usual);

/* Prints "Hidden: 12 functions below 0.5% (--min-percent 0), rows after the first 60 (--limit 0)"; prints nothing if no
 * row is hidden. `row_noun`: singular name of the rows. */
void report_print_omissions(const struct report *report, const struct row_counts *counts, const char *row_noun);

/* Prints "and 12 more (--limit 0 prints all)" if only `shown` of `all` rows appear. */
void report_print_hidden_count(size_t all, size_t shown);

/* Returns the maximum depth of the tree: --depth, or the default. */
uint32_t report_get_level_limit(const struct report *report);

/* Returns the maximum number of rows: --limit, or all rows in JSON, or `usual`. */
size_t report_get_row_limit(const struct report *report, size_t usual);

/* Returns a weight in percent of the total. */
double report_compute_percent(const struct report *report, double weight);

/* Returns whether the weight is below --min-percent, or the default of the output format. */
bool report_is_small(const struct report *report, double weight);
