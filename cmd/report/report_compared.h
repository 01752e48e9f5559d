/*
 * The columns and the list of functions of a comparison.
 */
#pragma once

#include "cmd/report/report.h"

const struct profile_comparison *report_get_comparison(const struct report *report);

/* Formats a change: "+12.5", "-3", or a dash for 0. */
void report_format_change(const struct report *report, double change, char out[QUANTITY_TEXT_MAX]);

/* Formats half of a confidence interval, "±12.5". */
void report_format_half_interval(const struct report *report, const struct change_estimate *estimate,
                                 char out[QUANTITY_TEXT_MAX]);

void report_measure_compared(struct report *report);
/* Prints the header of a comparison. `changes`: the changes of the list of functions, or NULL in other reports. */
void report_print_compared_head(const struct report *report, const struct func_changes *changes);

/* Prints the columns base, new and change. With `by_self` they count self time, and a last column has the change of
 * the total; otherwise they count the total, and the last column has the change of self time. `interval`: text of
 * one more column, or NULL for none. */
void report_print_compared_figures(const struct report *report, const struct side_figures sides[PROFILE_SIDES],
                                   bool by_self, const char *interval);
void report_print_compared_columns(const struct report *report, const char *title, bool by_self, bool has_interval);

/* Prints the columns base, new and change of self time only. Returns the width of the printed columns. */
unsigned report_print_compared_self(const struct report *report, const double self[PROFILE_SIDES]);
void report_print_compared_self_columns(const struct report *report, const char *title);

/* Computes the changes of all functions. The caller destroys `changes`, also after a failure. */
int report_find_changes(struct func_changes *changes, const struct report *report, struct error *err);

/* Returns a sentence or two about the limits of the verdicts, or NULL if none apply. `is_changed`: the total or a
 * function exceeds noise. */
const char *report_describe_verdicts(const struct func_changes *changes, const struct report *report, bool is_changed);

/* Prints the header and the list of functions. */
int report_print_compared_functions(const struct report *report, struct error *err);
