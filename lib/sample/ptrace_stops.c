#include "sample/ptrace_internal.h"
#include "os/target_memory.h"
#include "sample/ptrace_sampler.h"

#include "os/clock.h"
#include "os/file_proc.h"
#include "arch/ptrace_registers.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t orphan_age = SECOND / 5; /* ns for which an orphan waits for the fork event of its parent */

enum { CALM_SAMPLES = 256 }; /* consecutive complete samples that end the special treatment of a thread */

/* ---- samples ---- */

/* Copies the stack, and the red zone below sp unless it is unmapped. */
static void copy_stack(const struct ptrace_sampler *sampler, const struct ptrace_thread *thread, uint64_t sp,
                       struct perf_sample *sample)
{
    enum { BELOW = PTRACE_STACK_BELOW_SP };
    const struct target_thread target = {(uint32_t)thread->pid, (uint32_t)thread->tid};
    size_t got = target_memory_read(target, sp - BELOW, sampler->stack, BELOW + thread->stack_size);
    bool is_with_below = got > BELOW;
    sample->stack = sampler->stack + BELOW;
    sample->stack_below = is_with_below ? BELOW : 0;
    sample->stack_size =
        is_with_below ? got - BELOW : target_memory_read(target, sp, sampler->stack + BELOW, thread->stack_size);
    sample->stack_full = sample->stack_size == thread->stack_size;
}

/* Sets *since to the CPU time since the last sample, and emits the switches of the thread until `time`. */
static int update_schedule(struct ptrace_sampler *sampler, struct ptrace_thread *thread, uint64_t time, uint64_t *since,
                           struct error *err)
{
    const struct ptrace_schedule *now = &thread->at_stop;
    *since = now->cpu > thread->sampled_cpu ? now->cpu - thread->sampled_cpu : 0;
    thread->seen = *now;
    thread->sampled_cpu = now->cpu;
    thread->stopped_slices = now->slices;
    return sampler_emit_switches(sampler, thread, thread->tid, now, time, false, err);
}

/* Whether the thread ran until the instant, and has been runnable since. A thread that was already runnable may have
 * been woken at the end of a system call. */
static bool ran_until_instant(const struct ptrace_thread *thread)
{
    return thread->at_stop.ready - thread->seen.ready <= thread->stopped - thread->instant;
}

static void adapt_copy(struct ptrace_thread *thread, const struct ptrace_sample *sample)
{
    thread->calm = sample->was_short || sample->was_bad ? 0 : thread->calm + 1;
    if (thread->calm >= CALM_SAMPLES) {
        thread->hold = false;
        thread->stack_size = PTRACE_STACK_SIZE;
        thread->calm = 0;
    }
    thread->hold |= sample->was_bad;
    if (!sample->was_short || thread->is_too_deep)
        return;
    /* the largest copy is too small, so copying more does not help */
    thread->is_too_deep = thread->stack_size == PTRACE_STACK_MAX;
    thread->stack_size = thread->is_too_deep ? PTRACE_STACK_SIZE : thread->stack_size * 2;
}

/* If the kernel does not report the thread's CPU time, the sample counts as one tick. */
static int take_sample(struct ptrace_sampler *sampler, struct ptrace_thread *thread,
                       const struct user_regs_struct *registers, int signal, struct error *err)
{
    struct ptrace_sample sample = {.record = sampler_make_record(thread, PERF_RECORD_SAMPLE),
                                   .is_stopped = thread->hold};
    struct perf_sample *taken = &sample.record.sample;
    int code = 0;
    taken->registers_abi = ptrace_registers_are_64_bit(registers) ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32;
    ptrace_registers_read(registers, taken->registers);
    taken->ip = taken->registers[UNWIND_REG_PC];
    copy_stack(sampler, thread, taken->registers[UNWIND_REG_SP], taken);
    sample.is_unreadable = !taken->stack_size && errno == EPERM;
    taken->period = sampler->interval;
    if (thread->at_stop.slices)
        code = update_schedule(sampler, thread, sample.record.time, &taken->period, err);
    bool hold = thread->hold;
    if (!hold)
        sampler_resume(sampler, thread, signal);
    if (!code && sample.record.time >= thread->next_name)
        code = sampler_emit_name(sampler, thread, false, sample.record.time, err);
    if (!code && taken->period)
        code = sampler->consumer.sample(sampler->consumer.context, &sample, err);
    adapt_copy(thread, &sample);
    if (hold)
        sampler_resume(sampler, thread, signal);
    return code;
}

