/*
 * A thread that is traced, and what /proc tells of it: whether it runs, where, and how much CPU time it has had.
 *
 * Its files stay open, because they are read up to once a tick: an open file costs 1 us a reading, and its path 3 us
 * more.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "sample/ptrace_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ptrace_thread_state {
    PTRACE_THREAD_NEW, /* its first stop has not come */
    PTRACE_THREAD_RUNS,
    PTRACE_THREAD_INTERRUPTED, /* its stop has not come */
    PTRACE_THREAD_LISTENS,     /* stopped with its process, until SIGCONT */
    PTRACE_THREAD_EXITS,       /* its end was told, and its status has not come */
};

/* What a thread is interrupted for. */
enum ptrace_interrupt {
    PTRACE_INTERRUPT_ONLY,       /* to have its system call put right */
    PTRACE_INTERRUPT_TO_SAMPLE,  /* wherever it stops */
    PTRACE_INTERRUPT_AT_INSTANT, /* it counts only if it ran until `instant` */
};

struct ptrace_thread {
    pid_t pid, tid;
    enum ptrace_thread_state state;
    enum ptrace_interrupt interrupt; /* PTRACE_THREAD_INTERRUPTED */
    bool follows;                    /* its children are traced as well */
    size_t index;                    /* of it in the sampler */
    int schedstat_fd, stat_fd, sched_fd;

    struct ptrace_schedule seen; /* at the last look at it */
    bool asleep;                 /* at that look */
    uint64_t next_look;          /* tick */
    uint32_t pause;              /* ticks between two looks */
    uint32_t cpu;                /* where it ran */
    bool is_realtime;            /* its policy lets it run before the sampler, without a limit */
    uint64_t last_ran;           /* tick */

    uint64_t first_cpu;      /* ns when it began to be traced */
    uint64_t first_clock;    /* of a main thread: ns of its process's clock then, ... */
    uint64_t last_clock;     /* ... and at its end, as far as that has come; 0: it has not */
    uint64_t sampled_cpu;    /* ns at its last sample */
    uint64_t stopped_slices; /* at its last sample */

    uint64_t stopped;               /* ns: when its last stop was noticed */
    struct ptrace_schedule at_stop; /* zeros: not known */
    uint64_t instant;               /* ns: PTRACE_INTERRUPT_AT_INSTANT; `seen` is of then */

    struct ptrace_run run; /* when it ran and when it waited */
    uint64_t held_since;   /* ns: since when it may be stopped, and that is not in run.held; 0: it is not */

    uint32_t stack_size; /* bytes to copy */
    bool is_too_deep;    /* for the largest copy */
    bool hold;           /* it is to stay stopped until its stack is walked */
    uint32_t calm;       /* samples in a row whose stack was no trouble */

    char name[16];
    uint64_t next_name;    /* ns: when to read it again */
    uint64_t named_slices; /* when a sleeping thread's was read */
};

struct ptrace_thread *ptrace_thread_new(pid_t pid, pid_t tid);
void ptrace_thread_free(struct ptrace_thread *thread);

/* Opens the files anew when they are needed: exec has given the number of the thread to another one. */
void ptrace_thread_close_files(struct ptrace_thread *thread);

/* False if the thread has ended, or the kernel does not say (CONFIG_SCHED_INFO). */
bool ptrace_thread_schedule(struct ptrace_thread *thread, struct ptrace_schedule *schedule);

/* 'R' if it runs or waits for a CPU, and other letters of proc(5); 0 if it has ended. Notes the CPU and the policy. */
char ptrace_thread_scheduler_state(struct ptrace_thread *thread);

/* When it left its CPU, ns of a clock that the threads of one CPU have in common; 0: the kernel does not report it
 * (CONFIG_SCHED_DEBUG). Costs 5 us. */
uint64_t ptrace_thread_left_cpu(struct ptrace_thread *thread);

/* Of such a letter: not one that has stopped for us, or has ended. */
bool ptrace_thread_is_asleep(char scheduler_state);

/* It is stopped, or is soon: that time is no wait of its own. The end of that: it goes on. Times are ns. */
void ptrace_thread_hold(struct ptrace_thread *thread, uint64_t now);
void ptrace_thread_release(struct ptrace_thread *thread);

/* Takes in that the scheduler says `schedule` of it now, at which time it sleeps or not. As ptrace_run_take(). */
size_t ptrace_thread_take(struct ptrace_thread *thread, const struct ptrace_schedule *schedule, uint64_t time,
                          bool asleep, struct ptrace_switch *switches);

/* Reads the name. Returns whether it has changed. */
bool ptrace_thread_read_name(struct ptrace_thread *thread);
