/*
 * What a thread waits for, as the kernel tells without stopping it: /proc/PID/task/TID/syscall has the number and the
 * arguments of the system call that a sleeping thread is in, and its sp and pc (proc(5)).
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values are in spool files. */
enum wait_reason {
    REASON_UNKNOWN,
    REASON_LOCK,       /* futex, file locks, System V semaphores */
    REASON_SLEEP,      /* until a time, or until a signal comes */
    REASON_DISK,       /* files and folders */
    REASON_NETWORK,    /* sockets, and poll() and its kin */
    REASON_PIPE,       /* pipes, terminals, event counters, message queues */
    REASON_PAGE_FAULT, /* memory that has to be brought in */
    REASON_CHILD,      /* the end of a process */
    REASON_PREEMPTED,  /* nothing: it could run, and others did */
};
enum { WAIT_REASONS = REASON_PREEMPTED + 1 };

/* For users: "Lock"; that of REASON_UNKNOWN is "Other". */
extern const char *const wait_reason_names[WAIT_REASONS];

enum { WAIT_OBJECT_SIZE = 256, WAIT_ARGUMENTS = 6 };

struct wait_state {
    bool is_awake;   /* it does not wait: it runs, or is ready to */
    uint64_t sp, pc; /* 0 for a thread of the kernel */
    bool is_in_call; /* a system call with these arguments, as many as any has */
    uint64_t arguments[WAIT_ARGUMENTS];
    enum wait_reason reason;
    char object[WAIT_OBJECT_SIZE]; /* what it waits for: "lock 0x7f0012345678", "pipe:[77]", "sleep" */
};

/*
 * Reads what the thread `tid` of process `pid` waits for. Returns 1 and fills `state` if it waits. Returns 0 if it does
 * not: it runs, is ready to, or has ended. -EACCES if this user may not know (the Yama security module, other users).
 */
int wait_state_read(uint32_t pid, uint32_t tid, struct wait_state *state);

/* Parses the line of /proc/PID/task/TID/syscall: false if it is not of a thread that waits. `number`: of the system
 * call, -1 outside of one. */
bool wait_state_parse(const char *line, int64_t *number, uint64_t arguments[WAIT_ARGUMENTS], uint64_t *sp,
                      uint64_t *pc);
