/*
 * Whether a seccomp filter, as container runtimes and sandboxes set one, refuses perf_event_open(2).
 */
#pragma once

#include "base/error.h"

/* If a seccomp filter of this process made perf_event_open() fail with `code`, returns the error with a sentence about
 * the filter and the remedy; else 0. No kernel setting removes a filter. */
int perf_filter_explain_refusal(int code, struct error *err);
