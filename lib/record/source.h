/*
 * A source of records: perf events (perf_source.c), or ptrace where the kernel refuses perf events (ptrace_source.c). A
 * source knows the producers that it feeds, and none of their neighbors.
 *
 * Life of a source: open, connect, add threads, then rounds until stop. The loop (recording_loop.c) sleeps between two
 * rounds.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread. A ptrace source must stay on the
 * thread that opened it.
 */
#pragma once

#include "base/error.h"
#include "process/library_table.h"
#include "process/tracker.h"
#include "record/cpu_samples.h"
#include "record/metadata.h"
#include "record/pauses.h"
#include "record/process_ends.h"
#include "record/record_options.h"
#include "record/record_result.h"
#include "record/recorder_work.h"
#include "record/target.h"
#include "record/waits.h"
#include "sample/cpu_pin.h"

#include <sys/epoll.h>
#include <sys/resource.h>

/* What a source feeds. The members belong to the caller. */
struct source_sinks {
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct cpu_samples *samples;
    struct waits *waits; /* if NULL, the source does not see when threads run */
    bool wants_waits;    /* waits are stored, not only measured */
    struct process_ends *ends;
    struct recorder_work *work;
    const struct pauses *pauses;
    struct target *target;
    /* Handles the end of the command, as wait4() reports it. */
    int (*target_ended)(void *context, int status, const struct rusage *usage, struct error *err);
    void *context;
};

/* Counts of a source at the end. */
struct source_totals {
    uint64_t cpu_time;     /* ns of CPU time of the recorded threads */
    uint64_t lost;         /* samples lost because a ring was full */
    uint64_t lost_records; /* lost records of all kinds; at least `lost` */
};

/* The part of a source that all sources have. */
struct source {
    const struct source_class *class;
    const struct record_options *options;
    struct record_result *result;
    struct cpu_pin *pin;
    struct source_sinks sinks;
    bool has_switches;        /* the source sees when threads run */
    bool covers_kernel;       /* samples or clocks include the time inside the kernel */
    uint32_t rate;            /* samples a second of CPU time */
    uint64_t period;          /* ns that each sample stands for, or 0 (each record has its own period) */
    struct perf_merge *merge; /* NULL with ptrace */
};

struct source_class {
    /* Describes the source in the metadata. */
    void (*describe)(const struct source *source, struct metadata_start *start);

    /* Samples a thread. -ESRCH if the thread has ended or is already sampled. */
    int (*add)(struct source *source, pid_t pid, pid_t tid, bool is_command, struct error *err);

    /* Samples the whole system, or only the processes of `cgroup` (-1 for all processes). NULL: the source cannot
     * sample a system. */
    int (*add_all)(struct source *source, int cgroup, struct error *err);

    /* Notes the CPU clock (ns) of an attached process at the start. NULL: the source does not need the clock. */
    void (*count_from)(struct source *source, pid_t pid, uint64_t clock);

    /* Returns the time (ns) at which the next round begins at the latest. `now` is the current time. */
    uint64_t (*deadline)(struct source *source, uint64_t now);

    /* A round: begin_round() runs before the producers and requests, with the events from epoll, and end_round() runs
     * after them. */
    int (*begin_round)(struct source *source, const struct epoll_event *ready, int count, struct error *err);
    int (*end_round)(struct source *source, struct error *err);

    /* Reads the new records outside of a round. */
    int (*read)(struct source *source, struct error *err);

    /* Updates the CPU times of threads. `all`: includes running threads. */
    int (*settle)(struct source *source, bool all, struct error *err);

    /* Called once a second. */
    void (*second)(struct source *source);

    /* Ends sampling, and reads the remaining records. Sets result.stopped. */
    int (*stop)(struct source *source, struct error *err);

    uint64_t (*cpu_time)(const struct source *source); /* CPU time (ns) of the recorded threads so far */

    /* Fills in counts of events, and adds notes about missing data. `counts_events`: the counts cover the whole
     * recording. */
    struct source_totals (*fill_result)(struct source *source, bool counts_events);

    void (*close_in_child)(struct source *source); /* called in the child after fork() */
    void (*free)(struct source *source);
};

/* Opens a source that samples with perf events, and adds their descriptors to epoll. `refusal` receives the reason if
 * the kernel refuses perf events, or "" after another failure. */
int perf_source_open(struct source **out, const struct source *common, int epoll_fd, char *refusal, size_t size,
                     struct error *err);

/* Opens a source that samples with ptrace. Unless `refusal` is empty, adds a note with this reason for ptrace. */
int ptrace_source_open(struct source **out, const struct source *common, int epoll_fd, const char *refusal,
                       struct error *err);

/* Reads the stack of each thread once: of waiting threads without a stop, of the other threads while ptrace stops them.
 * Sets result.stopped. */
int ptrace_source_read_once(struct source *source, struct waits *waits, struct error *err);

/* Adds a descriptor to epoll. */
int source_watch(int epoll_fd, int fd, struct error *err);
