/*
 * Trees and lists.
 */
#pragma once

#include "cmd/report/report.h"

/* Computes the widths of the weight columns. */
void report_measure_figures(struct report *report);

void report_print_weights(const struct report *report, double total, double self);
void report_print_columns(const struct report *report,
                          const char *title); /* prints the column titles; `title` is the title of the last column */

int report_print_tree(const struct report *report, struct error *err);
int report_print_functions(const struct report *report, struct error *err);
int report_print_groups(const struct report *report, struct error *err);
int report_print_butterfly(const struct report *report, struct error *err);
