/*
 * The run state of one thread, for waits.h. Each thread of the tracker has one.
 */
#pragma once

#include "base/error.h"

/* The stack and reason of one wait. */
struct wait_stack {
    uint64_t asked;     /* ns, CLOCK_MONOTONIC: start of the reading */
    uint64_t known;     /* ns, CLOCK_MONOTONIC: prof has read the reason */
    uint64_t taken;     /* ns, CLOCK_MONOTONIC: prof has read the stack; for a passed stack, its time */
    bool is_from_event; /* thread_run_set_event_stack() has passed the stack */
    uint32_t reason;    /* enum wait_reason */
    uint32_t object;    /* number of a SPOOL_OBJECT, or 0 for none */
    uint32_t flags;     /* enum sample_flags */
    uint32_t frame_count;
    uint64_t frames[]; /* leaf first */
};

/* A system call in which a thread waits. */
struct waiting_call {
    uint64_t sp;
    int64_t number; /* 0 and an sp of 0: none */
};

enum run_state {
    RUN_UNKNOWN, /* no record yet, or records were lost */
    RUN_ON,      /* on a CPU */
    RUN_WAITS,   /* off the CPU */
    /* With a list of CPUs: on a CPU outside the list, or off the CPU since then. */
    RUN_ON_OTHER_CPU,
};

enum { WAIT_CLASSES = 19 };

/* The waits of a thread in one class of lengths that are not in the spool. */
struct wait_class {
    uint64_t unseen_ns;      /* ns of blocked time of the unseen waits since the last wait with a reading */
    uint64_t oldest;         /* ns: end of the first of these waits */
    uint64_t found_ready_ns; /* ns of the waits that readings represent which found the thread runnable */
    uint32_t found_ready;    /* number of waits in `found_ready_ns` */
    uint64_t owed_ns;        /* ns of runnable time by which later waits of this class get shorter */
    uint64_t waited_ns;      /* ns: length of all waits since the last reading of schedstat, unseen waits included */
    double ready_ns, all_ns; /* runnable time in the waits up to that reading, and their length */
    uint32_t unseen;         /* number of the unseen waits, those in `found_ready_ns` included */
    uint64_t unseen_length;  /* ns: length of these waits, runnable time included */
    struct wait_stack *last; /* stack of the last wait with a reading, or NULL */
};

/* Number of readings that share the unseen waits with ptrace. With fewer readings, a reading would get the time since
 * the reading before. With more, the last readings of a thread would represent more of its time. */
enum { RECENT_WAITS = 8 };

/* Class 0: shorter than 16 us; each further class: up to twice as long; the last one: 2 s and longer. */
struct short_waits {
    uint64_t owed; /* ns: sum of the `owed_ns` of all classes */
    struct wait_class classes[WAIT_CLASSES];
    struct wait_stack *recent[RECENT_WAITS]; /* stacks of the last readings with ptrace, in random order, or NULL */
};

/* The waker of a thread. */
struct thread_waker {
    bool is_known;
    uint32_t pid, tid; /* 0: the CPU was idle */
    uint32_t context;  /* enum wakeup_context */
    uint64_t time;     /* ns, CLOCK_MONOTONIC: time of the wakeup */
};

/* A time in which a thread ran on one CPU (record/cpu_slices.h). */
struct cpu_slice {
    uint64_t start, end; /* ns */
    uint64_t ran;        /* ns on the CPU; 0: no slice */
    uint32_t cpu;
};

/* The stack of a waker at the moment of a wakeup. */
struct waker_stack {
    uint64_t time;   /* ns, CLOCK_MONOTONIC: time of the wakeup */
    uint32_t tid;    /* of the waker */
    uint32_t thread; /* number of the waker */
    uint32_t cpu;
    uint32_t flags; /* enum sample_flags */
    uint32_t frame_count;
    uint64_t frames[]; /* user code, leaf first */
};

