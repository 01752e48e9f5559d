/*
 * Finds the exit status of processes that prof did not start: the kernel reports it only to their parents.
 *
 * The kernel's process connector (linux/cn_proc.h) reports every exit on the machine to root; a socket filter passes
 * only whole processes. A message comes a moment after its EXIT record, and the recorder reads rings up to 40 ms late.
 * So this file queues exits and messages, and matches them about once a second. Without the connector, /proc/PID/stat
 * has the status until the parent has waited for the process: for most processes this time is too short, and their
 * status stays unknown.
 *
 * If the first thread of a process ends before the others, its status counts as the status of the process.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"

enum {
    PROCESS_EXITS_MAX = 8192,  /* limit of queued exits, and of queued messages */
    PROCESS_EXITS_READS = 4000 /* limit of reads of /proc/PID/stat per recording, above the number of processes that
                                * a profile shows */
};

struct process_exit_message {
    uint32_t pid;
    int status;    /* as in wait(2) */
    uint64_t time; /* ns, CLOCK_MONOTONIC */
};

struct process_exits {
    int fd; /* -1: no connector */
    uint32_t reads;
    ARRAY(uint32_t) ended; /* pids of unknown status */
    ARRAY(struct process_exit_message) messages;
    size_t old_ended, old_messages; /* number of entries at the front that the last call did not match */
};

#define PROCESS_EXITS_NONE ((struct process_exits){.fd = -1})

/* Opens the connector if the kernel permits it, but not in a pid namespace, because its messages have other pids. */
void process_exits_open(struct process_exits *exits);
void process_exits_close(struct process_exits *exits);

/* Adds the end of a process. Returns true with *status if the status is already known. */
bool process_exits_add_end(struct process_exits *exits, uint32_t pid, int *status);

/* Reads pending messages. */
void process_exits_read(struct process_exits *exits);

/* Calls `take` with each message of an ended process. Drops entries without a match in two calls. */
void process_exits_match(struct process_exits *exits,
                         void (*take)(void *context, const struct process_exit_message *message), void *context);

/* Parses a message of the connector. False if the message is not a process exit, or is damaged. */
bool process_exits_parse(const void *bytes, size_t size, struct process_exit_message *message);
