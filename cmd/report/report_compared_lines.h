/*
 * The reports of source lines in a comparison.
 */
#pragma once

#include "cmd/report/report.h"

struct compared_line {
    uint32_t func, line; /* like the fields of struct hot_line */
    double self[PROFILE_SIDES];
};

struct report_compared_lines {
    ARRAY(struct compared_line)
    rows;                        /* sorted by change, the largest first; the caller frees it, also after a failure */
    double known[PROFILE_SIDES]; /* self time of all lines; the rest of the side's total has no line number */
};

int report_compare_lines(struct report_compared_lines *lines, const struct report *report, struct error *err);
double get_line_change(const struct compared_line *row);
int report_print_compared_lines(const struct report *report, struct error *err);

/* A line of report->source. */
struct compared_file_line {
    uint32_t line; /* 1-based, or 0 (frames of the file without a line) */
    struct side_figures sides[PROFILE_SIDES];
    double total, self; /* the changes */
};

struct report_compared_file {
    ARRAY(struct compared_file_line) lines; /* sorted by line; the caller frees it, also after a failure */
    struct compared_file_line all;          /* the whole file, in which each sample counts once */
};

int report_compare_file(struct report_compared_file *file, const struct report *report, struct error *err);
int report_print_compared_file(const struct report *report, struct error *err);
