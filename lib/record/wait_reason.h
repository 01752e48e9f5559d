/*
 * Finds out what a thread waits for, without stopping it: /proc/PID/task/TID/syscall has the number and the arguments
 * of a sleeping thread's system call, and its sp and pc (proc(5)).
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "spool/wait_reasons.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAIT_OBJECT_SIZE = 256, WAIT_ARGUMENTS = 6 };

struct wait_state {
    uint64_t asked, known; /* ns, CLOCK_MONOTONIC: before and after its system call was read */
    bool is_awake;         /* runs or is runnable */
    uint64_t sp, pc;       /* 0: a kernel thread */
    bool is_in_call;       /* in a system call with these arguments */
    uint64_t arguments[WAIT_ARGUMENTS];
    enum wait_reason reason;
    char object[WAIT_OBJECT_SIZE]; /* "lock 0x7f0012345678", "thread reader (501)", "pipe:[77]", "sleep" */
};

/*
 * Finds out what thread `tid` of process `pid` waits for. Returns 1 and fills in `state` if it waits, or 0 if it runs,
 * is runnable, or has ended; -EACCES if this user may not know (Yama, another user's process).
 */
int wait_state_read(uint32_t pid, uint32_t tid, struct wait_state *state);

/* Parses the line of /proc/PID/task/TID/syscall. False if the thread does not wait. *number: of the system call, or
 * -1 for none. */
bool wait_state_parse(const char *line, int64_t *number, uint64_t arguments[WAIT_ARGUMENTS], uint64_t *sp,
                      uint64_t *pc);
