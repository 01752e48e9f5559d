/*
 * Records when each thread runs and when it waits, and the stacks of those that wait.
 *
 * SWITCH records have the time, to the ns, at which a thread leaves its CPU and at which it is on one again, for every
 * user. The kernel gives the stacks of context switches only to users who may record the kernel. But it shows every
 * user the sp and pc of an own thread that sleeps, in /proc/PID/task/TID/syscall, and lets its memory be read. So the
 * recorder reads the stacks of waiting threads, every few milliseconds while threads switch. Nothing stops or wakes
 * the thread. A stack counts only if the thread slept until after it was read, which the time of its next switch
 * shows.
 *
 * Which waits are stored. A wait is stored when the thread has waited for a sampling interval or more since its last
 * stored wait, and its stack was read. So every wait longer than the time between two readings is stored. Shorter ones
 * are stored in proportion to their length: the time of a wait that is not stored counts for the next that is. Off-CPU
 * time is sampled like CPU time.
 *
 * Preemptions, in which a thread could have run, are counted apart. So is the rest of a wait whose thread is found
 * awake: it is runnable, unless the record of its switch shows that it was on a CPU. On a busy machine that is most of
 * many waits. A preemption has a stack only if a sample of context-switches has one: docs/decisions.md, "Preemptions
 * have no stack".
 *
 * Where very many threads switch, fewer stacks are read, so that the recorder takes a few percent of a CPU at most.
 *
 * A long wait is stored in parts, one a second, so that a killed recorder loses at most a second of it.
 *
 * Where only some CPUs are recorded, a wait is one of theirs if the thread left one of these for it. It ends when the
 * thread comes to any CPU. If that is another one, the thread is "on other CPUs" until it is back: this time is stored
 * like a wait of that name, so that no other wait seems longer for it. Threads that never come to a CPU of the list
 * have nothing stored.
 *
 * Other ways: docs/decisions.md, "Waits without tracepoints".
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "record/python_stack.h"
#include "spool/spool.h"
#include "record/stack_reader.h"
#include "process/thread_filter.h"
#include "process/tracker.h"
#include "record/wait_reason.h"
#include "record/wakers.h"
#include "sample/cpu_list.h"
#include "sample/perf_record.h"
#include "sample/wakeups.h"

struct counters;

/* The spool, the tracker and the filter of threads belong to the caller and must outlive the waits. */
struct waits_options {
    struct spool_writer *spool;
    struct tracker *tracker;
    const struct thread_filter *filter;
    uint64_t interval;            /* ns between two samples */
    bool only_runs;               /* follow when threads run, for their CPU time, and store no waits */
    bool late_switches;           /* by ptrace: the time of a switch is when it was seen */
    bool no_looks;                /* nobody looks at threads that wait: waits_give_stack() tells where they do */
    const struct cpu_list *cpus;  /* those that are recorded; NULL: all */
    struct counters *counters;    /* is told which processes run; NULL: not */
    struct python_stacks *python; /* reads Python frames; NULL: they are not wanted */
};

struct waits {
    struct waits_options options;
    struct ARRAY_TYPE(tid_list, uint32_t) pending; /* threads that wait, and whose stacks were not read yet */
    struct strings objects;                        /* names of SPOOL_OBJECT, by number less 1 */
    struct wakers wakers;
    struct stack_reader reader;
    unsigned char *copy; /* of a stack */
    uint64_t *frames;    /* CHUNK_MAX_FRAMES */
    uint64_t *sps;       /* of these */
    size_t copied;       /* bytes of the copy */
    bool paused;
    uint64_t last_look;            /* ns */
    uint64_t started, socket_cost; /* ns: and the CPU time of finding out what sockets are */
    uint64_t looks;                /* stacks that may be read now */
    bool has_blocked;              /* a thread did since the last look, but for being preempted */
    bool has_lost;                 /* records were lost since the last flush */

    uint64_t stored, without_stack; /* waits */
    uint64_t truncated;             /* stored ones whose stack does not reach the start of its thread */
    uint64_t refused;               /* stacks that this user may not read */
};

int waits_init(struct waits *waits, const struct waits_options *options, struct error *err);
void waits_destroy(struct waits *waits);

/* Takes in a SWITCH record: a thread begins to wait, or has waited. Fails only if the spool cannot be written or memory
 * runs out, like all of these. */
int waits_switch(struct waits *waits, const struct perf_record *record, struct error *err);

/* The stack of a thread that is about to leave its CPU at `time`, leaf first. It counts for the wait that begins within
 * a millisecond: for a preemption, and without looks for any, which then has the `reason`. */
int waits_give_stack(struct tracked_thread *thread, uint64_t time, const uint64_t *frames, size_t count, uint32_t flags,
                     enum wait_reason reason, struct error *err);

/* Takes in that a thread was woken. */
void waits_wakeup(struct waits *waits, const struct wakeup *wakeup);

/* Takes in the record of a thread's end or of an exec before the tracker does, and that of an exec after it. */
int waits_thread_ends(struct waits *waits, const struct perf_record *record, struct error *err);
void waits_exec(struct waits *waits, const struct perf_record *record);

/* Takes in that a thread was sampled on a CPU at `time`. Returns true and the CPU time in ns since its previous sample
 * or wait in the spool; false if that is not known, because records were lost. */
bool waits_sample(struct tracked_thread *thread, uint64_t time, uint64_t *cpu_time);

/* A thread that ran before the recording: finds out whether it waits. */
int waits_add_running(struct waits *waits, uint32_t tid, uint64_t time, struct error *err);

/* Reads the stacks of threads that wait now. To be called when the rings have been read. */
int waits_look(struct waits *waits, struct error *err);

/* Whether a look in a few milliseconds will find something. */
bool waits_want_look(const struct waits *waits);

/* Stores what has passed of long waits, up to `now`. `end`: of all waits, because the recording ends. */
int waits_flush(struct waits *waits, uint64_t now, bool end, struct error *err);

/* Nothing is stored from `time` on, and again from `time` on. Threads are followed meanwhile. */
int waits_pause(struct waits *waits, uint64_t time, struct error *err);
void waits_resume(struct waits *waits, uint64_t time);

/* Records were lost: what the threads do now is not known. */
void waits_lost(struct waits *waits);
