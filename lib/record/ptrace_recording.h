/*
 * The recording loop of the ptrace tier. Replaces perf_recording.h where the kernel refuses perf events.
 *
 * Threads: ptrace_recording_on_a_thread() starts one thread, which calls all other functions. When it ends, the kernel
 * detaches from the threads that it traces.
 */
#pragma once

#include "base/error.h"
#include "record/metadata.h"
#include "record/recording.h"

#include <sys/types.h>

/* Runs `record` on a new thread, waits for it, and returns its result. */
int ptrace_recording_on_a_thread(struct recording *recording, int (*record)(struct recording *, struct error *),
                                 struct error *err);

/* Creates recording->sampler, and adds a note with the reason for this tier. */
int ptrace_recording_open(struct recording *recording, struct error *err);

/* Sets the event, the tier and the size of stacks. */
void ptrace_recording_describe(struct metadata_start *start);

/* Traces the command, which is about to call exec. */
int ptrace_recording_add_command(struct recording *recording, struct error *err);

/* Traces a running thread. -ESRCH if it has ended, or if the kernel will report it as a new thread of a traced one. */
int ptrace_recording_add(struct recording *recording, pid_t pid, pid_t tid, struct error *err);

/* Records until the recording ends. Threads remain traced. */
int ptrace_recording_until_end(struct recording *recording, struct error *err);
