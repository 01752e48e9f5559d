/*
 * The attributes of the perf events of perf_events.h, with the features that this system has.
 */
#pragma once

#include "base/error.h"
#include "sample/perf_events.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

/* What an event counts: a thread, every thread (-1), or the processes of a cgroup. */
struct perf_whom {
    pid_t pid; /* or the descriptor of the cgroup */
    bool is_cgroup;
};

static const struct perf_whom perf_whom_all = {.pid = -1};

/* Opens an event on a CPU, or on any (-1). Returns its descriptor or a negative errno value. */
int perf_attr_open(struct perf_event_attr *attr, struct perf_whom whom, int cpu);

/* Drops features until an event opens, and leaves the supported ones in `events`, whose CPUs, sizes and options are
 * there. Returns the last error if none opens. */
int perf_attr_find_supported(struct perf_events *events);

/* If a seccomp filter of this process is why perf_event_open() failed with `code`, sets the sentence that names it and
 * what permits the call, and returns the error; else 0. No setting of the kernel helps against a filter. */
int perf_attr_filtered(int code, struct error *err);

/* The sentence for that error: what was refused, and which setting permits it. Returns it. */
int perf_attr_refused(const struct perf_events *events, int code, struct error *err);

/* Of the event that samples CPU time; of one that tells of processes and mappings, and never samples; and the first,
 * unless no CPU time is to be sampled. */
struct perf_event_attr perf_attr_clock(const struct perf_events *events);
struct perf_event_attr perf_attr_sideband(const struct perf_events *events);
struct perf_event_attr perf_attr_sampling(const struct perf_events *events);
