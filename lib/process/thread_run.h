/*
 * When a thread runs and when it waits: its part of waits.h, kept with each thread of the tracker.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What was found of a thread while it waited. */
struct wait_stack {
    uint64_t taken;  /* ns, CLOCK_MONOTONIC: when it had been read */
    bool is_given;   /* waits_give_stack() */
    uint32_t reason; /* enum wait_reason */
    uint32_t object; /* number of a SPOOL_OBJECT; 0: none */
    uint32_t flags;  /* enum sample_flags */
    uint32_t frame_count;
    uint64_t frames[]; /* leaf first */
};

enum run_state {
    RUN_UNKNOWN, /* records were lost, or none has come yet */
    RUN_ON,      /* on a CPU */
    RUN_WAITS,   /* off the CPU */
    /* Where only some CPUs are recorded: it came to another CPU, and has not come back since. */
    RUN_ELSEWHERE,
};

/* Who woke a thread. */
struct thread_waker {
    bool is_known;
    uint32_t pid, tid; /* 0: the CPU was idle */
    uint32_t context;  /* enum wakeup_context */
};

/* Starts zeroed. Times are ns of CLOCK_MONOTONIC. */
struct thread_run {
    enum run_state state;
    bool preempted;             /* RUN_WAITS: it could run */
    bool goes_on;               /* off the CPU: earlier parts of this wait are in the spool */
    bool was_here;              /* it has run on a CPU that is recorded */
    bool in_pending;            /* it is in waits.pending */
    uint64_t awake;             /* RUN_WAITS: when it was found ready, or on a CPU already; 0: it was not */
    uint64_t since;             /* the state; of a wait that goes on, its last part in the spool */
    uint64_t ran;               /* ns on a CPU up to `since` which no sample or wait in the spool covers */
    uint64_t waited, was_ready; /* ns: waits since the last one in the spool, and the same of preemptions ... */
    uint64_t was_elsewhere;     /* ... and of time on other CPUs */
    struct wait_stack *stack;   /* RUN_WAITS: NULL if nothing was found, or not yet */
    struct thread_waker waker;  /* RUN_WAITS: who has ended the wait, of which the thread has not come to a CPU yet */
};
