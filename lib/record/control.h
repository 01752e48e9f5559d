/*
 * What can be asked of a recording while it runs: to pause and to go on, to mark a moment, to make a profile of what
 * there is so far (a snapshot), to end. By `prof ctl` over a socket (control_socket.h), by signals (SIGUSR1: snapshot;
 * SIGUSR2: pause or go on), and by options, at a time or a size.
 *
 * While a recording is paused, the kernel goes on to take samples and the tracker to follow processes and mappings, so
 * that the recording can go on at once; samples are dropped before their stacks are walked. The pause is an event of
 * the spool.
 *
 * A snapshot is made by a forked child of low priority. It has all that the recorder has: the mapped files that are
 * open, the files of JIT compilers.
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
    uint64_t delay;           /* ns from the start that are not recorded; 0: none */
    struct spool_bounds keep; /* only the newest samples */
    uint64_t max_size;        /* bytes of the spool at which the recording ends; 0: any */
    uint32_t iterations;      /* how often the command is run, one after the other; 0 is 1 */
    bool has_socket;

    /* Tells the user what happens, in a sentence. NULL: nobody. */
    void (*notice)(void *context, const char *sentence);

    /* Makes a profile of the spool as it is, in a child that ends after it. Fills in a sentence about it; false if
     * there is none. NULL: no snapshots. */
    bool (*snapshot)(void *context, char *answer, size_t size);
    void *context;
};

/* A part of struct recording; zeroed at the start, but for the descriptors. */
struct control {
    struct control_socket *socket; /* NULL: none */
    bool paused, delayed;          /* delayed: until options.delay is over */
    struct control_pause {
        uint64_t start, end; /* ns; end UINT64_MAX: it goes on */
    } last_pause, pause_before;
    uint64_t paused_cpu_time;    /* ns of CPU time in pauses */
    uint64_t cpu_time_before;    /* of the running pause: the threads' CPU time at its start */
    pid_t snapshot_pid;          /* of the child that makes one; 0: none */
    bool snapshot_wanted;        /* another one after it, by a signal */
    ARRAY(int) snapshot_clients; /* that asked for one meanwhile, and share it; own descriptors of their connections */
    bool said_full;              /* that the disk is full */
    uint32_t runs;               /* of the command so far */
};

/* Opens the socket and starts the first pause, if there is to be one. A socket that cannot be had is none. */
int control_start(struct recording *recording, struct error *err);

/* Serves the socket; `fd` is one that epoll has reported. */
int control_take(struct recording *recording, int fd, struct error *err);

/* Takes SIGUSR1, SIGUSR2 and what SIGCHLD says of snapshots. */
int control_take_signal(struct recording *recording, int signal, struct error *err);

/* What is due at `now`: the end of the delay, the size; what is to be said. */
int control_keep_time(struct recording *recording, uint64_t now, struct error *err);

/* The next moment at which control_keep_time() has something to do; UINT64_MAX: none. */
uint64_t control_deadline(const struct recording *recording);

/* Whether the recording was paused at that time (ns), which is not before that of the last sample by much. */
bool control_was_paused(const struct recording *recording, uint64_t time);

/* A request of control_socket.c; fills in what to answer. A snapshot answers later, on `client`; what asks for one
 * while another is made, gets the next. */
int control_pause(struct recording *recording, struct error *err);
int control_resume(struct recording *recording, struct error *err);
int control_mark(struct recording *recording, const char *text, struct error *err);
bool control_snapshot(struct recording *recording, int client, char *answer, size_t size);

/* Notes that a run of the command begins. */
int control_note_run(struct recording *recording, struct error *err);

/* Ends a pause, closes the socket. */
void control_stop(struct recording *recording);

/* Waits for the snapshot that is being made. */
void control_wait(struct recording *recording);
