/*
 * The state of a running recording, shared by the loop of perf events (perf_recording.c) and the loop of ptrace
 * (ptrace_recording.c). Private to lib/record: record.h is the interface.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "record/control_state.h"
#include "record/counters.h"
#include "record/excess.h"
#include "record/launch.h"
#include "process/library_table.h"
#include "record/marks.h"
#include "process/process_exits.h"
#include "process/process_signals.h"
#include "record/ptrace_limits.h"
#include "record/python_stack.h"
#include "record/record_options.h"
#include "record/record_result.h"
#include "record/scheduling.h"
#include "spool/spool.h"
#include "record/stack_reader.h"
#include "process/thread_filter.h"
#include "process/tracker.h"
#include "record/waits.h"
#include "record/wakeup_mode.h"
#include "sample/cpu_pin.h"
#include "sample/perf_apart.h"
#include "sample/perf_events.h"
#include "sample/perf_merge.h"
#include "sample/ptrace_sampler.h"
#include "sample/signals.h"
#include "sample/wakeups.h"
#include "unwind/in_place.h"
#include "unwind/unwind.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct recording {
    const struct record_options *options;
    struct record_result *result;
    struct launch target;
    bool target_reaped;
    uint64_t launch_cpu;     /* ns of CPU time of commands before exec */
    uint64_t traced_cpu;     /* ns of CPU time of traced processes, up to the end of the recording */
    ARRAY(uint64_t) clocks;  /* ns: CPU clocks of options.pids at the start of the recording */
    char **running_command;  /* arguments of the first process of options.pids */
    struct perf_fds pid_fds; /* pidfds of the processes of options.pids that still run */

    struct perf_events events;
    struct perf_apart apart;     /* threads with short-lived children */
    struct signals signal_rings; /* last in `merge`; empty: the kernel does not report signals */
    struct wakeups wakeups;      /* after `events` in `merge`; empty: wakers are not recorded */
    struct perf_merge *merge;
    struct wakeup_mode *wakeup_modes; /* one per CPU */
    bool by_ptrace;                   /* the ptrace tier replaces perf events */
    struct ptrace_sampler *sampler;   /* NULL unless threads are traced */
    struct in_place_walker *second_walker;
    bool has_no_second_walker;
    bool thread_is_stopped; /* at the current sample */
    struct ptrace_limits limits;
    char refusal[PERF_NOTE_SIZE]; /* why the kernel refuses perf events; "": it does not */

    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct marks marks;
    struct excesses excesses;
    bool follows_runs; /* the recorder sees when threads run, and `waits` is in use */
    struct waits waits;
    struct counters counters;
    struct stack_reader reader;
    uint64_t *frames; /* CHUNK_MAX_FRAMES */
    uint64_t *sps;    /* stack pointers of user frames; NULL: Python frames are not requested */
    struct python_stacks python;
    bool was_python; /* the stack of the current sample has CPython frames */

    int epoll_fd, signal_fd;
    uint64_t started, next_flush; /* ns */
    bool ending;                  /* result.end has the reason */
    bool was_run;                 /* the spool exists and the target was started */
    bool interrupted;             /* the recorder received one SIGINT */
    bool follows;                 /* the target has ended, and its children are still recorded */
    bool kernel_mapped;
    unsigned empty_looks; /* consecutive reads of empty rings */
    struct cpu_pin pin;

    struct control control;
    bool runs_again;                            /* the command has ended and will be run again */
    struct rlimit files_limit;                  /* for the target: its limit of open files, */
    struct sigaction child_action, size_action; /* and its actions for SIGCHLD and SIGXFSZ */
    bool has_actions;                           /* child_action and size_action are set */
    struct scheduling_policy policy;            /* of this thread before the recording */

    struct thread_filter filter; /* of options.thread_names */
    uint64_t samples, truncated, lost_records, lost_wakeups;
    uint64_t lost_others; /* records of processes and mappings, if counted apart from samples */
    uint64_t truncated_by_reason[UNWIND_ENDS];
    uint64_t completed_by_libunwind;
    uint64_t works; /* SPOOL_WORK records in the spool */
    struct process_signals signals;
    struct process_exits exits; /* of the perf events tier; ptrace reports all exits */
    struct {
        uint64_t since, time,
            stacks; /* since: ns, the last record; time: ns of walking since then; stacks: walked since then */
    } unwinding;
};

