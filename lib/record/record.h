/*
 * Records a command or running processes with their children until they end, or the whole system, or a cgroup. Writes a
 * spool file with all that a profile needs (spool.h, info.h). With perf events the recorder never stops the target;
 * where the kernel refuses them, it uses ptrace (ptrace_sampler.h).
 *
 * Threads: record_command() records on the calling thread, the recorder thread. With ptrace, it starts a recorder
 * thread and waits for it.
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
    RECORD_BY_ANY, /* perf events if permitted, else ptrace */
    RECORD_BY_PERF,
    RECORD_BY_PTRACE, /* not with `all` */
};

struct record_options {
    enum record_sampler sampler;
    char *const *argv; /* the command, NULL at the end, searched as execvp() does; NULL: running processes */
    const pid_t *pids; /* running processes, without a command */
    size_t pid_count;
    bool all;                        /* the whole system, until the command ends if one is given */
    const char *cgroup;              /* with `all`: only its processes; NULL: all */
    bool no_inherit;                 /* do not record child processes */
    bool follow_daemons;             /* continue until children that outlive the command or `pids` end */
    const struct cpu_list *cpus;     /* record only these CPUs; NULL: all */
    const char *const *thread_names; /* record only threads whose name matches (thread_filter.h) */
    size_t thread_name_count;        /* 0: all threads */
    void (*attached)(void *context); /* called when running processes are sampled */
    void *context;
    uint32_t rate;                          /* samples per second of CPU time of each thread */
    uint64_t duration;                      /* ns after which to stop; 0: when the command ends */
    const char *spool_path;                 /* path of the new spool file */
    const char *recorder;                   /* "prof 0.1.0", stored in the profile */
    const sigset_t *target_mask;            /* blocked signals of the command */
    bool off_cpu;                           /* record waits (waits.h) */
    bool wakers;                            /* record the wakers of waits (wakeups.h) */
    bool no_cpu_samples;                    /* record only `events`: count CPU time without samples */
    const struct event_list *events;        /* perf events to sample in addition to CPU time; NULL: none */
    uint32_t counters;                      /* counters to read: bits by enum counter_group (counters.h) */
    bool python;                            /* read the frames of Python code (python_frames.h) */
    bool output_to_error;                   /* redirect the command's standard output to standard error */
    struct environment_options environment; /* metadata to save */
    struct open_files *files;               /* the caller's table of open mapped files, filled in; NULL: none */
    struct control_options control;
};

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
    uint64_t left_out;               /* samples of threads that options.thread_names excludes */
    uint64_t truncated;              /* samples whose stack does not reach the thread's start */
    uint64_t completed_by_libunwind; /* samples whose stack libunwind walked in the thread */
    uint64_t python_samples;         /* samples with CPython in their stack ... */
    uint64_t python_read;            /* ... those with Python frames */
    uint64_t python_late;            /* ... those whose thread ran before the recorder could read the frames */
    uint64_t waits;                  /* stored */
    uint64_t waits_truncated;        /* stored waits whose stack does not reach the thread's start */
    uint64_t waits_without_stack;    /* stored waits without a stack, except preemptions */
    uint64_t look_interval;          /* ns: of the ptrace tier, which may merge waits shorter than this; else 0 */
    struct record_event events[EVENTS_MAX]; /* in the order of options.events */
    uint64_t throttled;                     /* as record_event.throttled, of the CPU clock */
    uint64_t cpu_time;                      /* ns of the target and its children; 0: unknown */
    uint64_t target_cpu;      /* ns of the target and the children that it waited for, as the kernel counts */
    uint64_t recorder_cpu;    /* ns */
    uint64_t survivors;       /* processes that outlive the target */
    char survivor_names[256]; /* some of them */
    char notes[PERF_NOTES][PERF_NOTE_SIZE]; /* limits of this recording, one sentence each */
    size_t note_count;

    int rest_fd; /* memory file with the rest of the spool if the disk is full, owned by the caller; -1: none */
};

/* Sets the signals that record_command() handles: SIGCHLD, SIGUSR1 and SIGUSR2 (control.h), and SIGINT, SIGTERM, SIGHUP
 * unless they are ignored (nohup, background jobs). The caller blocks them before the recording, and handles those that
 * arrive after it. */
void record_signals(sigset_t *signals);

/*
 * Launches the command and records. Signals during the recording:
 *
 * - The terminal sends SIGINT to the target as well, and the recording continues until the target ends. The recorder
 *   forwards a SIGINT that only it received. A second SIGINT ends the recording.
 * - SIGTERM and SIGHUP end the recording at once.
 *
 * When a recording ends before its target (by these signals or the duration), the recorder sends SIGTERM to the target,
 * as perf does. With options.follow_daemons, the recorder waits for children that outlive the target; SIGINT then ends
 * the recording.
 *
 * Without a command (running processes, the whole system), SIGINT ends the recording, and the processes continue.
 *
 * Returns 0 if the spool is valid, however the recording ended. On failure returns a negative code with a sentence in
 * `err`, and removes the spool; the target did not run, or was killed at its first instruction.
 */
int record_command(const struct record_options *options, struct record_result *result, struct error *err);
