/*
 * The line of a report's header about the threads that the main thread waits for.
 */
#pragma once

#include "cmd/report/report.h"

/* Appends a hint at --critical-path to `text`, if the first of the selected threads waited mostly for other threads.
 * `text` stays empty otherwise. */
int report_describe_bottleneck(const struct report *report, struct text_buffer *text, struct error *err);
