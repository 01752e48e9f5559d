/*
 * Samples threads without perf events, by stopping them: ptrace(2). It makes the records that perf events make of
 * threads and processes that start, exec, end and change their name, in causal order. It does not see mappings.
 *
 * At a random instant the sampler wakes on the CPU of a thread in place of that thread (sampling_clock.h), finds it in
 * /proc, interrupts it, and continues; the stop comes later. At a stop the sampler copies the registers and the stack
 * in 6-11 us, continues the thread, and then walks the stack. A thread whose last stacks were incomplete stays stopped
 * until it is walked, so that more of its stack can be read. Why in this order: docs/decisions.md, "Unwind after the
 * thread continues".
 *
 * The thread that was hit is the one that left the CPU last, and it has waited for a CPU since the instant. Other
 * threads that wait there are not sampled: many were woken, and stand at the end of a system call. Threads of
 * real-time policies, which the sampler cannot preempt, and of CPUs where it may not run, are interrupted from another
 * CPU when they are found running; that counts too much for their system calls.
 *
 * A sample stands for the CPU time since the thread's last one (schedstat).
 *
 * SWITCH records report when threads run and when they wait, as far as readings of the threads and the scheduler's
 * counts show (ptrace_run.h). The time of such a record may be earlier than that of a record before it, of another
 * thread.
 *
 * The target must not notice:
 *
 * - Sleeping threads are not interrupted. A thread may fall asleep between the reading and the interrupt, and signals
 *   that a program ignores reach a traced one: ptrace_registers_restart() corrects the result of the system call.
 * - Signals are passed on, a process that is stopped stays stopped until SIGCONT, children are traced from their first
 *   instruction.
 * - Nothing stays behind when the sampler ends, even by SIGKILL: the kernel then detaches from every thread, running
 *   or not. The sampler always ends that way, because ptrace() itself detaches from stopped threads only: the recorder
 *   runs the sampler on a thread of its own, which ends.
 *
 * What a program can notice: a set-user-ID program runs without that privilege unless the tracer has CAP_SYS_PTRACE;
 * ptrace and PTRACE_TRACEME (debuggers, strace) are refused; TracerPid in /proc/PID/status is set; a write to a pipe
 * or a receive with MSG_WAITALL may return early, as after any signal; a timed wait of those that return EINTR starts
 * anew.
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
