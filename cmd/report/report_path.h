/*
 * The report of the critical path.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

/* Chooses the thread at which the path ends, and the range of --marker. Returns an exit status, after a message if it
 * is not 0. */
int report_choose_path(struct report *report);

/* Finds the path, and has the tree count it. Call it after the query of the engine. */
int report_find_path(struct report *report, struct error *err);

int report_print_path(const struct report *report, struct error *err);
int report_write_path(struct json_writer *json, const struct report *report, struct error *err);
