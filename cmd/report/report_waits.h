/*
 * The report of waits.
 */
#pragma once

#include "cmd/report/report.h"
#include "tree/wait_groups.h"

struct json_writer;

/* Reads the argument of --waits. Returns an exit status, after a message if it is not 0. */
int report_choose_waits(struct report *report);

/* Returns an exit status, after a message if the profile has no wakers. */
int report_require_wakers(const struct report *report);

/* Returns the argument of --waits for a grouping. */
const char *report_wait_grouping_name(enum wait_grouping grouping);

int report_print_waits(const struct report *report, struct error *err);
int report_write_waits(struct json_writer *json, const struct report *report, struct error *err);

/* If the threads waited nearly all the time, writes a hint at --off-cpu and --waits to a buffer of REPORT_LINE_SIZE
 * bytes; otherwise "". `totals`: the result of engine_bottleneck_groups(). */
void report_describe_waiting(const struct report *report, const struct wait_totals *totals, char *text);
