/*
 * Records a command or running processes with their children until they end, or the whole system, or a cgroup. Writes a
 * spool file with all data for a profile (spool.h, info.h). With perf events the recorder never stops the target; where
 * the kernel refuses perf events, it uses ptrace (ptrace_sampler.h).
 *
 * Threads: record_command() records on the calling thread, the recorder thread. With ptrace, record_command() starts a
 * recorder thread and waits for its end.
 */
#pragma once

#include "base/error.h"
#include "record/record_options.h"
#include "record/record_result.h"

#include <signal.h>

/* Fills `signals` with the signals that record_command() handles (SIGCHLD, SIGUSR1 and SIGUSR2 of control.h, and
 * SIGINT, SIGTERM, SIGHUP unless nohup or a background job ignores them). The caller blocks these signals before the
 * recording, and handles signals that arrive after the recording. */
void list_recorder_signals(sigset_t *signals);

/*
 * Launches the command and records. Signals during the recording:
 *
 * - The terminal also sends SIGINT to the target, and the recording continues until the target ends. The recorder
 *   forwards a SIGINT that only it received. A second SIGINT ends the recording.
 * - SIGTERM and SIGHUP end the recording at once.
 *
 * When a recording ends before its target (by these signals or the duration), the recorder sends SIGTERM to the target,
 * as perf does. With options.follow_daemons, the recorder waits for children that outlive the target; SIGINT then ends
 * the recording.
 *
 * Without a command (running processes, the whole system), SIGINT ends the recording, and the processes continue.
 *
 * Returns 0 if the spool is valid, however the recording ended. On failure returns a negative code with a sentence in
 * `err`, and removes the spool; the target did not run, or was killed at its first instruction.
 */
int record_command(const struct record_options *options, struct record_result *result, struct error *err);
