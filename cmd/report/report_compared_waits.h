/*
 * The report of the waits of a comparison.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

int report_print_compared_waits(const struct report *report, struct error *err);
int report_write_compared_waits(struct json_writer *json, const struct report *report, struct error *err);
