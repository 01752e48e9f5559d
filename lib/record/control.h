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

#include "base/array.h"
#include "base/error.h"
#include "spool/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct control_socket;
struct recording;

/* A part of struct record_options. */
struct control_options {
    bool paused;              /* from the start */
    uint64_t delay;           /* ns after the start before recording begins; 0: none */
    struct spool_bounds keep; /* keep only the newest samples */
    uint64_t max_size;        /* bytes of the spool at which the recording ends; 0: no limit */
    uint32_t iterations;      /* runs of the command, one after the other; 0 is 1 */
    bool has_socket;

    /* Prints a sentence for the user about a pause or a snapshot. May be NULL. */
    void (*notice)(void *context, const char *sentence);

    /* Writes a profile of the current spool; called in a child that then exits. Fills in a sentence about the result;
     * false if it failed. NULL: no snapshots. */
    bool (*snapshot)(void *context, char *answer, size_t size);
    void *context;
};

/* A part of struct recording. Zeroed at the start, except the descriptors. */
struct control {
    struct control_socket *socket; /* NULL: none */
    bool paused, delayed;          /* delayed: until options.delay is over */
    struct control_pause {
        uint64_t start, end; /* ns; end UINT64_MAX: still paused */
    } last_pause, pause_before;
    uint64_t paused_cpu_time;    /* ns of CPU time in pauses */
    uint64_t cpu_time_before;    /* ns: the threads' CPU time at the start of the current pause */
    pid_t snapshot_pid;          /* of the child that makes a snapshot; 0: none */
    bool snapshot_wanted;        /* a signal requested one more */
    ARRAY(int) snapshot_clients; /* connections that wait for the next snapshot; owned */
    bool said_full;              /* the user knows that the disk is full */
    uint32_t runs;               /* runs of the command so far */
};

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

/* Whether the recording was paused at `time` (ns). Knows the last two pauses. */
bool control_was_paused(const struct recording *recording, uint64_t time);

/* Requests of control_socket.c. control_snapshot() answers later, on `client`; a request during a snapshot gets the
 * next one. */
int control_pause(struct recording *recording, struct error *err);
int control_resume(struct recording *recording, struct error *err);
int control_mark(struct recording *recording, const char *text, struct error *err);
bool control_snapshot(struct recording *recording, int client, char *answer, size_t size);

/* Notes in the spool that a run of the command begins. */
int control_note_run(struct recording *recording, struct error *err);

/* Ends a pause, closes the socket. */
void control_stop(struct recording *recording);

/* Waits for the current snapshot to end. */
void control_wait(struct recording *recording);
