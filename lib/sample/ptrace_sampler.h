/*
 * Samples threads without perf events, by stopping them: ptrace(2). What perf tells by records (threads and processes
 * that start, exec, end, change their name) it tells by the same records, in causal order. It does not see mappings.
 *
 * At a random instant the sampler wakes on the CPU of a thread in place of that thread (sampling_clock.h), finds it in
 * /proc, interrupts it, and goes on; the stop comes when it comes. Waiting for it would take 8 ms where there are more
 * threads than CPUs, because an interrupted thread has to get a CPU before it can stop. At a stop the sampler copies
 * the registers and the stack in 6-11 us, continues the thread, and then walks the stack. A thread whose last stacks
 * were trouble stays stopped until it is walked, so that more of it can be read.
 *
 * The thread that was hit is the one that left the CPU last, and it has waited for a CPU since the instant and no
 * longer. Others that wait there are not sampled: many were woken, and stand at the end of a system call. Threads of
 * real-time policies, which the sampler could not preempt, and of CPUs where it may not run, are interrupted from
 * elsewhere when they are found running; that counts too much for their system calls.
 *
 * A sample stands for the CPU time since the thread's last one (schedstat).
 *
 * When threads run and when they wait is told by SWITCH records, as far as the looks and the scheduler's figures tell
 * (ptrace_run.h). The times of such a record may be earlier than those of records before it that are of other threads.
 *
 * The target must not notice:
 *
 * - Threads that sleep are not interrupted. The thread may fall asleep between the look and the interrupt, and signals
 *   that a program ignores do reach a traced one: what a system call then returns is put right
 *   (ptrace_registers_restart()).
 * - Signals are passed on, a process that is stopped stays stopped until SIGCONT, children are traced from their first
 *   instruction.
 * - Nothing is left behind when the sampler ends, even by SIGKILL: the kernel then detaches from every thread, running
 *   or not. That is also how the sampler ends when all is well, because ptrace() alone can detach from stopped threads
 *   only: the recorder runs it on a thread of its own, which ends.
 *
 * What a program can notice all the same: a set-user-ID program runs without that privilege unless the tracer has
 * CAP_SYS_PTRACE; ptrace and PTRACE_TRACEME (debuggers, strace) are refused; TracerPid in /proc/PID/status is set; a
 * write to a pipe or a receive with MSG_WAITALL may return early, as after any signal; a timed wait of those that
 * return EINTR starts anew.
 *
 * Threads: one thread must make all calls, because the kernel ties traced threads to the thread that traces them.
 */
#pragma once

#include "base/error.h"
#include "sample/cpu_pin.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { PTRACE_STACK_SIZE = 32 * 1024, PTRACE_STACK_MAX = 1 << 20 }; /* bytes copied: at first, and at most */

struct ptrace_sample {
    struct perf_record record; /* PERF_RECORD_SAMPLE; its period is the CPU time in ns since the thread's last sample */
    bool is_stopped;           /* the thread stays stopped until the consumer returns */
    bool is_unreadable;        /* this user may not read the memory of the process: there is no stack */

    /* Set by the consumer. */
    bool was_short; /* the stack is deeper than its copy: copy more of the next one */
    bool was_bad;   /* its walk did not reach the start, or needed memory that is not in the copy: keep the thread
                       stopped for the next one */
};

struct ptrace_consumer {
    /* Takes a FORK, COMM, EXIT or SWITCH record. At a COMM record of exec the process is stopped. */
    int (*record)(void *context, const struct perf_record *record, struct error *err);
    int (*sample)(void *context, struct ptrace_sample *sample, struct error *err);
    /* A signal is about to reach a thread. `sender`: the pid of who sent it; 0: the kernel, or not known. SIGKILL is
     * not told. */
    int (*signal)(void *context, pid_t pid, pid_t tid, int signal, pid_t sender, struct error *err);
    /* A process or thread has ended and was waited for, with this status, as of wait4(). */
    void (*ended)(void *context, pid_t tid, int status, const struct rusage *usage);
    void *context;
};

struct ptrace_sampler;

/* `rate`: samples per second of CPU time. `has_children`: child processes are traced as well, not only threads. The
 * consumer's context and the pin, by which the sampler moves its thread, must outlive the sampler. */
int ptrace_sampler_new(struct ptrace_sampler **out, const struct ptrace_consumer *consumer, uint32_t rate,
                       bool has_children, struct cpu_pin *pin, struct error *err);

/* Frees the memory. Threads stay traced until the calling thread ends. NULL is allowed. */
void ptrace_sampler_free(struct ptrace_sampler *sampler);

/* Traces a thread, and the threads and processes that it starts from now on; with `at_exec` from when it calls exec on.
 * -ESRCH if it has ended, -EEXIST if it is traced by this sampler already, -EPERM if it may not be traced, with a
 * sentence. */
int ptrace_sampler_seize(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, bool at_exec, struct error *err);

/* Traces no processes that this thread starts from now on: they are traced by it. At a COMM record of exec. */
void ptrace_sampler_leave_children(struct ptrace_sampler *sampler, pid_t tid);

/* Counts the CPU time of a process, whose threads are traced, from this value of its clock (ns) on. */
void ptrace_sampler_count_from(struct ptrace_sampler *sampler, pid_t pid, uint64_t clock);

/* A file descriptor that becomes readable (epoll) when ptrace_sampler_tick() is to be called. */
int ptrace_sampler_timer(const struct ptrace_sampler *sampler);

/* Sets that file descriptor, and moves the thread to a CPU: to be called right before the thread waits for it. */
void ptrace_sampler_sleeps(struct ptrace_sampler *sampler);

/* Reads the states of the threads, and interrupts those to sample. To be called before anything else is done when the
 * thread wakes. Fails only if the consumer does, like those below. */
int ptrace_sampler_tick(struct ptrace_sampler *sampler, struct error *err);

/* Has SWITCH records tell of the sleeping threads up to now; with `all` of those that run as well, which for these may
 * be some ms of CPU time too early or too late. */
int ptrace_sampler_settle(struct ptrace_sampler *sampler, bool all, struct error *err);

/* The longest time between two looks at a thread so far, ns: shorter waits may be told as one. */
uint64_t ptrace_sampler_look_interval(const struct ptrace_sampler *sampler);

/* Serves the stops that have come: to be called when SIGCHLD has come. */
int ptrace_sampler_serve(struct ptrace_sampler *sampler, struct error *err);

/* Whether stops are still to come. Without ticks there are soon none. */
bool ptrace_sampler_is_waiting(const struct ptrace_sampler *sampler);

/* ns of CPU that all threads used while they were traced. */
uint64_t ptrace_sampler_cpu_time(struct ptrace_sampler *sampler);
