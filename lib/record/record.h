/*
 * Recording: runs a command, or takes processes that run already, samples them and their children until they end, and
 * writes a spool file with all that a profile needs (spool.h, info.h). Or samples the whole system, or a cgroup. With
 * perf events the recorder never stops the target; where they are refused, ptrace takes their place (ptrace_sampler.h).
 *
 * Threads: record_command() runs the recording on the thread that calls it, the recorder thread. With ptrace this is a
 * thread of its own, which the caller waits for.
 */
#pragma once

#include "base/error.h"
#include "record/control.h"
#include "record/environment.h"
#include "process/open_files.h"
#include "sample/perf_events.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum record_sampler {
    RECORD_BY_ANY, /* perf events where they are permitted, else ptrace */
    RECORD_BY_PERF,
    RECORD_BY_PTRACE, /* not with `all` */
};

struct record_options {
    enum record_sampler sampler;
    char *const *argv; /* the command, NULL at the end; found as execvp() does. NULL: processes that run */
    const pid_t *pids; /* these processes, if there is no command */
    size_t pid_count;
    bool all;                        /* all processes of the system; a command then tells how long */
    const char *cgroup;              /* with `all`: only the processes of this one; NULL */
    bool no_inherit;                 /* not the child processes */
    bool follow_daemons;             /* until the children that outlive the command or `pids` have ended, too */
    const struct cpu_list *cpus;     /* only what runs on these; NULL: all */
    const char *const *thread_names; /* only threads with a name that matches one of these (thread_filter.h) */
    size_t thread_name_count;        /* 0: all threads */
    void (*attached)(void *context); /* called when what runs already is sampled */
    void *context;
    uint32_t rate;                   /* samples per second of CPU time of each thread */
    uint64_t duration;               /* ns after which to stop; 0: when the command ends */
    const char *spool_path;          /* of the file to be made */
    const char *recorder;            /* "prof 0.1.0", for the profile */
    const sigset_t *target_mask;     /* signals that are blocked in the command */
    bool off_cpu;                    /* record waits as well (waits.h) */
    bool wakers;                     /* and who ends them (wakeups.h) */
    bool no_cpu_samples;             /* only those: CPU time is counted, and not sampled */
    const struct event_list *events; /* sample these beside the clock, by perf events; NULL: none */
    uint32_t counters;               /* bits by enum counter_group (counters.h): what is counted beside the samples */
    bool python;                     /* read the frames of Python code (python_frames.h) */
    bool output_to_error;            /* the command's standard output is the standard error */
    struct environment_options environment; /* what is saved of the machine and of how prof was called */
    struct open_files *files;               /* filled in, the caller's; NULL: mapped files are not kept open */
    struct control_options control;
};

enum record_end {
    RECORD_TARGET_ENDED,       /* or all processes of options.pids */
    RECORD_TIME_UP,            /* the duration */
    RECORD_STOPPED,            /* by a second SIGINT (without a command, the first), SIGTERM or SIGHUP: result.signal */
    RECORD_SPOOL_FULL,         /* the spool could not be written (result.problem); the target then ran to its end */
    RECORD_SIZE_REACHED,       /* control.max_size; the target then ran to its end */
    RECORD_STOPPED_BY_CONTROL, /* prof ctl stop */
};

/* What became of an event that was sampled. */
struct record_event {
    uint64_t count;              /* how often it happened, sampled or not; 0 unknown */
    uint64_t samples, truncated; /* and those of them whose stack does not reach the thread's start */
    uint64_t lost;               /* samples that had no room; 0 if the kernel does not say */
    uint64_t throttled;          /* how often the kernel stopped sampling it for a moment, because it took too long */
};

struct record_result {
    bool launch_failed; /* of a failure: the command could not be run, all else was well */
    enum record_end end;
    int signal;
    struct error problem;
    uint64_t stopped; /* ns of CLOCK_MONOTONIC: up to then it is told what threads did; 0: it failed before */

    bool has_target; /* a command, or processes that were named */
    pid_t pid;       /* of the command */
    bool target_ended;
    int target_status; /* as of waitpid(), if a command ended */

    uint64_t samples, lost;
    uint64_t left_out;                      /* samples of threads that options.thread_names leaves out */
    uint64_t truncated;                     /* samples whose stack does not reach the thread's start */
    uint64_t completed_by_libunwind;        /* samples whose stack is the one that libunwind found in the thread */
    uint64_t python_samples;                /* whose stack passes through CPython ... */
    uint64_t python_read;                   /* ... and has its Python frames */
    uint64_t python_late;                   /* the others: those whose thread ran on before they could be read */
    uint64_t waits;                         /* stored */
    uint64_t waits_truncated;               /* those whose stack does not reach the thread's start */
    uint64_t waits_without_stack;           /* those without any, preemptions left out */
    uint64_t look_interval;                 /* ns: where looks find the waits, shorter ones may be told as one; 0 */
    struct record_event events[EVENTS_MAX]; /* of options.events, in their order */
    uint64_t throttled;                     /* as of events, of the clock */
    uint64_t cpu_time;                      /* ns that the target and its children used; 0 unknown */
    uint64_t target_cpu;                    /* ns that the kernel says the target and the children it waited for used */
    uint64_t recorder_cpu;                  /* ns */
    uint64_t survivors;                     /* processes that run on although the target has ended */
    char survivor_names[256];               /* some of them */
    char notes[PERF_NOTES][PERF_NOTE_SIZE]; /* what was not granted, a sentence each */
    size_t note_count;

    int rest_fd; /* a file in memory with the end of the spool, for which the disk had no room, the caller's; -1: none
                  */
};

/* The signals that record_command() takes in: SIGCHLD, SIGUSR1 and SIGUSR2 (control.h), and SIGINT, SIGTERM, SIGHUP as
 * far as they are not ignored (nohup, background jobs). The caller has them blocked, and does with those that come
 * later what it likes. */
void record_signals(sigset_t *signals);

/*
 * Launches and records. Signals meanwhile:
 *
 * - SIGINT from the terminal has reached the target as well, and recording goes on until that ends; one that was sent
 * to the recorder alone is passed on. A second SIGINT ends the recording.
 * - SIGTERM and SIGHUP end it at once.
 *
 * When a recording ends before its target (these signals, the duration), the target is sent SIGTERM, as perf does: it
 * was started to be recorded. Children that outlive the target are not waited for, unless options.follow_daemons is
 * set; then SIGINT ends the recording once only they are left.
 *
 * Processes that ran before go on when their recording ends, and SIGINT ends it. So does it that of the whole system
 * without a command.
 *
 * Returns 0 if there is a spool, however the recording ended. Negative: there is none (any that was begun is removed),
 * with the sentence in `err` and the target not run, or killed at its first instruction.
 */
int record_command(const struct record_options *options, struct record_result *result, struct error *err);
