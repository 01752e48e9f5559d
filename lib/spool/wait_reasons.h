/* Why a thread waits. Spool files contain these values. */
#pragma once

enum wait_reason {
    REASON_UNKNOWN,
    REASON_LOCK,       /* futex, file locks, System V semaphores */
    REASON_SLEEP,      /* until a time or a signal */
    REASON_DISK,       /* files and directories */
    REASON_NETWORK,    /* waits for sockets, poll(), select(), epoll_wait() */
    REASON_PIPE,       /* waits for pipes, terminals, event counters, message queues */
    REASON_PAGE_FAULT, /* waits for memory that the kernel has to load */
    REASON_CHILD,      /* the end of a process */
    REASON_RUNNABLE,   /* a wait for a CPU: the thread is runnable, and other threads run */
    REASON_UNSEEN,     /* sum of short waits without a reading of their cause */
    REASON_STOPPED,    /* a stop by a signal or a tracer, until a signal continues the process */
    REASON_IO_URING,   /* files, sockets and timeouts of an io_uring */
};
enum { WAIT_REASONS = REASON_IO_URING + 1 };

/* Names for users: "Lock"; "Other" for REASON_UNKNOWN. */
extern const char *const wait_reason_names[WAIT_REASONS];
