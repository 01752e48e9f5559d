/*
 * The attributes of the perf events of perf_events.h, with the features that this system supports.
 */
#pragma once

#include "base/error.h"
#include "sample/perf_event_set.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* The target of an event: a thread, every thread (-1), or the processes of a cgroup. */
struct perf_target {
    pid_t pid; /* a tid, or the descriptor of the cgroup */
    bool is_cgroup;
};

static const struct perf_target perf_target_all = {.pid = -1};

/* Opens an event on a CPU, or on any (-1). Returns a descriptor or a negative errno value. */
int perf_attr_open(struct perf_event_attr *attr, struct perf_target target, int cpu);

/* Drops features until an event opens, and stores the supported features in `events`, whose CPUs, sizes and options are
 * set. Returns the last error if none opens. */
int perf_attr_find_supported(struct perf_events *events);

/* Returns `code` with a sentence: what the kernel refused, and which setting permits it. */
int perf_attr_explain_refusal(const struct perf_events *events, int code, struct error *err);

/* Return the attributes of events. The clock samples CPU time. The sideband event reports processes and mappings
 * without samples. perf_attr_make_sampling() returns the clock, or the sideband event if CPU time is not sampled. */
struct perf_event_attr perf_attr_make_clock(const struct perf_events *events);
struct perf_event_attr perf_attr_make_sideband(const struct perf_events *events);
struct perf_event_attr perf_attr_make_sampling(const struct perf_events *events);
