/*
 * Finds the reason for which a thread waits, without stopping the thread: /proc/PID/task/TID/syscall has the number and
 * the arguments of a sleeping thread's system call, and its sp and pc (proc(5)).
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/standard.h"
#include "process/thread_run.h"
#include "spool/wait_reasons.h"

enum { WAIT_OBJECT_SIZE = 256, WAIT_ARGUMENTS = 6 };

struct wait_state {
    uint64_t asked, known; /* ns, CLOCK_MONOTONIC: before and after prof read the system call */
    bool is_awake;         /* the thread runs or is runnable */
    uint64_t sp, pc;       /* 0: a kernel thread */
    int64_t number;        /* of the system call, or -1 for none */
    uint64_t arguments[WAIT_ARGUMENTS];
    /* wait_state_describe() */
    uint32_t cpu; /* CPU on which the thread ran last */
    enum wait_reason reason;
    char object[WAIT_OBJECT_SIZE]; /* "lock 0x7f0012345678", "thread reader (501)", "pipe:[77]", "sleep" */
};

/*
 * Reads the system call in which thread `tid` of process `pid` waits. Returns 1 and fills in `state` if the thread
 * waits. Returns 0 if the thread runs, is runnable, or has ended. Returns -EACCES if this user may not read the process
 * (Yama, another user's process). `last`: the thread's last system call that a reading found, which this function
 * updates. After a stop, the kernel continues a wait with a timeout in another system call, restart_syscall(), which
 * keeps the arguments of the interrupted call.
 */
int wait_state_read(uint32_t pid, uint32_t tid, struct waiting_call *last, struct wait_state *state);

/* Finds the reason for which a thread waits in the system call that wait_state_read() has found. */
void wait_state_describe(uint32_t pid, uint32_t tid, struct wait_state *state);

/* Fills in the reason and the object of a thread of an ended process in a system call. Its files are unknown. */
void wait_state_describe_call(int64_t number, const uint64_t arguments[WAIT_ARGUMENTS], struct wait_state *state);

/* Parses the line of /proc/PID/task/TID/syscall. False if the thread does not wait. Sets *number to the number of the
 * system call, or to -1 for none. */
bool wait_state_parse(const char *line, int64_t *number, uint64_t arguments[WAIT_ARGUMENTS], uint64_t *sp,
                      uint64_t *pc);
