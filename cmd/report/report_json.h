/*
 * A report as JSON.
 */
#pragma once

#include "cmd/report/report.h"

int report_print_json(const struct report *report, struct error *err);
