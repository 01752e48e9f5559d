/*
 * Controls a running recording: pauses and resumes it, marks a moment, writes a profile of the data so far (a
 * snapshot), stops it. Requests come from `prof ctl` over a socket (control_socket.h), from signals (SIGUSR1: snapshot;
 * SIGUSR2: pause or resume), and from options, at a time or a size.
 *
 * During a pause, the kernel still takes samples, and the tracker still follows processes and mappings, so that the
 * recording resumes at once. The recorder drops the samples before it walks their stacks. The spool has an event for
 * each pause.
 *
 * A forked child of low priority makes a snapshot. It inherits the recorder's open files: mapped files and the files of
 * JIT compilers.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct recording;

/* Opens the socket, and starts the first pause if the options ask for one. Continues without a socket if it cannot be
 * opened. */
int control_start(struct recording *recording, struct error *err);

/* Serves the socket. `fd`: as epoll reported it. */
int control_take(struct recording *recording, int fd, struct error *err);

/* Handles SIGUSR1, SIGUSR2, and SIGCHLD of a snapshot's child. */
int control_take_signal(struct recording *recording, int signal, struct error *err);

/* Does what is due at `now` (ns): ends the delay, checks the size, prints notices. */
int control_keep_time(struct recording *recording, uint64_t now, struct error *err);

/* Time (ns) of the next call to control_keep_time(); UINT64_MAX: none. */
uint64_t control_deadline(const struct recording *recording);

/* Notes in the spool that a run of the command begins. */
int control_note_run(struct recording *recording, struct error *err);

/* Ends a pause, closes the socket. */
void control_stop(struct recording *recording);

/* Waits for the current snapshot to end. */
void control_wait(struct recording *recording);
