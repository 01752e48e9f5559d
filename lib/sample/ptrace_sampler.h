/*
 * Samples threads without perf events, by stopping them with ptrace(2). Emits records as perf events do when threads
 * and processes start, exec, exit and change their name, in causal order. Emits no records of mappings.
 *
 * At a random instant the sampler wakes on the CPU of a thread in place of that thread (sampling_clock.h), finds the
 * thread in /proc and interrupts it; the thread stops later. At a stop the sampler copies the registers and the stack
 * in 6-11 us, continues the thread, and then walks the stack. A thread whose last stacks were incomplete stays stopped
 * during the walk, so that the walker can read more of its stack. docs/decisions.md, "The sampler unwinds after the
 * thread continues", has the reasons for this order.
 *
 * The thread hit by the instant is the last thread that left the CPU and has been runnable since. The sampler ignores
 * other runnable threads of the CPU, because many were just woken, at the end of a system call. The sampler cannot
 * preempt threads of real-time policies, nor threads on CPUs where the sampler may not run. The sampler interrupts such
 * threads from another CPU when it finds them running, so their system calls get too many samples.
 *
 * A sample stands for the CPU time since the thread's previous sample (schedstat).
 *
 * SWITCH records report when threads run and wait, computed from the scheduler's counts (ptrace_run.h). SWITCH records
 * may be out of order across threads.
 *
 * The target must not notice:
 *
 * - Sleeping threads are not interrupted. A thread may fall asleep between the reading and the interrupt, and signals
 *   that a program ignores reach a traced one: ptrace_registers_fetch() corrects the result of the system call.
 * - The sampler forwards signals; a stopped process stays stopped until SIGCONT; children are traced from their first
 *   instruction.
 * - The sampler leaves nothing behind when it ends, even by SIGKILL: the kernel detaches from every thread when the
 *   tracer's thread ends. ptrace() itself can only detach from stopped threads, so the recorder runs the sampler on a
 *   separate thread, and ends that thread.
 *
 * A program can notice these effects: a set-user-ID program runs without that privilege unless the tracer has
 * CAP_SYS_PTRACE; ptrace and PTRACE_TRACEME (debuggers, strace) are refused; TracerPid in /proc/PID/status is set; a
 * write to a pipe or a receive with MSG_WAITALL may return early, as after any signal; a timed wait that returns EINTR
 * after signals restarts with its full time.
 *
 * Threads: one thread must make all calls, because the kernel ties traced threads to the thread that traces them.
 */
#pragma once

#include "base/error.h"
#include "sample/cpu_pin.h"
#include "sample/ptrace_consumer.h"

#include <sys/types.h>

struct ptrace_sampler;

/* `rate`: samples per second of CPU time. `has_children`: also traces child processes. `pin`: chooses the CPU of the
 * sampler's thread. The consumer's context and the pin must outlive the sampler. */
int ptrace_sampler_new(struct ptrace_sampler **out, const struct ptrace_consumer *consumer, uint32_t rate,
                       bool has_children, struct cpu_pin *pin, struct error *err);

/* Frees the memory. Threads stay traced until the calling thread ends. Accepts NULL. */
void ptrace_sampler_free(struct ptrace_sampler *sampler);

/* Traces a thread and its future children. `at_exec`: tracing starts at the thread's exec. -ESRCH if the thread has
 * ended; -EEXIST if this sampler already traces it; -EPERM with a sentence if this user may not trace it. */
int ptrace_sampler_seize(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, bool at_exec, struct error *err);

/* Stops tracing the future children of a thread that traces its children itself. Call this function at a COMM record of
 * exec. */
void ptrace_sampler_stop_tracing_children(struct ptrace_sampler *sampler, pid_t tid);

/* Sets the CPU clock of a traced process at the start of its recorded CPU time. `clock`: ns. */
void ptrace_sampler_set_clock_start(struct ptrace_sampler *sampler, pid_t pid, uint64_t clock);

/* Interrupts a traced thread for one sample. The thread stays stopped while the consumer walks its stack. */
void ptrace_sampler_sample_once(struct ptrace_sampler *sampler, pid_t tid);

/* Whether a signal has stopped the thread. */
bool ptrace_sampler_is_stopped(const struct ptrace_sampler *sampler, pid_t tid);

/* Returns the time (ns) since a sleeping traced thread left its CPU, or 0 if unknown. Moves the calling thread to this
 * CPU, whose clock measures the time. */
uint64_t ptrace_sampler_measure_sleep(struct ptrace_sampler *sampler, pid_t tid);

/* Returns a file descriptor, readable (epoll) when ptrace_sampler_interrupt_threads() is due. */
int ptrace_sampler_get_timer(const struct ptrace_sampler *sampler);

/* Arms the timer of the next tick, and moves the calling thread to a CPU. Call this function right before waiting.
 * `pass`: planned time (ns) of the next pass over waits, or UINT64_MAX for none. Returns whether the calling thread has
 * been on the CPU of this pass since before this time. */
bool ptrace_sampler_arm(struct ptrace_sampler *sampler, uint64_t pass);

/* Reads the states of the threads, and interrupts the threads to sample. Call this function first after each wakeup.
 * Like the functions below, it fails only if the consumer fails. */
int ptrace_sampler_interrupt_threads(struct ptrace_sampler *sampler, struct error *err);

/* Checks all threads if the sampler has at most 64 threads. Call this function before a pass over waits, so that the
 * pass also reads the waits that began since the last tick. */
int ptrace_sampler_check_threads(struct ptrace_sampler *sampler, struct error *err);

/* Emits the SWITCH records of sleeping threads up to now. With `all`, running threads also get new times, which may
 * be wrong by some ms of CPU time. */
int ptrace_sampler_update_times(struct ptrace_sampler *sampler, bool all, struct error *err);

/* Returns the longest time (ns) between two checks of a thread so far. Shorter waits may be merged. */
uint64_t ptrace_sampler_get_check_interval(const struct ptrace_sampler *sampler);

/* Handles pending stops. Call this function after SIGCHLD. */
int ptrace_sampler_handle_stops(struct ptrace_sampler *sampler, struct error *err);

/* Whether interrupted threads have not yet stopped. Soon false without ticks. */
bool ptrace_sampler_is_waiting(const struct ptrace_sampler *sampler);

/* Returns the CPU time (ns) of all threads while they were traced. */
uint64_t ptrace_sampler_get_cpu_time(struct ptrace_sampler *sampler);
