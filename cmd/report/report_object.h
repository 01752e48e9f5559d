/*
 * The report of the waits for one object.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

/* Finds the object with the most waits that has the argument of --waits in its name. Returns an exit status, after a
 * message if it is not 0. */
int report_resolve_object(struct report *report);

int report_print_object(const struct report *report, struct error *err);
int report_write_object(struct json_writer *json, const struct report *report, struct error *err);
