/*
 * The state of waits.h, which waits.c, wait_ends.c, wait_store.c and wait_readings.c share.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "record/python_stack.h"
#include "process/thread_filter.h"
#include "process/tracker.h"
#include "process/wait_reason.h"
#include "record/wakers.h"
#include "sample/cpu_list.h"
#include "spool/spool.h"
#include "unwind/stack_reader.h"

#include <sched.h>

/* The spool, the tracker and the filter of threads belong to the caller and must outlive the waits. */
struct waits_options {
    struct spool_writer *spool;
    struct tracker *tracker;
    const struct thread_filter *filter;
    uint64_t interval;            /* ns between two samples */
    bool only_runs;               /* only measure the CPU time of threads; store no waits */
    bool late_switches;           /* with ptrace, a switch has the time at which the recorder saw it */
    bool no_cpus;                 /* the records have no CPU: store no slices */
    bool no_looks;                /* do not read stacks of waiting threads: thread_run_set_event_stack() passes them */
    const struct cpu_list *cpus;  /* recorded CPUs; NULL: all */
    struct python_stacks *python; /* reads Python frames; NULL: not requested */
};

static const uint64_t part_length =
    UINT64_C(1000000000); /* ns: long waits and slices are stored in parts of this length */

/* A thread that the current pass reads. */
struct wait_reading {
    uint32_t tid;
    bool waits;     /* `state` has the system call in which the thread waits */
    bool has_moved; /* with ptrace: the thread waits elsewhere after the copy */
    struct wait_state state;
    size_t copied;      /* bytes in the copy of the stack */
    uint64_t copy_read; /* ns: time at which the stack was copied */
};

struct waits {
    struct waits_options options;
    struct ARRAY_TYPE(tid_list, uint32_t) pending; /* tids of waiting threads whose stacks are not yet read */
    struct ARRAY_TYPE(wait_readings, struct wait_reading) readings; /* of the current pass */
    struct strings objects;                                         /* names of SPOOL_OBJECT, indexed by number - 1 */
    struct wakers wakers;
    struct stack_reader reader;
    unsigned char *copies; /* STACK_COPY bytes for each reading */
    size_t copy_count;     /* readings for which `copies` has room */
    uint64_t *frames;      /* CHUNK_MAX_FRAMES */
    uint64_t *sps;         /* stack pointers of `frames` */
    bool paused;
    uint64_t last_look;            /* ns: time of the last pass */
    uint64_t started, socket_cost; /* ns: start of the recording; CPU time spent on describing sockets */
    uint64_t looks;                /* readings that the budget permits now (NS_PER_READING) */
    uint64_t next_look;            /* ns: random time of the next pass */
    uint64_t planned;              /* ns: planned time of the current pass */
    uint64_t random;               /* state of the random numbers */
    uint64_t active_until;         /* ns: passes continue until this time, ACTIVE_NS after a thread began to wait */
    cpu_set_t cpus;                /* CPUs on which the recorder may run; empty: unknown */
    uint32_t stays;                /* number of passes until the recorder moves again */
    bool is_placed;                /* with ptrace: the recorder has been on its CPU since before the next pass */
    bool has_read_near;            /* this pass has read a thread on the recorder's CPU */
    bool has_lost;                 /* the kernel lost records since the last flush */

    uint64_t stored, without_stack; /* numbers of stored waits, and of stored waits without a stack */
    uint64_t truncated;             /* stored waits whose stack does not reach the thread's start */
    uint64_t refused;               /* stacks that this user may not read */
};
