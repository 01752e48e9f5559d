/*
 * Whom a recording is of: what runs already when it begins, and what is left out.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "process/attach.h"
#include "record/recording.h"

#include <stdbool.h>
#include <sys/types.h>

/* Samples the whole system, or options.cgroup, from now on. Takes in the names of all processes and threads; their
 * mappings are read when they are sampled. */
int whom_sample_system(struct recording *recording, struct error *err);

/* Takes in the names of threads that run already. */
int whom_track_threads(struct recording *recording, pid_t pid, const struct tid_array *tids, struct error *err);

/* False for records to be ignored: samples of the idle task, which has no work of its own, and with options.no_inherit
 * the starts of child processes, which would never be seen to end. */
bool whom_is_recorded(const struct recording *recording, const struct perf_record *record);