/* Walks the stack of a sample, and appends the sample to the spool. `depth`: whether the stack fits into its copy. */
int recording_take_sample(struct recording *recording, const struct perf_record *record, enum wakeup_stack *depth,
                          struct error *err);

/* Likewise for a sample of another event than the CPU clock. `event`: its index in recording.events.sampling, at least
 * 1. Its samples do not count as CPU time of their thread. */
int recording_take_event(struct recording *recording, const struct perf_record *record, uint32_t event,
                         struct error *err);

/* Counts that the kernel throttled an event. `event` 0: the CPU clock. */
void recording_take_throttle(struct recording *recording, uint32_t event);

/* Ends the loop. The first reason counts. */
void recording_end(struct recording *recording, enum record_end end, int signal);

/* Notes how the command ended, as wait4() reports. */
void recording_target_ended(struct recording *recording, int status, const struct rusage *usage);

/* Notes how a process ended, as wait4() reports. `time`: ns. */
void recording_note_exit(struct recording *recording, uint32_t pid, int status, uint64_t time);

/* Notes the end of a process that is not prof's child, and starts to find out its exit status. */
void recording_note_end(struct recording *recording, uint32_t pid);

/* Notes the exit statuses found since the last call. */
void recording_take_exits(struct recording *recording);

/* Notes that a process of options.pids has ended, if `fd` is one of pid_fds. `fd` is readable. */
void recording_take_end(struct recording *recording, int fd);

/* Time (ns) at which options.duration is over; the duration starts after the delay. UINT64_MAX: never. */
uint64_t recording_time_up(const struct recording *recording);

/* Runs the command again, if recording->runs_again. */
int recording_run_again(struct recording *recording, struct error *err);

/* Adds the file descriptor to epoll_fd. */
int recording_watch(struct recording *recording, int fd, struct error *err);

/* Adds notes about deleted files, whose unwind information or symbols are missing. */
void recording_note_lost_files(struct recording *recording);

/* Brings `waits` up to date. `all`: also for running threads. */
int recording_settle(struct recording *recording, bool all, struct error *err);

/* Notes the waits and CPU times of threads up to `stopped` (ns), the end of the recording, and the CPU time that only
 * the kernel counted. */
int recording_end_runs(struct recording *recording, uint64_t stopped, struct error *err);

/* Whether waits are recorded: the user requested them, and the recorder sees when threads run. */
bool recording_wants_waits(const struct recording *recording);

/* Adds a note if waits were requested and cannot be recorded. */
void recording_note_no_waits(struct recording *recording);

/* Opens the events of wakeups if wakers are requested. Adds a note if the kernel refuses them. */
void recording_open_wakeups(struct recording *recording);

/* Handles a record of the wakeup rings. */
void recording_take_wakeup(struct recording *recording, const struct perf_merge_record *raw);

/* Opens the events of signals. Does nothing if the kernel refuses them, which need root or a setting. */
void recording_open_signals(struct recording *recording);

/* Handles a record of the signal rings. */
int recording_take_signal_record(struct recording *recording, const struct perf_merge_record *raw, struct error *err);

/* About once a second, stores a SPOOL_WORK record of that second; its name has the share that unwinding took. */
int recording_note_unwinding(struct recording *recording, uint64_t now, struct error *err);

/* Stores a SPOOL_WORK record if the recorder has been busy with `what` since `start` (ns) for long. */
int recording_note_work(struct recording *recording, const char *what, uint64_t start, struct error *err);

/* Adds a note if this user may not read the stacks of some waiting threads. */
void recording_note_refused_waits(struct recording *recording);

/* Fills in the result at the end. `cpu_before`: the CPU time of this thread before the recording, ns. */
void recording_fill_result(struct recording *recording, uint64_t cpu_before);
