/*
 * What became of a recording.
 */
#pragma once

#include "base/error.h"
#include "sample/event_list.h"
#include "sample/perf_event_set.h"
#include "unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum record_end {
    RECORD_TARGET_ENDED,       /* the command or all processes of options.pids ended */
    RECORD_TIME_UP,            /* the duration */
    RECORD_STOPPED,            /* by a second SIGINT (without a command, the first), SIGTERM or SIGHUP: result.signal */
    RECORD_SPOOL_FULL,         /* the spool could not be written (result.problem); the target ran to its end */
    RECORD_SIZE_REACHED,       /* at control.max_size; the target ran to its end */
    RECORD_STOPPED_BY_CONTROL, /* prof ctl stop */
};

/* Counts of one sampled event. */
struct record_event {
    uint64_t count;              /* occurrences, sampled or not; 0: unknown */
    uint64_t samples, truncated; /* truncated: samples whose stack does not reach the thread's start */
    uint64_t lost;               /* samples lost because the ring was full; 0 if the kernel does not report them */
    uint64_t throttled;          /* pauses by the kernel because sampling took too long */
};

struct record_result {
    bool launch_failed; /* the only failure: the command could not be run */
    enum record_end end;
    int signal;
    struct error problem;
    uint64_t stopped; /* ns of CLOCK_MONOTONIC: end of the recorded time; 0: it failed before */

    bool has_target; /* the user gave a command or processes */
    pid_t pid;       /* of the command */
    bool target_ended;
    int target_status; /* as of waitpid(), if a command ended */

    uint64_t samples, lost;
    uint64_t left_out;                         /* samples of threads that options.thread_names excludes */
    uint64_t truncated;                        /* samples whose stack does not reach the thread's start */
    uint64_t truncated_by_reason[UNWIND_ENDS]; /* of these */
    uint64_t completed_by_libunwind;           /* samples whose stack libunwind walked in the thread */
    uint64_t python_samples;                   /* samples with CPython in their stack ... */
    uint64_t python_read;                      /* ... those with Python frames */
    uint64_t python_late;         /* ... those whose thread ran before the recorder could read the frames */
    uint64_t waits;               /* stored */
    uint64_t waits_truncated;     /* stored waits whose stack does not reach the thread's start */
    uint64_t waits_without_stack; /* stored waits without a stack, except preemptions */
    uint64_t look_interval;       /* ns: of the ptrace tier, which may merge waits shorter than this; else 0 */
    struct record_event events[EVENTS_MAX]; /* in the order of options.events */
    uint64_t throttled;                     /* as record_event.throttled, of the CPU clock */
    uint64_t cpu_time;                      /* ns of the target and its children; 0: unknown */
    uint64_t target_cpu;      /* ns of the target and the children that it waited for, as the kernel counts */
    uint64_t recorder_cpu;    /* ns */
    uint64_t survivors;       /* processes that outlive the target */
    char survivor_names[256]; /* some of them */
    char notes[PERF_NOTES][PERF_NOTE_SIZE]; /* limits of this recording, one sentence each */
    size_t note_count;
    char limits[1024]; /* processes that have reached a limit of the recorder (excess.h), as sentences; may be empty */

    int rest_fd; /* memory file with the rest of the spool if the disk is full, owned by the caller; -1: none */
};

/* Adds a sentence to result.notes. */
void record_result_add_note(struct record_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
