/*
 * The lines of source files with their costs.
 */
#pragma once

#include "cmd/report/report.h"

/* Finds the source file of --lines. Returns an exit status, after a message if it is not 0. */
int report_resolve_source(struct report *report);

/* The weights of the file's lines. Zero `costs` before; destroy it also after a failure. */
int report_line_costs(const struct report *report, struct line_costs *costs, struct error *err);

int report_print_lines(const struct report *report, struct error *err);

/* The hottest lines of all files. The same. */
int report_list_hot_lines(const struct report *report, struct hot_lines *hot, struct error *err);
int report_print_hot_lines(const struct report *report, struct error *err);

/* The source file of a func that has one. */
const char *report_source_file(const struct report *report, uint32_t func);
