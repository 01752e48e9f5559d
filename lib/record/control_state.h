/*
 * The state of control.c in a running recording.
 */
#pragma once

#include "base/array.h"
#include "record/pauses.h"

#include <sys/types.h>

struct control_socket;

/* A member of struct recording. Starts zeroed, except the descriptors. */
struct control {
    struct control_socket *socket; /* NULL if none */
    bool paused, delayed;          /* delayed: the delay before the recording is not over */
    struct pauses pauses;
    uint64_t paused_cpu_time;    /* ns of CPU time in pauses */
    uint64_t cpu_time_before;    /* ns: the threads' CPU time at the start of the current pause */
    pid_t snapshot_pid;          /* pid of the child that makes a snapshot, or 0 for none */
    bool snapshot_wanted;        /* a signal requested another snapshot */
    ARRAY(int) snapshot_clients; /* connections that wait for the next snapshot; owned */
    bool said_full;              /* the user was notified that the disk is full */
};
