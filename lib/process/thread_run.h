/*
 * The run state of one thread, for waits.h. Each thread of the tracker has one.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stack and reason of one wait. */
struct wait_stack {
    uint64_t taken;  /* ns, CLOCK_MONOTONIC: end of the read */
    bool is_given;   /* thread_run_give_stack() */
    uint32_t reason; /* enum wait_reason */
    uint32_t object; /* number of a SPOOL_OBJECT; 0: none */
    uint32_t flags;  /* enum sample_flags */
    uint32_t frame_count;
    uint64_t frames[]; /* leaf first */
};

enum run_state {
    RUN_UNKNOWN, /* no record yet, or records were lost */
    RUN_ON,      /* on a CPU */
    RUN_WAITS,   /* off the CPU */
    /* With a list of CPUs: on a CPU outside the list, or off the CPU since then. */
    RUN_ELSEWHERE,
};

/* The waker of a thread. */
struct thread_waker {
    bool is_known;
    uint32_t pid, tid; /* 0: the CPU was idle */
    uint32_t context;  /* enum wakeup_context */
};

/* Starts zeroed. Times are ns of CLOCK_MONOTONIC. */
struct thread_run {
    enum run_state state;
    bool preempted;             /* RUN_WAITS: runnable */
    bool goes_on;               /* off the CPU: the spool has earlier parts of this wait */
    bool was_here;              /* the thread has run on a recorded CPU */
    bool in_pending;            /* the thread is in waits.pending */
    uint64_t awake;             /* RUN_WAITS: time (ns) at which a check found the thread awake; 0: never */
    uint64_t since;             /* start of the state; for a wait stored in parts, end of the last part */
    uint64_t ran;               /* ns on a CPU before `since` that no sample or wait in the spool covers */
    uint64_t waited, was_ready; /* ns of waits and of preemptions since the last stored wait */
    uint64_t was_elsewhere;     /* ns on CPUs outside the list since the last stored wait */
    struct wait_stack *stack;   /* RUN_WAITS: NULL: no stack, or not read yet */
    struct thread_waker waker;  /* RUN_WAITS: the waker, if the thread was woken but has not run yet */
};

/* Passes the stack of a thread that is about to leave its CPU at `time` (ns), leaf first. The stack and `reason` (enum
 * wait_reason) count for a wait that begins at most 1 ms later: for a preemption, or with waits_options.no_looks for
 * any wait. -ENOMEM if memory ran out. */
int thread_run_give_stack(struct thread_run *run, uint64_t time, const uint64_t *frames, size_t count, uint32_t flags,
                          uint32_t reason, struct error *err);

/* Sets the state of a thread that was sampled on a CPU at `time` (ns). Returns true and the CPU time (ns) since its
 * previous sample or wait in the spool; false if the CPU time is unknown, because records were lost. */
bool thread_run_sample(struct thread_run *run, uint64_t time, uint64_t *cpu_time);

void thread_run_forget_stack(struct thread_run *run);