/* Call this function after ptrace(), which returns only after the thread has left its CPU, and the kernel has counted
 * the time of the thread. */
static void read_schedule(struct ptrace_thread *thread)
{
    if (!ptrace_thread_read_schedule(thread, &thread->at_stop))
        thread->at_stop = (struct ptrace_schedule){0};
}

static bool is_to_be_sampled(const struct ptrace_thread *thread)
{
    if (thread->state != PTRACE_THREAD_INTERRUPTED)
        return false;
    return thread->interrupt == PTRACE_INTERRUPT_TO_SAMPLE ||
           (thread->interrupt == PTRACE_INTERRUPT_AT_INSTANT && ran_until_instant(thread));
}

/* Resumes a stopped thread, after taking a sample if one is due. The memory and registers of the thread must belong to
 * its program. */
static int sample_and_resume(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int signal,
                             struct error *err)
{
    struct user_regs_struct registers;
    bool is_read = ptrace_registers_fetch(thread->tid, &registers);
    read_schedule(thread);
    if (thread->state == PTRACE_THREAD_INTERRUPTED && thread->at_stop.slices)
        ptrace_thread_skip_runnable(thread, thread->at_stop.ready - thread->seen.ready);
    if (is_read && is_to_be_sampled(thread))
        return take_sample(sampler, thread, &registers, signal, err);
    sampler_resume(sampler, thread, signal);
    return 0;
}

/* ---- stops ---- */

static bool is_ignored_by_default(int signal)
{
    return signal == SIGCHLD || signal == SIGWINCH || signal == SIGURG || signal == SIGCONT;
}

/* Whether `tid` is a thread of the process `pid`. */
static bool is_thread_of(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

static bool handle_orphan(struct ptrace_sampler *sampler, pid_t tid)
{
    for (size_t i = 0; i < sampler->orphans.length; i++) {
        if (sampler->orphans.data[i].tid != tid)
            continue;
        sampler->orphans.data[i] = sampler->orphans.data[--sampler->orphans.length];
        return true;
    }
    return false;
}

static int add_child(struct ptrace_sampler *sampler, pid_t parent_pid, pid_t parent_tid, pid_t pid, pid_t tid,
                     struct error *err)
{
    struct ptrace_thread *child = sampler_find(sampler, tid);
    if (child) /* the sampler missed the end of an older thread with this tid */
        sampler_remove(sampler, child);
    child = sampler_add(sampler, pid, tid, err);
    if (!child)
        return -ENOMEM;
    child->follows = true;
    struct perf_record record = sampler_make_record(child, PERF_RECORD_FORK);
    record.task.parent_pid = (uint32_t)parent_pid;
    record.task.parent_tid = (uint32_t)parent_tid;
    child->run.last.time = record.time;
    ptrace_thread_begin_stop(child, record.time);
    const struct ptrace_thread *parent = sampler_find(sampler, parent_tid);
    if (parent)
        memcpy(child->name, parent->name, sizeof(child->name));
    int code = sampler_emit(sampler, &record, err);
    if (handle_orphan(sampler, tid))
        sampler_resume(sampler, child, 0);
    return code;
}

static int handle_fork(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int event, struct error *err)
{
    unsigned long message;
    int code = 0;
    if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message) == 0) {
        pid_t tid = (pid_t)message, pid = thread->pid;
        if (event != PTRACE_EVENT_CLONE || !is_thread_of(pid, tid))
            pid = tid;
        code = add_child(sampler, thread->pid, thread->tid, pid, tid, err);
    }
    return code ? code : sample_and_resume(sampler, thread, 0, err);
}

