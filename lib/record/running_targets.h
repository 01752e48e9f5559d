/*
 * Adds running processes to a recording that starts.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "record/recording.h"

#include <sys/types.h>

/* Starts to sample the whole system or options.cgroup. Reads the names of all processes and threads; their mappings are
 * read at their first sample. */
int running_targets_add_all(struct recording *recording, struct error *err);

/* Starts to sample a process. `clock` is the process's CPU clock (ns) at the start of the recording. No sample
 * covers the CPU time that threads use before prof samples the threads. */
int running_targets_add(struct recording *recording, pid_t pid, uint64_t clock, struct error *err);
