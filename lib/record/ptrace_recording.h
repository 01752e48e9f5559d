/*
 * The recording loop of the ptrace tier: what takes the place of perf_recording.h where perf events are refused.
 *
 * Threads: everything between ptrace_recording_open() and the end happens on the one thread that
 * ptrace_recording_on_a_thread() makes. When it ends, the kernel detaches from all threads that it traces.
 */
#pragma once

#include "base/error.h"
#include "record/metadata.h"
#include "record/recording.h"

#include <sys/types.h>

/* Runs `record` on a thread of its own, and waits for it to end. Returns what it returns. */
int ptrace_recording_on_a_thread(struct recording *recording, int (*record)(struct recording *, struct error *),
                                 struct error *err);

/* Creates recording->sampler; the note says why it is this tier. */
int ptrace_recording_open(struct recording *recording, struct error *err);

/* Sets the event, the tier and the size of stacks. */
void ptrace_recording_describe(struct metadata_start *start);

/* Traces the command, which is about to call exec. */
int ptrace_recording_add_command(struct recording *recording, struct error *err);

/* Traces a thread that runs already. -ESRCH if it has ended, or will be told of as a new thread of one that is traced.
 */
int ptrace_recording_add(struct recording *recording, pid_t pid, pid_t tid, struct error *err);

/* Records until the recording ends. Threads are still traced after it. */
int ptrace_recording_until_end(struct recording *recording, struct error *err);
