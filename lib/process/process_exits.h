/*
 * How processes end that prof did not start: their exit status, which the kernel gives to their parents only.
 *
 * The kernel's process connector (linux/cn_proc.h) reports every end on the machine to root; a filter in the kernel
 * passes only whole processes. An end comes a moment after its EXIT record, and rings are read some 40 ms late. So
 * ends and messages wait for one another here, and are matched about each second. Without the connector,
 * /proc/PID/stat has the status until the parent has waited for the process: for most processes that is too short, and
 * their status stays unknown.
 *
 * The status of a process whose first thread ended before the others is that of this thread.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PROCESS_EXITS_MAX = 8192,  /* ends, and messages, that wait at a time */
    PROCESS_EXITS_READS = 4000 /* of /proc/PID/stat in a recording: a profile shows fewer processes */
};

struct process_exit_message {
    uint32_t pid;
    int status;    /* as of wait(2) */
    uint64_t time; /* ns, CLOCK_MONOTONIC */
};

struct process_exits {
    int fd; /* -1: there is no connector */
    uint32_t reads;
    ARRAY(uint32_t) ended; /* pids whose status is not known yet */
    ARRAY(struct process_exit_message) messages;
    size_t old_ended, old_messages; /* of these, the first ones found no match the last time */
};

#define PROCESS_EXITS_NONE ((struct process_exits){.fd = -1})

/* Opens the connector, where that is allowed. Not in a pid namespace, whose numbers are others. */
void process_exits_open(struct process_exits *exits);
void process_exits_close(struct process_exits *exits);

/* Notes that a process has ended. True: its status is known at once. */
bool process_exits_note_end(struct process_exits *exits, uint32_t pid, int *status);

/* Reads the messages that have come. */
void process_exits_read(struct process_exits *exits);

/* Calls `take` with each message of a process that has ended. What had no match twice is dropped. */
void process_exits_match(struct process_exits *exits,
                         void (*take)(void *context, const struct process_exit_message *message), void *context);

/* What a message of the connector says; false: it is no end of a process, or damaged. */
bool process_exits_parse(const void *bytes, size_t size, struct process_exit_message *message);
