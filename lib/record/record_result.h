/*
 * The result of a recording: its end, its counts, and notes about missing data.
 */
#pragma once

#include "base/error.h"
#include "process/cpu_limit.h"
#include "sample/event_list.h"
#include "sample/perf_event_set.h"
#include "unwind/unwind.h"

#include <sys/types.h>

enum record_end {
    RECORD_TARGET_ENDED, /* the command, or all processes of options.pids, have ended */
    RECORD_TIME_UP,      /* the duration is over */
    RECORD_STOPPED, /* ended by SIGTERM, SIGHUP, or the second SIGINT (without a command, the first): result.signal */
    RECORD_SPOOL_FULL,         /* the spool could not be written (result.problem); the target has run to its end */
    RECORD_SIZE_REACHED,       /* the spool reached control.max_size; the target has run to its end */
    RECORD_STOPPED_BY_CONTROL, /* prof ctl stop */
};

/* Counts of one sampled event. */
struct record_event {
    uint64_t count;              /* occurrences, sampled or not, or 0 if unknown */
    uint64_t samples, truncated; /* truncated: samples whose stack does not reach the thread's start */
    uint64_t lost;               /* samples lost because the ring was full, or 0 if the kernel does not report them */
    uint64_t throttled; /* number of times that the kernel throttled the event because sampling took too long */
};

struct record_result {
    bool launch_failed; /* the only failure: the command could not be run */
    enum record_end end;
    int signal;
    struct error problem;
    uint64_t stopped; /* ns of CLOCK_MONOTONIC: end of the recorded time, or 0 (the recording failed before sampling) */

    bool has_target; /* the user gave a command or processes */
    pid_t pid;       /* of the command */
    bool target_ended;
    int target_status; /* exit status from waitpid(), if a command ended */

    uint64_t samples, lost;
    uint64_t left_out;                         /* samples of threads that options.thread_names excludes */
    uint64_t truncated;                        /* samples whose stack does not reach the thread's start */
    uint64_t truncated_by_reason[UNWIND_ENDS]; /* truncated samples by reason */
    uint64_t completed_by_libunwind;           /* samples whose stack libunwind walked in the thread */
    uint64_t python_samples;                   /* samples with CPython in their stack */
    uint64_t python_read;                      /* samples with Python frames */
    uint64_t
        python_late; /* samples without Python frames, because the thread ran before the recorder could read them */
    uint64_t waits;  /* stored */
    uint64_t waits_truncated;     /* stored waits whose stack does not reach the thread's start */
    uint64_t waits_without_stack; /* stored waits without a stack, except preemptions */
    uint64_t check_interval;      /* ns: with ptrace, longest time between two checks of a thread (shorter waits may
                                   * be merged), else 0 */
    struct record_event events[EVENTS_MAX]; /* counts of sampled events, in the order of options.events */
    uint64_t throttled;                     /* number of times that the kernel throttled the CPU clock */
    uint64_t cpu_time;                      /* ns of CPU time of the target and its children, or 0 if unknown */
    uint64_t target_cpu;   /* ns of CPU time in the target's resource usage, including children that it waited for */
    uint64_t recorder_cpu; /* ns */
    uint64_t survivors;    /* number of processes that outlive the target */
    struct cpu_limit_counts cpu_limit;      /* counts of the target's cgroup during the recording */
    char survivor_names[256];               /* names of some of these processes */
    char notes[PERF_NOTES][PERF_NOTE_SIZE]; /* notes about limits of this recording, one sentence each */
    size_t note_count;
    char
        limits[1024]; /* sentences about processes that have reached a limit of the recorder (excess.h); may be empty */

    int rest_fd; /* memory file with the blocks that a full disk refused, owned by the caller, or -1 for none */
};

/* Adds a sentence to result.notes. */
void record_result_add_note(struct record_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
