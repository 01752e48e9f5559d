/*
 * How to record.
 */
#pragma once

#include "process/open_files.h"
#include "record/environment.h"
#include "spool/spool.h"

#include <signal.h>
#include <sys/types.h>

/* A member of struct record_options. */
struct control_options {
    bool paused;              /* the recording starts in a pause */
    uint64_t delay;           /* ns after the start before recording begins, or 0 for none */
    struct spool_bounds keep; /* limits of a flight recorder */
    uint64_t max_size;        /* bytes of the spool at which the recording ends, or 0 for no limit */
    uint32_t iterations;      /* number of consecutive runs of the command; 0 means 1 */
    bool has_socket;

    /* Callback: prints a sentence for the user about a pause or a snapshot. May be NULL. */
    void (*notice)(void *context, const char *sentence);

    /* Callback: writes a profile of the current spool, in a child that then exits. Fills in a sentence about the
     * result; false on failure. NULL: no snapshots. */
    bool (*snapshot)(void *context, char *answer, size_t size);
    void *context;
};

enum record_sampler {
    RECORD_BY_ANY, /* perf events if the kernel permits them, else ptrace */
    RECORD_BY_PERF,
    RECORD_BY_PTRACE, /* not with `all` */
};

enum record_wakers {
    WAKERS_NO,
    WAKERS_IF_PERMITTED, /* record wakers if the kernel permits, without a note if the kernel refuses */
    WAKERS_REQUESTED
};

struct record_options {
    enum record_sampler sampler;
    char *const *argv; /* the command, searched as execvp() does, NULL at the end, or NULL (running processes) */
    const pid_t *pids; /* running processes, without a command */
    size_t pid_count;
    bool all;                        /* record the whole system, until the command (if any) ends */
    const char *cgroup;              /* with `all`: record only processes of this cgroup, or NULL (all) */
    bool no_inherit;                 /* do not record child processes */
    bool follow_daemons;             /* continue until children that outlive the command or `pids` end */
    const struct cpu_list *cpus;     /* record only these CPUs, or NULL (all) */
    const char *const *thread_names; /* record only threads whose name matches (thread_filter.h) */
    size_t thread_name_count;        /* 0: all threads */
    void (*attached)(void *context); /* called when the sampling of running processes has started, or NULL */
    void *context;
    uint32_t rate;                          /* samples per second of CPU time of each thread */
    uint64_t duration;                      /* ns after which the recording ends, or 0 (when the command ends) */
    const char *spool_path;                 /* path of the new spool file */
    const char *recorder;                   /* "prof 0.1.0", stored in the profile */
    const sigset_t *target_mask;            /* signals that the command blocks */
    bool off_cpu;                           /* record waits (waits.h) */
    bool once;                              /* read each thread of `pids` once, with RECORD_BY_PTRACE (source.h) */
    enum record_wakers wakers;              /* whether to record the wakers of waits (wakeups.h) */
    bool no_cpu_samples;                    /* sample only `events`, and count CPU time without samples */
    const struct event_list *events;        /* perf events to sample in addition to CPU time, or NULL for none */
    uint32_t counters;                      /* counters to read: bits by enum counter_group (counters.h) */
    bool python;                            /* read the frames of Python code (python_frames.h) */
    bool output_to_error;                   /* redirect the command's standard output to standard error */
    struct environment_options environment; /* metadata to save */
    struct open_files *files;               /* open-file table of the caller, which the recording fills, or NULL for
                                             * none */
    struct control_options control;
};
