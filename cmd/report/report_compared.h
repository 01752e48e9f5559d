/*
 * Columns and functions of comparisons.
 */
#pragma once

#include "cmd/report/report.h"

const struct profile_comparison *report_comparison(const struct report *report);

/* "+12.5", "-3", a dash for nothing */
void report_format_change(const struct report *report, double change, char out[QUANTITY_TEXT_MAX]);

void report_measure_compared(struct report *report);
/* `changes`: of the list of functions; NULL: of another report. */
void report_print_compared_head(const struct report *report, const struct func_changes *changes);

/* Columns of base, new and change: of self, with the change of the total at the end, or the other way round.
 * `interval`: text of one more column; NULL: none. */
void report_print_compared(const struct report *report, const struct side_figures sides[PROFILE_SIDES], bool by_self,
                           const char *interval);
void report_print_compared_columns(const struct report *report, const char *title, bool by_self, bool has_interval);

/* The same of self alone. Returns the columns that it took. */
unsigned report_print_compared_self(const struct report *report, const double self[PROFILE_SIDES]);
void report_print_compared_self_columns(const struct report *report, const char *title);

/* Destroy them also after a failure. */
int report_find_changes(struct func_changes *changes, const struct report *report, struct error *err);

/* What one must know to believe the verdicts, a sentence or two; NULL: nothing. `is_changed`: something is said to be
 * more than noise, also if none of the functions is. */
const char *report_describe_verdicts(const struct func_changes *changes, const struct report *report, bool is_changed);

/* Prints the header, too. */
int report_print_compared_functions(const struct report *report, struct error *err);
