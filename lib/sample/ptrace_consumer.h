/*
 * The interface to the consumer of the ptrace sampler's samples and of its records of threads and processes.
 */
#pragma once

#include "base/error.h"
#include "sample/perf_record.h"

#include <sys/resource.h>
#include <sys/types.h>

enum { PTRACE_STACK_SIZE = 32 * 1024, PTRACE_STACK_MAX = 1 << 20 }; /* stack bytes copied: initially, and at most */

struct ptrace_sample {
    struct perf_record record; /* PERF_RECORD_SAMPLE; its period is the CPU time in ns since the thread's last sample */
    bool is_stopped;           /* the thread stays stopped until the consumer returns */
    bool is_unreadable;        /* the sample has no stack: this user may not read the memory of the process */

    /* Set by the consumer. */
    bool was_short; /* the stack is deeper than its copy, so the sampler copies more next time */
    /* The walk did not reach the thread's start, or needed memory outside the copy. The sampler then keeps the thread
     * stopped next time. */
    bool was_bad;
};

struct ptrace_consumer {
    /* Receives a FORK, COMM, EXIT or SWITCH record. The process is stopped at a COMM record of exec. */
    int (*record)(void *context, const struct perf_record *record, struct error *err);
    int (*sample)(void *context, struct ptrace_sample *sample, struct error *err);
    /* Reports a signal that is about to reach a thread. `sender`: pid, or 0 (the kernel, or unknown). Does not
     * report SIGKILL. */
    int (*signal)(void *context, pid_t pid, pid_t tid, int signal, pid_t sender, struct error *err);
    /* Reports the end of a process or thread, with its status and usage from wait4(). */
    void (*ended)(void *context, pid_t tid, int status, const struct rusage *usage);
    void *context;
};
