/*
 * Records when each thread runs and waits, and the stacks of waiting threads.
 *
 * SWITCH records, which every user gets, have the time in ns at which a thread leaves its CPU and at which it runs
 * again. Only users who may record the kernel get the stacks of context switches. But every user can read the memory of
 * an own sleeping thread, and its sp and pc in /proc/PID/task/TID/syscall. So the recorder reads the stacks of waiting
 * threads every few milliseconds while threads switch. It neither stops nor wakes the thread. A stack counts only if
 * the thread slept until after the read, which the time of its next switch shows.
 *
 * Stored waits. Readings come at random times that do not depend on the threads. The recorder stores each wait that a
 * reading met, and each wait of a second or longer. A stored wait stands for the waits of its thread and of its class
 * of lengths that no reading met since the last stored wait of the class (unseen_ns). Within a class, readings meet
 * each reason in proportion to its time, so the time of each reason is unbiased. Waits of a class that no reading meets
 * for a second are stored as a sum, as REASON_UNSEEN.
 *
 * Runnable time. A preemption is known from its switch. The time from a wakeup until the thread runs is part of what
 * the switches show as the wait. /proc/PID/task/TID/schedstat has the exact sum of both. Readings that find the thread
 * runnable show in which classes the runnable time is. Short preemptions are stored as sums.
 *
 * A preemption has a stack only from a sample of context-switches (docs/decisions.md, "Preemptions have no stack").
 *
 * If very many threads switch, the recorder reads fewer stacks, and so takes at most a few percent of a CPU.
 *
 * The recorder stores a long wait in parts of one second, so that a killed recorder loses at most the last second.
 *
 * With a list of CPUs, a wait belongs to the list if it began on a CPU of the list. It ends when the thread runs on any
 * CPU. While the thread runs on another CPU, the recorder stores the time as a wait named "on other CPUs", so that no
 * real wait appears longer. Threads that never run on a CPU of the list have no waits.
 *
 * docs/decisions.md, "prof records waits without tracepoints", compares the alternatives.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "record/producer.h"
#include "record/python_stack.h"
#include "record/record_result.h"
#include "spool/spool.h"
#include "record/stack_reader.h"
#include "process/thread_filter.h"
#include "process/tracker.h"
#include "record/wait_reason.h"
#include "record/wakers.h"
#include "sample/cpu_list.h"
#include "sample/perf_record.h"
#include "sample/wakeups.h"

/* The spool, the tracker and the filter of threads belong to the caller and must outlive the waits. */
struct waits_options {
    struct spool_writer *spool;
    struct tracker *tracker;
    const struct thread_filter *filter;
    uint64_t interval;            /* ns between two samples */
    bool only_runs;               /* only measure the CPU time of threads; store no waits */
    bool late_switches;           /* with ptrace, a switch has the time at which the recorder saw it */
    bool no_looks;                /* do not read stacks of waiting threads: thread_run_give_stack() passes them */
    const struct cpu_list *cpus;  /* recorded CPUs; NULL: all */
    struct python_stacks *python; /* reads Python frames; NULL: not requested */
};

struct waits {
    struct waits_options options;
    struct ARRAY_TYPE(tid_list, uint32_t) pending; /* tids of waiting threads whose stacks are not yet read */
    struct strings objects;                        /* names of SPOOL_OBJECT, indexed by number - 1 */
    struct wakers wakers;
    struct stack_reader reader;
    unsigned char *copy; /* copy of the current stack */
    uint64_t *frames;    /* CHUNK_MAX_FRAMES */
    uint64_t *sps;       /* stack pointers of `frames` */
    size_t copied;       /* bytes in `copy` */
    uint64_t copy_read;  /* ns: time at which `copy` was read */
    bool paused;
    uint64_t last_look;            /* ns: time of the last pass */
    uint64_t started, socket_cost; /* ns: start of the recording; CPU time spent on describing sockets */
    uint64_t looks;                /* readings that the budget permits now (NS_PER_READING) */
    uint64_t next_look;            /* ns: random time of the next pass */
    uint64_t planned;              /* ns: planned time of the current pass */
    uint64_t random;               /* state of the random numbers */
    bool has_blocked;              /* a thread began to wait since the last pass (preemptions excluded) */
    bool is_active;                /* a thread began to wait in the last ACTIVE_NS before the last pass */
    uint64_t active_until;         /* ns */
    bool has_read_near;            /* this pass has read a thread on the recorder's CPU */
    bool has_lost;                 /* the kernel lost records since the last flush */

    uint64_t stored, without_stack; /* numbers of stored waits, and of stored waits without a stack */
    uint64_t truncated;             /* stored waits whose stack does not reach the thread's start */
    uint64_t refused;               /* stacks that this user may not read */
};

int waits_init(struct waits *waits, const struct waits_options *options, struct error *err);
void waits_destroy(struct waits *waits);

/* Handles a SWITCH record: a thread begins or ends a wait. Like all functions here, fails only if the spool cannot be
 * written or memory runs out. */
int waits_switch(struct waits *waits, const struct perf_record *record, struct error *err);

/* Handles a wakeup of a thread. */
void waits_wakeup(struct waits *waits, const struct wakeup *wakeup);

/* Handle records of exits and execs: waits_thread_ends() before the tracker does, waits_exec() after it. */
int waits_thread_ends(struct waits *waits, const struct perf_record *record, struct error *err);
void waits_exec(struct waits *waits, const struct perf_record *record);

/* Adds a thread that existed before the recording, and finds out whether the thread waits. */
int waits_add_running(struct waits *waits, uint32_t tid, uint64_t time, struct error *err);

/* Reads the stacks of waiting threads: waits_look_early() runs before the rings are read, waits_look() afterwards. */
int waits_look_early(struct waits *waits, struct error *err);
int waits_look(struct waits *waits, struct error *err);

/* Whether to call waits_look() in a few milliseconds. */
bool waits_want_look(const struct waits *waits);

/* Stores the part of long waits up to `now` (ns). `end`: stores the part of all waits, because the recording ends. */
int waits_flush(struct waits *waits, uint64_t now, bool end, struct error *err);

/* Stops and resumes the storing of waits at `time` (ns). During the pause, the switches still update the threads. */
int waits_pause(struct waits *waits, uint64_t time, struct error *err);
void waits_resume(struct waits *waits, uint64_t time);

/* Notes that records were lost: the state of all threads becomes unknown. */
void waits_lost(struct waits *waits);

struct producer waits_producer(struct waits *waits);

/* Adds a note if this user may not read the stacks of some waiting threads. */
void waits_note_refused(const struct waits *waits, struct record_result *result);