/* Starts zeroed. Times are ns of CLOCK_MONOTONIC. */
struct thread_run {
    enum run_state state;
    bool is_runnable;             /* in state RUN_WAITS: the thread is ready to run */
    bool goes_on;                 /* off the CPU: earlier parts of this wait are in the spool */
    bool is_refused;              /* this user may not read the reason of the thread's waits */
    bool was_here;                /* the thread has run on a recorded CPU */
    bool in_pending;              /* the thread is in waits.pending */
    uint64_t awake;               /* ns: time of a reading that found the thread awake, or 0 for none */
    uint64_t awake_asked;         /* ns: start of that reading, as wait_stack.asked */
    uint64_t read_at;             /* ns: last reading */
    uint64_t since;               /* ns: start of the state, or end of the last stored part of a wait */
    uint64_t ran;                 /* ns on a CPU up to `since` that no sample or wait in the spool covers */
    uint32_t cpu;                 /* number of the CPU of the last switch or sample */
    uint64_t on_cpu_since;        /* ns: start of the time on `cpu` that `slice` lacks, or 0 for none */
    struct cpu_slice slice;       /* the last slice, which is not in the spool */
    uint64_t began;               /* in state RUN_WAITS: start of the wait */
    uint64_t was_ready;           /* ns of runnable time that is not in the spool */
    uint32_t ready_count;         /* number of the times that `was_ready` adds up */
    uint64_t known_since;         /* ns: time since which prof knows the state of the thread, or 0 for unknown */
    uint64_t stored;              /* ns of CPU time and waits in the spool since `known_since` */
    bool has_mean_lengths;        /* with ptrace, lengths are means of several waits: all are in class 0 */
    uint32_t ended;               /* number of ended waits that ptrace sees as one wait, or 0 if it is a single wait */
    uint32_t uncounted;           /* number of ended waits to which prof can assign no time */
    uint64_t slept_until;         /* ns: with ptrace, time before which the last of these waits may have ended */
    uint64_t late_switch;         /* ns of waits whose end a sample showed */
    uint64_t on_other_cpus;       /* ns on other CPUs that are not in the spool */
    bool has_run_delay;           /* `run_delay` is known */
    uint64_t run_delay;           /* ns: run delay in the last reading of schedstat */
    uint64_t run_delay_read;      /* ns: time of the last reading of schedstat */
    uint64_t ready_since_reading; /* ns of runnable time that switches and readings have shown since `run_delay_read` */
    uint64_t awake_since_reading; /* ns of `ready_since_reading` that readings have shown */
    struct short_waits *waits;    /* NULL if none yet */
    struct waiting_call call;     /* the last system call that a reading found */
    bool is_stopped;              /* with ptrace: a signal has stopped the thread */
    struct wait_stack *stack;     /* stack of the wait in the state RUN_WAITS, or NULL if not read */
    struct thread_waker waker;    /* in state RUN_WAITS: the waker of a thread that has not run since its wakeup */
    struct waker_stack *waker_stack; /* stack of a waker, which may have ended an earlier wait; NULL: none yet */
};

/* Passes the stack (leaf first) of a thread that is about to leave its CPU at `time` (ns). The stack and `reason` (enum
 * wait_reason) count for a wait that begins at most 1 ms later: for a preemption, or with waits_options.no_looks for
 * any wait. -ENOMEM if memory ran out. */
int thread_run_set_event_stack(struct thread_run *run, uint64_t time, const uint64_t *frames, size_t count,
                               uint32_t flags, uint32_t reason, struct error *err);

/* Keeps a copy of the stack of a waker (leaf first) in place of the one before. `stack` has the other fields. -ENOMEM
 * if memory ran out. */
int thread_run_keep_waker_stack(struct thread_run *run, const struct waker_stack *stack, const uint64_t *frames,
                                struct error *err);

/* Returns the stack of the current waker, or NULL if no event copied it. Two events report one wakeup at slightly
 * different times. */
const struct waker_stack *thread_run_find_waker_stack(const struct thread_run *run);

/* Sets the state of a thread that was sampled on `cpu` at `time` (ns). Returns true and the CPU time (ns) since its
 * previous sample or wait in the spool, or false if the CPU time is unknown, because records were lost. */
bool thread_run_handle_sample(struct thread_run *run, uint64_t time, uint32_t cpu, uint64_t *cpu_time);

void thread_run_forget_stack(struct thread_run *run);

/* Forgets the stacks of earlier waits. */
void thread_run_forget_last_waits(struct thread_run *run);

/* Frees what the run state owns. */
void thread_run_destroy(struct thread_run *run);
