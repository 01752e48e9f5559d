/*
 * A traced thread, and its data in /proc: state, CPU, and CPU time.
 *
 * The thread's /proc files stay open, because the sampler reads these files up to once a tick: 1 us for an open file, 4
 * us by path.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "sample/ptrace_run.h"

#include <sys/types.h>

enum ptrace_thread_state {
    PTRACE_THREAD_NEW, /* the thread has not had its first stop */
    PTRACE_THREAD_RUNS,
    PTRACE_THREAD_INTERRUPTED, /* not yet stopped */
    PTRACE_THREAD_LISTENS,     /* stopped with its process, until SIGCONT */
    PTRACE_THREAD_EXITS,       /* the kernel has reported the thread's end, but not its status */
};

/* Purpose of an interrupt. */
enum ptrace_interrupt {
    PTRACE_INTERRUPT_ONLY,       /* interrupted only to correct the thread's system call */
    PTRACE_INTERRUPT_TO_SAMPLE,  /* interrupted for a sample at any place where the thread stops */
    PTRACE_INTERRUPT_AT_INSTANT, /* interrupted for a sample if the thread ran until `instant` */
};

struct ptrace_thread {
    pid_t pid, tid;
    enum ptrace_thread_state state;
    enum ptrace_interrupt interrupt; /* PTRACE_THREAD_INTERRUPTED */
    bool follows;                    /* the sampler traces the thread's children */
    size_t index;                    /* index of the thread in the sampler's threads */
    int schedstat_fd, stat_fd, status_fd, sched_fd;

    struct ptrace_schedule seen; /* at the last check */
    bool asleep;                 /* at the last check */
    uint64_t next_check;         /* tick */
    uint32_t pause;              /* ticks between two checks */
    uint32_t cpu;                /* CPU on which the thread ran last */
    bool is_realtime;            /* the thread's policy has priority over the sampler */
    uint64_t last_ran;           /* tick */

    uint64_t first_cpu;   /* ns of CPU time at the start of tracing */
    uint64_t first_clock; /* for a main thread, CPU clock (ns) of the process at the start */
    uint64_t last_clock;  /* for a main thread, CPU clock (ns) of the process at its end, or 0 while the process runs */
    uint64_t sampled_cpu; /* ns of CPU time at the thread's last sample */
    uint64_t stopped_slices; /* number of time slices at the thread's last sample */

    uint64_t stopped;               /* ns: time at which the sampler saw its last stop */
    struct ptrace_schedule at_stop; /* zeros: unknown */
    uint64_t instant;               /* ns: time of PTRACE_INTERRUPT_AT_INSTANT and of `seen` */

    struct ptrace_run run; /* computes when the thread ran and waited */
    uint64_t held_since;   /* ns: start of the current stop, whose time is not yet in run.held, or 0 if not stopped */

    uint32_t stack_size; /* bytes to copy */
    bool is_too_deep;    /* the stack is deeper than the largest copy */
    bool hold;           /* keep the thread stopped during the walk of its stack */
    uint32_t calm;       /* consecutive samples with a complete stack */

    char name[16];
    uint64_t next_name;    /* ns: next time to read the name */
    uint64_t named_slices; /* number of time slices at the last read of a sleeping thread's name */
};

struct ptrace_thread *ptrace_thread_new(pid_t pid, pid_t tid);
void ptrace_thread_free(struct ptrace_thread *thread);

/* Closes the files, which reopen at the next read: after exec, another thread has the tid. */
void ptrace_thread_close_files(struct ptrace_thread *thread);

/* Reads the scheduler's counts. False if the thread has ended, or the kernel has no schedstat (CONFIG_SCHED_INFO). */
bool ptrace_thread_read_schedule(struct ptrace_thread *thread, struct ptrace_schedule *schedule);

/* Reads the number of preemptions into `run`. Costs 7 us. */
void ptrace_thread_read_preemptions(struct ptrace_thread *thread);

/* Returns the state letter of proc(5), 'R' if the thread runs or is runnable, or 0 if the thread has ended. Stores the
 * CPU and the policy. */
char ptrace_thread_read_state(struct ptrace_thread *thread);

/* Returns the time (ns) at which the thread left its CPU, of a clock shared by the threads of one CPU; 0: the kernel
 * does not report it (CONFIG_SCHED_DEBUG). Costs 5 us. */
uint64_t ptrace_thread_read_departure(struct ptrace_thread *thread);

/* Whether the thread sleeps: false for a ptrace stop, and for a thread that has ended. */
bool ptrace_thread_is_asleep(char scheduler_state);

/* Mark the start and the end (ns) of a time in which the sampler may keep the thread stopped: this time does not count
 * as a wait. */
void ptrace_thread_begin_stop(struct ptrace_thread *thread, uint64_t now);
void ptrace_thread_end_stop(struct ptrace_thread *thread);

/* Subtracts `runnable` ns from the time of the stop: the interrupted thread was still runnable then, and the scheduler
 * counts this time. */
void ptrace_thread_skip_runnable(struct ptrace_thread *thread, uint64_t runnable);

/* Adds a moment with the scheduler's counts at `time` (ns): see ptrace_run_add_moment(). */
size_t ptrace_thread_add_moment(struct ptrace_thread *thread, const struct ptrace_schedule *schedule, uint64_t time,
                                bool asleep, struct ptrace_switch *switches);

/* Reads the thread's name. Returns whether it has changed. */
bool ptrace_thread_read_name(struct ptrace_thread *thread);
