/*
 * The report of waits.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

/* Reads the argument of --waits. Returns an exit status, after a message if it is not 0. */
int report_choose_waits(struct report *report);

/* Returns an exit status, after a message if the profile has no wakers. */
int report_require_wakers(const struct report *report);

/* Returns the argument of --waits for a grouping. */
const char *report_wait_grouping_name(enum wait_grouping grouping);

int report_print_waits(const struct report *report, struct error *err);
int report_write_waits(struct json_writer *json, const struct report *report, struct error *err);

/* If the report counts CPU time and the threads waited nearly all the time, writes a hint at --off-cpu and --waits to a
 * buffer of REPORT_LINE_SIZE bytes; otherwise "". */
int report_describe_waiting(const struct report *report, char *text, struct error *err);
