/*
 * The reports of source lines: --lines and --hot-lines.
 */
#pragma once

#include "cmd/report/report.h"

/* Finds the source file of --lines. Returns an exit status, after a message if it is not 0. */
int report_resolve_source(struct report *report);

/* Sums the weights of the file's lines. The caller zeroes `costs` before, and destroys it also after a failure. */
int report_sum_line_costs(const struct report *report, struct line_costs *costs, struct error *err);

int report_print_lines(const struct report *report, struct error *err);

/* Finds the lines with the most self weight in all files. The caller zeroes `hot` before, and destroys it also after a
 * failure. */
int report_list_hot_lines(const struct report *report, struct hot_lines *hot, struct error *err);
int report_print_hot_lines(const struct report *report, struct error *err);

/* Returns the name of the func's source file. The func must have one. */
const char *report_get_source_file(const struct report *report, uint32_t func);