/* Traces children whose parents were killed before their fork events. */
static int adopt_orphans(struct ptrace_sampler *sampler, struct error *err)
{
    uint64_t now = monotonic_ns();
    int code = 0;
    for (size_t i = 0; i < sampler->orphans.length && !code;) {
        struct orphan orphan = sampler->orphans.data[i];
        if (now < orphan.time + orphan_age) {
            i++;
            continue;
        }
        pid_t pid = (pid_t)proc_read_status_number((uint32_t)orphan.tid, "Tgid:", 0);
        pid_t parent = pid == orphan.tid ? (pid_t)proc_read_status_number((uint32_t)pid, "PPid:", 0) : pid;
        if (pid)
            code = add_child(sampler, parent, parent, pid, orphan.tid, err);
        else
            handle_orphan(sampler, orphan.tid);
    }
    return code;
}

/*
 * Handles exec: the calling thread continues alone, with the pid as its tid. The other threads have ended. If the first
 * thread was not the caller, ptrace does not report its end. The new program starts at the moment of the last switches,
 * because the next switches may begin at that moment.
 */
static int handle_exec(struct ptrace_sampler *sampler, struct ptrace_thread *thread, struct error *err)
{
    unsigned long message = (unsigned long)thread->tid;
    ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message);
    const struct ptrace_thread *caller = sampler_find(sampler, (pid_t)message);
    int code = 0;
    if (caller && caller != thread && caller->pid == thread->pid) {
        code = sampler_emit_end(sampler, thread, false, err);
        thread->run = caller->run;
        thread->held_since = caller->held_since;
        thread->first_cpu = caller->first_cpu;
        thread->sampled_cpu = caller->sampled_cpu;
        thread->stopped_slices = caller->stopped_slices;
        thread->cpu = caller->cpu;
    }
    for (size_t i = sampler->threads.length; i-- > 0;) {
        struct ptrace_thread *other = sampler->threads.data[i];
        if (other->pid != thread->pid || other == thread)
            continue;
        if (other != caller && !code)
            code = sampler_emit_end(sampler, other, true, err);
        sampler_remove(sampler, other);
    }
    ptrace_thread_close_files(thread);
    bool is_known = ptrace_thread_read_schedule(thread, &thread->seen);
    uint64_t time = monotonic_ns();
    if (!code && is_known)
        code = sampler_emit_switches(sampler, thread, (pid_t)message, &thread->seen, time, false, err);
    if (!thread->follows) /* recording starts at exec */
        thread->first_clock = process_read_clock_ns((uint32_t)thread->pid);
    if (!thread->follows) {
        thread->run = (struct ptrace_run){.last = {.time = time, .schedule = thread->seen}, .is_reported = true};
        ptrace_thread_read_preemptions(thread);
    }
    thread->hold = thread->is_too_deep = false;
    thread->stack_size = PTRACE_STACK_SIZE;
    if (!thread->follows)
        thread->follows = ptrace(PTRACE_SETOPTIONS, thread->tid, NULL, sampler->follow_options) == 0;
    if (!code)
        code = sampler_emit_name(sampler, thread, true, time, err);
    sampler_set_state(sampler, thread, PTRACE_THREAD_RUNS);
    sampler_resume(sampler, thread, 0);
    return code;
}

static bool stops_process(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * A signal for the process wakes one of its threads, but a faster thread may take the signal. Without prof, an ignored
 * signal wakes no thread. So the sampler interrupts running and runnable threads, to correct the results of their
 * system calls.
 */
static void interrupt_other_threads(struct ptrace_sampler *sampler, const struct ptrace_thread *thread)
{
    for (size_t i = 0; i < sampler->threads.length; i++) {
        struct ptrace_thread *other = sampler->threads.data[i];
        if (other->pid == thread->pid && other != thread && other->state == PTRACE_THREAD_RUNS &&
            ptrace_thread_read_state(other) == 'R')
            sampler_interrupt(sampler, other, PTRACE_INTERRUPT_ONLY);
    }
}

static int emit_signal(struct ptrace_sampler *sampler, const struct ptrace_thread *thread, int signal,
                       struct error *err)
{
    siginfo_t info = {0};
    bool is_sent = ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) == 0 &&
                   (info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE);
    return thread->follows ? sampler->consumer.signal(sampler->consumer.context, thread->pid, thread->tid, signal,
                                                      is_sent ? info.si_pid : 0, err)
                           : 0;
}

