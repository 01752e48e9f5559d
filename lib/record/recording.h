/*
 * A recording while it runs: what the loop of perf events (perf_recording.c) and that of ptrace share. Not for others:
 * record.h is the interface.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "record/control.h"
#include "record/counters.h"
#include "record/excess.h"
#include "record/launch.h"
#include "process/library_table.h"
#include "record/marks.h"
#include "process/process_exits.h"
#include "process/process_signals.h"
#include "record/python_stack.h"
#include "record/record.h"
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
    uint64_t launch_cpu;     /* ns that commands used before they called exec */
    uint64_t traced_cpu;     /* ns that traced processes used, up to the end of the recording */
    ARRAY(uint64_t) clocks;  /* ns: the CPU clocks of options.pids when the recording started */
    char **running_command;  /* of the first process of options.pids */
    struct perf_fds pid_fds; /* of those of options.pids that still run */

    struct perf_events events;
    struct perf_apart apart;     /* threads whose children keep ending */
    struct signals signal_rings; /* empty: the kernel does not tell of signals; the last ones in `merge` */
    struct wakeups wakeups; /* empty: who woke whom is not recorded; its rings follow those of `events` in `merge` */
    struct perf_merge *merge;
    struct wakeup_mode *wakeup_modes; /* for each CPU */
    bool by_ptrace;                   /* the tier: instead of perf events */
    struct ptrace_sampler *sampler;   /* while threads are traced */
    struct in_place_walker *second_walker;
    bool has_no_second_walker;
    bool thread_is_stopped; /* of the current sample */
    struct {
        bool privilege, leak_sanitizer, tracer, unreadable;
        unsigned checks;          /* programs that were searched for LeakSanitizer */
    } noted;                      /* ptrace_limits.h */
    char refusal[PERF_NOTE_SIZE]; /* why there are no perf events; "" */

    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct marks marks;
    struct excesses excesses;
    bool follows_runs; /* it is known when threads run, and `waits` is in use */
    struct waits waits;
    struct counters counters;
    struct stack_reader reader;
    uint64_t *frames; /* CHUNK_MAX_FRAMES */
    uint64_t *sps;    /* of the user's frames; NULL: Python frames are not wanted */
    struct python_stacks python;
    bool was_python; /* the stack of the sample at hand passes through CPython */

    int epoll_fd, signal_fd;
    uint64_t started, next_flush; /* ns */
    bool ending;                  /* result.end says why */
    bool was_run;                 /* there is a spool, and the target was started */
    bool interrupted;             /* one SIGINT came */
    bool follows;                 /* the target has ended, and its children go on */
    bool kernel_mapped;
    unsigned empty_looks; /* at the rings, one after the other */
    struct cpu_pin pin;

    struct control control;
    bool runs_again;                            /* the command has ended, and is to be run once more */
    struct rlimit files_limit;                  /* that the target is to have, */
    struct sigaction child_action, size_action; /* and what SIGCHLD and SIGXFSZ do in it */
    bool has_actions;                           /* these two are known */
    struct scheduling_policy policy;            /* of this thread before it recorded */

    struct thread_filter filter; /* of options.thread_names */
    uint64_t samples, truncated, lost_records, lost_wakeups;
    uint64_t lost_others; /* records of processes and mappings, where they are counted apart from samples */
    uint64_t truncated_by_reason[UNWIND_ENDS];
    uint64_t completed_by_libunwind;
    uint64_t works; /* SPOOL_WORK in the spool */
    struct process_signals signals;
    struct process_exits exits; /* of perf events; ptrace tells of all */
    struct {
        uint64_t since, time, stacks; /* ns: the last note; what walking took since, and of how many stacks */
    } unwinding;
};

/* Walks the stack of a sample, and appends the sample to the spool. `depth`: how its stack compares with the copy. */
int recording_take_sample(struct recording *recording, const struct perf_record *record, enum wakeup_stack *depth,
                          struct error *err);

/* The same of an event beside the clock, `event` of recording.events.sampling from 1 on. Its samples take no part in
 * the CPU time of their thread. */
int recording_take_event(struct recording *recording, const struct perf_record *record, uint32_t event,
                         struct error *err);

/* Counts that the kernel throttled an event; 0: the clock. */
void recording_take_throttle(struct recording *recording, uint32_t event);

/* Has the loop end; the first reason counts. */
void recording_end(struct recording *recording, enum record_end end, int signal);

/* Notes how the command ended, as of wait4(). */
void recording_target_ended(struct recording *recording, int status, const struct rusage *usage);

/* Notes how a process ended, as of wait4(). `time`: ns */
void recording_note_exit(struct recording *recording, uint32_t pid, int status, uint64_t time);

/* Notes that a process has ended that prof is not told the status of, which is found out if it can be. */
void recording_note_end(struct recording *recording, uint32_t pid);

/* Notes what became known since of such processes. */
void recording_take_exits(struct recording *recording);

/* Reads the signals that have come (signal_fd). */
void recording_take_signals(struct recording *recording);

/* Notes that a process that ran already has ended, if `fd` is one of pid_fds: it has become readable. */
void recording_take_end(struct recording *recording, int fd);

/* When the duration is over (ns), which begins after the delay; UINT64_MAX: never. */
uint64_t recording_time_up(const struct recording *recording);

/* Ends the recording when its duration is over, or when all that it follows have ended; flushes the spool each second.
 */
int recording_keep_time(struct recording *recording, uint64_t now, struct error *err);

/* Runs the command once more, as recording->runs_again asks for. */
int recording_run_again(struct recording *recording, struct error *err);

/* Has epoll_fd report when the file descriptor becomes readable. */
int recording_watch(struct recording *recording, int fd, struct error *err);

/* Adds a sentence to result.notes. */
void recording_add_note(struct recording *recording, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds notes about files whose unwinding information or names are missing because they are gone. */
void recording_note_lost_files(struct recording *recording);

/* Has `waits` know what threads did up to now, as far as it can; with `all` also of those that run. */
int recording_settle(struct recording *recording, bool all, struct error *err);

/* Notes what threads did up to `stopped` (ns), when the recording ended, and what of that the kernel alone counted. */
int recording_end_runs(struct recording *recording, uint64_t stopped, struct error *err);

/* Whether waits are recorded: they were wanted, and it is known when threads run. */
bool recording_wants_waits(const struct recording *recording);

/* Adds a note if waits were asked for and cannot be recorded. */
void recording_note_no_waits(struct recording *recording);

/* Opens the events of wakeups, if they are wanted. Where the kernel does not allow them a note says so. */
void recording_open_wakeups(struct recording *recording);

/* Takes in a record of the rings of wakeups. */
void recording_take_wakeup(struct recording *recording, const struct perf_merge_record *raw);

/* Opens the events of signals. Where the kernel does not allow them there are none: root, or a setting, is needed. */
void recording_open_signals(struct recording *recording);

/* Takes in a record of the rings of signals. */
int recording_take_signal_record(struct recording *recording, const struct perf_merge_record *raw, struct error *err);

/* About each second: notes a work as long as that second, whose name tells how much of it unwinding took. */
int recording_note_unwinding(struct recording *recording, uint64_t now, struct error *err);

/* Notes that the recorder was busy since `start` (ns), if that was for long. */
int recording_note_work(struct recording *recording, const char *what, uint64_t start, struct error *err);

/* Adds a note if this user may not know where some threads waited. */
void recording_note_refused_waits(struct recording *recording);

/* Fills in the result at the end. `cpu_before`: the CPU time of this thread before the recording, ns. */
void recording_fill_result(struct recording *recording, uint64_t cpu_before);
