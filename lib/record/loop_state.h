/*
 * The state of recording_loop.c in a running recording.
 */
#pragma once

#include "os/scheduling.h"
#include "sample/cpu_pin.h"

/* The recorder thread: its CPU, and its scheduling policy before the recording. */
struct recorder_thread {
    struct cpu_pin pin;
    struct scheduling_policy policy;
};

/* A member of struct recording. */
struct recording_loop {
    int epoll_fd, signal_fd;      /* -1: not open */
    uint64_t started, next_flush; /* ns */
    bool ending;                  /* result.end has the reason */
    bool follows;                 /* the target has ended, and the recording of its children continues */
    bool was_run;                 /* the spool exists, and the target has started */
    struct recorder_thread thread;
};

#define RECORDING_LOOP_NONE                                                                                            \
    {                                                                                                                  \
        .epoll_fd = -1, .signal_fd = -1                                                                                \
    }