/* Emits the switches of a thread until now. `asleep`: a signal has stopped the thread. */
static int emit_switches_until_stop(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool asleep,
                                    struct error *err)
{
    read_schedule(thread);
    return thread->at_stop.slices
               ? sampler_emit_switches(sampler, thread, thread->tid, &thread->at_stop, monotonic_ns(), asleep, err)
               : 0;
}

static int handle_stop(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int status, struct error *err)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    thread->stopped = monotonic_ns();
    ptrace_thread_begin_stop(thread, thread->stopped);
    /* the sampler does not check a thread that a signal has stopped, so only this stop shows the end of that wait */
    int code = thread->state == PTRACE_THREAD_LISTENS ? emit_switches_until_stop(sampler, thread, false, err) : 0;
    if (code)
        return code;
    switch (event) {
    case 0: /* the kernel is about to deliver a signal; any stop replaces an interrupt */
        if (is_ignored_by_default(signal))
            interrupt_other_threads(sampler, thread);
        code = emit_signal(sampler, thread, signal, err);
        return code ? code : sample_and_resume(sampler, thread, signal, err);
    case PTRACE_EVENT_STOP:
        if (stops_process(signal)) {
            sampler_set_state(sampler, thread, PTRACE_THREAD_LISTENS);
            code = emit_switches_until_stop(sampler, thread, true, err);
            ptrace_thread_end_stop(thread);
            ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
            return code;
        }
        return sample_and_resume(sampler, thread, 0, err);
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        return handle_fork(sampler, thread, event, err);
    case PTRACE_EVENT_EXEC:
        return handle_exec(sampler, thread, err);
    case PTRACE_EVENT_EXIT:
        code = sampler_emit_end(sampler, thread, true, err);
        sampler_resume(sampler, thread, 0);
        return code;
    default:
        return sample_and_resume(sampler, thread, 0, err);
    }
}

static int handle_status(struct ptrace_sampler *sampler, pid_t tid, int status, const struct rusage *usage,
                         struct error *err)
{
    struct ptrace_thread *thread = sampler_find(sampler, tid);
    int code = 0;
    if (!WIFSTOPPED(status)) {
        handle_orphan(sampler, tid);
        if (thread) {
            code = sampler_emit_end(sampler, thread, true, err);
            sampler_remove(sampler, thread);
        }
        sampler->consumer.ended(sampler->consumer.context, tid, status, usage);
        return code;
    }
    if (thread)
        return handle_stop(sampler, thread, status, err);
    struct orphan orphan = {.tid = tid, .time = monotonic_ns()};
    return array_push(&sampler->orphans, orphan) ? 0 : error_no_memory(err);
}

/* Returns the next thread with a status, without reaping it: the clock of an ended process is readable until then. */
static pid_t find_status(const struct ptrace_sampler *sampler)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
        return 0;
    bool has_ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    struct ptrace_thread *thread = has_ended ? sampler_find(sampler, info.si_pid) : NULL;
    if (thread)
        sampler_store_clock(thread);
    return info.si_pid;
}

int ptrace_sampler_handle_stops(struct ptrace_sampler *sampler, struct error *err)
{
    int status, code = 0;
    struct rusage usage;
    pid_t tid;
    while (!code && (tid = find_status(sampler)) > 0 && wait4(tid, &status, __WALL | WNOHANG, &usage) == tid)
        code = handle_status(sampler, tid, status, &usage, err);
    return code || !sampler->orphans.length ? code : adopt_orphans(sampler, err);
}
