/*
 * Controls a running recording: pauses and resumes it, sets marks, writes snapshots (profiles of the data so far), and
 * stops the recording. Requests come from `prof ctl` over a socket (control_socket.h), from signals (SIGUSR1 for a
 * snapshot, SIGUSR2 to pause or resume), and from options with a time or a size.
 *
 * During a pause, the kernel still takes samples, and the tracker still follows processes and mappings, so that the
 * recording resumes at once. The recorder drops samples of a pause before it walks their stacks. The spool has an event
 * for each pause.
 *
 * A forked child of low priority makes a snapshot. The child inherits the recorder's open files: mapped files and the
 * files of JIT compilers.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

struct recording;

/* Opens the socket, and starts the first pause if the options ask for one. On failure to open the socket, the recording
 * continues without it. */
int control_start(struct recording *recording, struct error *err);

/* Serves the socket. `fd`: the descriptor that epoll reported. */
int control_handle_event(struct recording *recording, int fd, struct error *err);

/* Handles SIGUSR1, SIGUSR2, and SIGCHLD of a snapshot's child. */
int control_handle_signal(struct recording *recording, int signal, struct error *err);

/* Runs the actions due at `now` (ns): ends the delay, checks the size, prints notices. */
int control_run_due(struct recording *recording, uint64_t now, struct error *err);

/* Returns the time (ns) of the next due control_run_due(), or UINT64_MAX for none. */
uint64_t control_get_deadline(const struct recording *recording);

/* Writes the start of a run of the command to the spool. */
int control_begin_run(struct recording *recording, struct error *err);

/* Ends a pause, and closes the socket. */
void control_stop(struct recording *recording);

/* Waits for the current snapshot to end. */
void control_wait_for_snapshot(struct recording *recording);
