/*
 * Selects the targets of a recording: adds what already runs at the start, and excludes records.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "process/attach.h"
#include "record/recording.h"

#include <stdbool.h>
#include <sys/types.h>

/* Starts to sample the whole system or options.cgroup. Reads the names of all processes and threads; their mappings are
 * read at their first sample. */
int whom_sample_system(struct recording *recording, struct error *err);

/* Adds running threads with their names to the tracker. */
int whom_track_threads(struct recording *recording, pid_t pid, const struct tid_array *tids, struct error *err);

/* False for ignored records: samples of the idle task, and with options.no_inherit the starts of child processes, whose
 * end the recorder would never see. */
bool whom_is_recorded(const struct recording *recording, const struct perf_record *record);
