/*
 * The report of a function's machine code.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

int report_print_annotation(const struct report *report, struct error *err);

/* Writes the members "annotated" and "symbols" of the JSON report. */
int report_write_annotation(struct json_writer *json, const struct report *report, struct error *err);
