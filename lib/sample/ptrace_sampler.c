#include "sample/ptrace_sampler.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/file_proc.h"
#include "base/hash.h"
#include "sample/ptrace_registers.h"
#include "sample/ptrace_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static const uint64_t name_interval = SECOND; /* between two readings of the name of a thread that runs, ... */
static const uint64_t sleeper_name_interval = SECOND / 20; /* ... and of one that sleeps and has run since */
static const uint64_t orphan_age = SECOND / 5;             /* after which the parent of a child is not waited for */
enum {
    CALM_SAMPLES = 256,    /* after which a thread counts as any other */
    MIN_LONGEST_PAUSE = 8, /* ticks between two looks at a thread that sleeps */
    SLEEPERS_PER_TICK = 32,
    STACK_BELOW_SP = 128, /* bytes of the red zone (System V psABI, 3.2.2) */
};

/* A child that has stopped for the first time, and whose parent has not said yet that it has one. */
struct orphan {
    pid_t tid;
    uint64_t time;
};

struct ptrace_sampler {
    struct ptrace_consumer consumer;
    uintptr_t follow_options; /* of ptrace, for threads that are followed */
    uint64_t interval;        /* ns between two ticks */
    uint64_t started;         /* ns */
    uint64_t tick;
    int timer_fd;
    ARRAY(struct ptrace_thread *) threads;
    struct hash by_tid; /* -> index */
    ARRAY(struct orphan) orphans;
    size_t interrupted;   /* threads whose stop is to come */
    size_t sleepers;      /* at the last tick */
    uint32_t most_paused; /* ticks: the longest time between two looks at a thread so far */
    uint64_t ended_cpu;   /* ns of the threads that have ended */
    unsigned char *stack; /* STACK_BELOW_SP + PTRACE_STACK_MAX */
};

/* ---- threads ---- */

static struct ptrace_thread *find(const struct ptrace_sampler *sampler, pid_t tid)
{
    uint32_t index = hash_get(&sampler->by_tid, (uint64_t)tid);
    return index == HASH_MISSING ? NULL : sampler->threads.data[index];
}

static struct ptrace_thread *add(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, struct error *err)
{
    struct ptrace_thread *thread = ptrace_thread_new(pid, tid);
    if (thread) {
        thread->index = sampler->threads.length;
        thread->stack_size = PTRACE_STACK_SIZE;
        if (array_push(&sampler->threads, thread)) {
            if (hash_set(&sampler->by_tid, (uint64_t)tid, (uint32_t)thread->index))
                return thread;
            sampler->threads.length--;
        }
    }
    ptrace_thread_free(thread);
    error_no_memory(err);
    return NULL;
}

static void set_state(struct ptrace_sampler *sampler, struct ptrace_thread *thread, enum ptrace_thread_state state)
{
    sampler->interrupted -= thread->state == PTRACE_THREAD_INTERRUPTED;
    sampler->interrupted += state == PTRACE_THREAD_INTERRUPTED;
    thread->state = state;
}

static void drop(struct ptrace_sampler *sampler, struct ptrace_thread *thread)
{
    set_state(sampler, thread, PTRACE_THREAD_EXITS);
    struct ptrace_thread *last = sampler->threads.data[--sampler->threads.length];
    sampler->threads.data[thread->index] = last;
    last->index = thread->index;
    if (last != thread)
        hash_set(&sampler->by_tid, (uint64_t)last->tid, (uint32_t)last->index);
    hash_remove(&sampler->by_tid, (uint64_t)thread->tid);
    ptrace_thread_free(thread);
}

/* ---- records ---- */

static struct perf_record record_of(const struct ptrace_thread *thread, uint32_t type)
{
    return (struct perf_record){.type = type,
                                .pid = (uint32_t)thread->pid,
                                .tid = (uint32_t)thread->tid,
                                .cpu = thread->cpu,
                                .time = monotonic_ns()};
}

static int tell(struct ptrace_sampler *sampler, const struct perf_record *record, struct error *err)
{
    return sampler->consumer.record(sampler->consumer.context, record, err);
}

static int tell_name(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool exec, struct error *err)
{
    bool changed = ptrace_thread_read_name(thread);
    struct perf_record record = record_of(thread, PERF_RECORD_COMM);
    record.comm.name = thread->name;
    record.comm.exec = exec;
    thread->next_name = record.time + name_interval;
    return changed || exec ? tell(sampler, &record, err) : 0;
}

/* Tells of what the thread has done since the last moment, under the number `tid`. */
static int tell_switches(struct ptrace_sampler *sampler, struct ptrace_thread *thread, pid_t tid,
                         const struct ptrace_schedule *schedule, uint64_t time, bool asleep, struct error *err)
{
    struct ptrace_switch switches[PTRACE_RUN_SWITCHES];
    struct perf_record record = record_of(thread, PERF_RECORD_SWITCH);
    int code = 0;
    if (!thread->follows)
        return 0;
    size_t count = ptrace_thread_take(thread, schedule, time, asleep, switches);
    record.tid = (uint32_t)tid;
    for (size_t i = 0; i < count && !code; i++) {
        record.time = switches[i].time;
        record.context_switch.out = switches[i].out;
        record.context_switch.preempted = switches[i].preempted;
        code = tell(sampler, &record, err);
    }
    return code;
}

/* `is_itself`: its files are still those of the thread. */
static int tell_end(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool is_itself, struct error *err)
{
    int code = 0;
    if (thread->state == PTRACE_THREAD_EXITS)
        return 0;
    if (is_itself && ptrace_thread_schedule(thread, &thread->seen))
        code = tell_switches(sampler, thread, thread->tid, &thread->seen, monotonic_ns(), false, err);
    if (thread->seen.cpu > thread->first_cpu)
        sampler->ended_cpu += thread->seen.cpu - thread->first_cpu;
    if (!code)
        code = tell_name(sampler, thread, false, err);
    set_state(sampler, thread, PTRACE_THREAD_EXITS);
    struct perf_record record = record_of(thread, PERF_RECORD_EXIT);
    return code ? code : tell(sampler, &record, err);
}

/* ---- going on ---- */

static void resume(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int signal)
{
    ptrace_thread_release(thread);
    ptrace(PTRACE_CONT, thread->tid, NULL, (uintptr_t)signal); /* else it was killed, and its status will come */
    if (thread->state != PTRACE_THREAD_EXITS)
        set_state(sampler, thread, PTRACE_THREAD_RUNS);
}

/* Also puts right what the stop has done to a system call. */
static bool read_registers(const struct ptrace_thread *thread, struct user_regs_struct *registers)
{
    if (ptrace(PTRACE_GETREGS, thread->tid, NULL, registers))
        return false;
    if (ptrace_registers_restart(registers))
        ptrace(PTRACE_SETREGS, thread->tid, NULL, registers);
    return true;
}

/* ---- samples ---- */

static size_t copy(pid_t tid, uint64_t from, unsigned char *to, size_t size)
{
    struct iovec local = {.iov_base = to, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = size};
    ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

/* The red zone below sp as well, unless no memory is there. */
static void copy_stack(const struct ptrace_sampler *sampler, const struct ptrace_thread *thread, uint64_t sp,
                       struct perf_sample *sample)
{
    size_t got = copy(thread->tid, sp - STACK_BELOW_SP, sampler->stack, STACK_BELOW_SP + thread->stack_size);
    bool is_with_below = got > STACK_BELOW_SP;
    sample->stack = sampler->stack + STACK_BELOW_SP;
    sample->stack_below = is_with_below ? STACK_BELOW_SP : 0;
    sample->stack_size = is_with_below ? got - STACK_BELOW_SP
                                       : copy(thread->tid, sp, sampler->stack + STACK_BELOW_SP, thread->stack_size);
    sample->stack_full = sample->stack_size == thread->stack_size;
}

/* Sets *since to the CPU time since the last sample, and tells how the thread ran until `time`. Where the kernel does
 * not say, it is a tick. */
static int take_schedule(struct ptrace_sampler *sampler, struct ptrace_thread *thread, uint64_t time, uint64_t *since,
                         struct error *err)
{
    struct ptrace_schedule now;
    *since = sampler->interval;
    if (!ptrace_thread_schedule(thread, &now))
        return 0;
    *since = now.cpu > thread->sampled_cpu ? now.cpu - thread->sampled_cpu : 0;
    thread->seen = now;
    thread->sampled_cpu = now.cpu;
    thread->stopped_slices = now.slices;
    return tell_switches(sampler, thread, thread->tid, &now, time, false, err);
}

static void learn(struct ptrace_thread *thread, const struct ptrace_sample *sample)
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
    thread->is_too_deep = thread->stack_size == PTRACE_STACK_MAX; /* copying more does not help */
    thread->stack_size = thread->is_too_deep ? PTRACE_STACK_SIZE : thread->stack_size * 2;
}

/* Takes the sample of a thread that has stopped, and has it go on. */
static int take_sample(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int signal, struct error *err)
{
    struct user_regs_struct registers;
    if (!read_registers(thread, &registers)) {
        resume(sampler, thread, signal);
        return 0;
    }
    struct ptrace_sample sample = {.record = record_of(thread, PERF_RECORD_SAMPLE), .is_stopped = thread->hold};
    struct perf_sample *taken = &sample.record.sample;
    taken->registers_abi = ptrace_registers_are_64_bit(&registers) ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32;
    ptrace_registers_read(&registers, taken->registers);
    taken->ip = registers.rip;
    copy_stack(sampler, thread, registers.rsp, taken);
    int code = take_schedule(sampler, thread, sample.record.time, &taken->period, err);
    bool hold = thread->hold;
    if (!hold)
        resume(sampler, thread, signal);
    if (!code && sample.record.time >= thread->next_name)
        code = tell_name(sampler, thread, false, err);
    if (!code && taken->period)
        code = sampler->consumer.sample(sampler->consumer.context, &sample, err);
    learn(thread, &sample);
    if (hold)
        resume(sampler, thread, signal);
    return code;
}

/* ---- stops ---- */

static void interrupt(struct ptrace_sampler *sampler, struct ptrace_thread *thread)
{
    if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0) {
        set_state(sampler, thread, PTRACE_THREAD_INTERRUPTED);
        ptrace_thread_hold(thread, monotonic_ns());
    }
}

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

static bool take_orphan(struct ptrace_sampler *sampler, pid_t tid)
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
    struct ptrace_thread *child = find(sampler, tid);
    if (child) /* the end of one with the same number was not seen */
        drop(sampler, child);
    child = add(sampler, pid, tid, err);
    if (!child)
        return -ENOMEM;
    child->follows = true;
    struct perf_record record = record_of(child, PERF_RECORD_FORK);
    record.task.parent_pid = (uint32_t)parent_pid;
    record.task.parent_tid = (uint32_t)parent_tid;
    child->run.last.time = record.time;
    ptrace_thread_hold(child, record.time);
    const struct ptrace_thread *parent = find(sampler, parent_tid);
    if (parent)
        memcpy(child->name, parent->name, sizeof(child->name));
    int code = tell(sampler, &record, err);
    if (take_orphan(sampler, tid))
        resume(sampler, child, 0);
    return code;
}

static int take_fork(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int event, struct error *err)
{
    unsigned long message;
    int code = 0;
    if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message) == 0) {
        pid_t tid = (pid_t)message, pid = thread->pid;
        if (event != PTRACE_EVENT_CLONE || !is_thread_of(pid, tid))
            pid = tid;
        code = add_child(sampler, thread->pid, thread->tid, pid, tid, err);
    }
    resume(sampler, thread, 0);
    return code;
}

/* A child whose parent was killed before it could say that it has one. */
static int adopt_orphans(struct ptrace_sampler *sampler, struct error *err)
{
    uint64_t now = monotonic_ns();
    int code = 0;
    for (size_t i = 0; i < sampler->orphans.length && !code;) {
        struct orphan orphan = sampler->orphans.data[i];
        char path[64], line[128];
        int pid = 0, parent = 0;
        if (now < orphan.time + orphan_age) {
            i++;
            continue;
        }
        snprintf(path, sizeof(path), "/proc/%d/status", (int)orphan.tid);
        FILE *status = fopen(path, "re");
        while (status && fgets(line, sizeof(line), status)) {
            sscanf(line, "Tgid: %d", &pid);
            sscanf(line, "PPid: %d", &parent);
        }
        if (status)
            fclose(status);
        if (pid)
            code = add_child(sampler, pid == orphan.tid ? parent : pid, pid == orphan.tid ? parent : pid, pid,
                             orphan.tid, err);
        else
            take_orphan(sampler, orphan.tid);
    }
    return code;
}

/*
 * The thread that has called exec goes on alone under the number of the process, whichever it had before. The others
 * have ended; of a first thread that was not the caller no end is told.
 */
static int take_exec(struct ptrace_sampler *sampler, struct ptrace_thread *thread, struct error *err)
{
    unsigned long message = (unsigned long)thread->tid;
    ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message);
    const struct ptrace_thread *caller = find(sampler, (pid_t)message);
    int code = 0;
    if (caller && caller != thread && caller->pid == thread->pid) {
        code = tell_end(sampler, thread, false, err);
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
            code = tell_end(sampler, other, true, err);
        drop(sampler, other);
    }
    ptrace_thread_close_files(thread);
    bool is_known = ptrace_thread_schedule(thread, &thread->seen);
    if (!code && is_known)
        code = tell_switches(sampler, thread, (pid_t)message, &thread->seen, monotonic_ns(), false, err);
    if (!thread->follows) /* its recording begins */
        thread->run = (struct ptrace_run){.last = {.time = monotonic_ns(), .schedule = thread->seen}, .is_told = true};
    thread->hold = thread->is_too_deep = false;
    thread->stack_size = PTRACE_STACK_SIZE;
    if (!thread->follows)
        thread->follows = ptrace(PTRACE_SETOPTIONS, thread->tid, NULL, sampler->follow_options) == 0;
    if (!code)
        code = tell_name(sampler, thread, true, err);
    set_state(sampler, thread, PTRACE_THREAD_RUNS);
    resume(sampler, thread, 0);
    return code;
}

static bool stops_process(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * A signal for the process wakes one of its threads, and another that is faster may take it. If the program ignores the
 * signal it would not have woken any. Threads that run now, or will when they get a CPU, are stopped, so that what
 * their system calls return can be put right.
 */
static void interrupt_others(struct ptrace_sampler *sampler, const struct ptrace_thread *thread)
{
    for (size_t i = 0; i < sampler->threads.length; i++) {
        struct ptrace_thread *other = sampler->threads.data[i];
        if (other->pid == thread->pid && other != thread && other->state == PTRACE_THREAD_RUNS &&
            ptrace_thread_scheduler_state(other) == 'R')
            interrupt(sampler, other);
    }
}

static int tell_signal(struct ptrace_sampler *sampler, const struct ptrace_thread *thread, int signal,
                       struct error *err)
{
    siginfo_t info = {0};
    bool is_sent = ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) == 0 &&
                   (info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE);
    return thread->follows ? sampler->consumer.signal(sampler->consumer.context, thread->pid, thread->tid, signal,
                                                      is_sent ? info.si_pid : 0, err)
                           : 0;
}

static int take_stop(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int status, struct error *err)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    bool was_interrupted = thread->state == PTRACE_THREAD_INTERRUPTED;
    struct user_regs_struct registers;
    struct ptrace_schedule now;
    int code = 0;
    ptrace_thread_hold(thread, monotonic_ns());
    switch (event) {
    case 0: /* a signal is about to be delivered; any stop takes the place of an interrupt */
        if (is_ignored_by_default(signal))
            interrupt_others(sampler, thread);
        code = tell_signal(sampler, thread, signal, err);
        if (was_interrupted && !code)
            return take_sample(sampler, thread, signal, err);
        read_registers(thread, &registers);
        resume(sampler, thread, signal);
        return code;
    case PTRACE_EVENT_STOP:
        if (stops_process(signal)) {
            if (ptrace_thread_schedule(thread, &now))
                code = tell_switches(sampler, thread, thread->tid, &now, monotonic_ns(), true, err);
            ptrace_thread_release(thread);
            ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
            set_state(sampler, thread, PTRACE_THREAD_LISTENS);
            return code;
        }
        if (was_interrupted)
            return take_sample(sampler, thread, 0, err);
        resume(sampler, thread, 0);
        return 0;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        return take_fork(sampler, thread, event, err);
    case PTRACE_EVENT_EXEC:
        return take_exec(sampler, thread, err);
    case PTRACE_EVENT_EXIT:
        code = tell_end(sampler, thread, true, err);
        resume(sampler, thread, 0);
        return code;
    default:
        resume(sampler, thread, 0);
        return 0;
    }
}

static int take_status(struct ptrace_sampler *sampler, pid_t tid, int status, const struct rusage *usage,
                       struct error *err)
{
    struct ptrace_thread *thread = find(sampler, tid);
    int code = 0;
    if (!WIFSTOPPED(status)) {
        take_orphan(sampler, tid);
        if (thread) {
            code = tell_end(sampler, thread, true, err);
            drop(sampler, thread);
        }
        sampler->consumer.ended(sampler->consumer.context, tid, status, usage);
        return code;
    }
    if (thread)
        return take_stop(sampler, thread, status, err);
    struct orphan orphan = {.tid = tid, .time = monotonic_ns()};
    return array_push(&sampler->orphans, orphan) ? 0 : error_no_memory(err);
}

int ptrace_sampler_serve(struct ptrace_sampler *sampler, struct error *err)
{
    int status, code = 0;
    struct rusage usage;
    pid_t tid;
    while (!code && (tid = wait4(-1, &status, __WALL | WNOHANG, &usage)) > 0)
        code = take_status(sampler, tid, status, &usage, err);
    return code || !sampler->orphans.length ? code : adopt_orphans(sampler, err);
}

/* ---- ticks ---- */

/* Many threads that sleep are looked at in turn. */
static uint32_t longest_pause(const struct ptrace_sampler *sampler)
{
    size_t pause = sampler->sleepers / SLEEPERS_PER_TICK;
    return pause < MIN_LONGEST_PAUSE ? MIN_LONGEST_PAUSE : (uint32_t)pause;
}

/* Whether it was switched off its CPU since its last sample, and has used so little before that that it can wait. For a
 * thread that has stayed on its CPU the scheduler's figures may be some ms old. */
static bool has_used_little(const struct ptrace_sampler *sampler, const struct ptrace_thread *thread,
                            const struct ptrace_schedule *now)
{
    return now->slices > thread->stopped_slices + 1 && now->cpu < thread->sampled_cpu + sampler->interval / 2;
}

/* Not one that has stopped for us, or has ended. */
static bool is_asleep(char scheduler_state)
{
    return scheduler_state && !strchr("RtZX", scheduler_state);
}

static int tell_sleep(struct ptrace_sampler *sampler, struct ptrace_thread *thread, struct error *err)
{
    uint64_t now = monotonic_ns();
    int code = tell_switches(sampler, thread, thread->tid, &thread->seen, now, true, err);
    if (code || thread->seen.slices == thread->named_slices ||
        now + name_interval < thread->next_name + sleeper_name_interval)
        return code;
    thread->named_slices = thread->seen.slices;
    return thread->follows ? tell_name(sampler, thread, false, err) : 0;
}

/*
 * A thread that was not on a CPU since its last stop has nothing to tell. One that slept at the last look and was not
 * on a CPU since sleeps still, and the next look can wait: looking at schedstat costs half as much as at stat.
 */
static int look_at(struct ptrace_sampler *sampler, struct ptrace_thread *thread, struct error *err)
{
    struct ptrace_schedule now;
    bool is_known = ptrace_thread_schedule(thread, &now);
    if (is_known && now.slices == thread->stopped_slices)
        return 0;
    bool was_on_cpu = !is_known || now.slices != thread->seen.slices || now.cpu != thread->seen.cpu;
    if (is_known)
        thread->seen = now;
    if (!thread->asleep || was_on_cpu) {
        char state = ptrace_thread_scheduler_state(thread);
        thread->asleep = state != 'R';
        thread->pause = 1;
        if (!thread->asleep && !(is_known && has_used_little(sampler, thread, &now)))
            interrupt(sampler, thread);
        is_known = is_asleep(state) && ptrace_thread_schedule(thread, &thread->seen);
    } else if (thread->pause < longest_pause(sampler)) {
        thread->pause *= 2;
    }
    if (thread->pause > sampler->most_paused)
        sampler->most_paused = thread->pause;
    thread->next_look = sampler->tick + thread->pause;
    return thread->asleep && is_known ? tell_sleep(sampler, thread, err) : 0;
}

static void set_timer(struct ptrace_sampler *sampler, uint64_t next_tick)
{
    uint64_t due = sampler->started + next_tick * sampler->interval;
    struct itimerspec timer = {.it_value = {.tv_sec = (time_t)(due / SECOND), .tv_nsec = (long)(due % SECOND)}};
    timerfd_settime(sampler->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

int ptrace_sampler_tick(struct ptrace_sampler *sampler, struct error *err)
{
    int code = 0;
    sampler->tick = (monotonic_ns() - sampler->started) / sampler->interval;
    uint64_t next = sampler->tick + MIN_LONGEST_PAUSE;
    size_t sleepers = 0;
    for (size_t i = 0; i < sampler->threads.length && !code; i++) {
        struct ptrace_thread *thread = sampler->threads.data[i];
        if (thread->state == PTRACE_THREAD_RUNS && thread->next_look <= sampler->tick)
            code = look_at(sampler, thread, err);
        sleepers += thread->asleep;
        uint64_t due = thread->state == PTRACE_THREAD_RUNS ? thread->next_look : sampler->tick + 1;
        if (due < next)
            next = due;
    }
    sampler->sleepers = sleepers;
    set_timer(sampler, next > sampler->tick ? next : sampler->tick + 1);
    return code;
}

uint64_t ptrace_sampler_look_interval(const struct ptrace_sampler *sampler)
{
    return sampler->most_paused * sampler->interval;
}

/* The figures of a thread that runs are some ms old. Has it been on its CPU since its last stop, it ran all the time.
 */
static int settle_running(struct ptrace_sampler *sampler, struct ptrace_thread *thread, struct ptrace_schedule *now,
                          struct error *err)
{
    uint64_t time = monotonic_ns();
    const struct ptrace_moment *last = &thread->run.last;
    uint64_t passed = time > last->time ? time - last->time : 0;
    uint64_t ready = now->ready > last->schedule.ready ? now->ready - last->schedule.ready : 0;
    if (!last->asleep && now->slices == thread->stopped_slices + 1 && passed > ready &&
        now->cpu < last->schedule.cpu + passed - ready)
        now->cpu = last->schedule.cpu + passed - ready;
    return tell_switches(sampler, thread, thread->tid, now, time, false, err);
}

static int settle(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool all, struct error *err)
{
    struct ptrace_schedule now;
    const struct ptrace_moment *last = &thread->run.last;
    bool can_run = thread->state == PTRACE_THREAD_RUNS || thread->state == PTRACE_THREAD_INTERRUPTED;
    if (!can_run || (!all && !last->asleep) || !ptrace_thread_schedule(thread, &now))
        return 0;
    if (last->asleep && now.slices == last->schedule.slices)
        return tell_switches(sampler, thread, thread->tid, &now, monotonic_ns(), true, err);
    char state = ptrace_thread_scheduler_state(thread);
    if (is_asleep(state) && ptrace_thread_schedule(thread, &now))
        return tell_switches(sampler, thread, thread->tid, &now, monotonic_ns(), true, err);
    return state == 'R' ? settle_running(sampler, thread, &now, err) : 0;
}

int ptrace_sampler_settle(struct ptrace_sampler *sampler, bool all, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < sampler->threads.length && !code; i++)
        code = settle(sampler, sampler->threads.data[i], all, err);
    return code;
}

int ptrace_sampler_timer(const struct ptrace_sampler *sampler)
{
    return sampler->timer_fd;
}

bool ptrace_sampler_is_waiting(const struct ptrace_sampler *sampler)
{
    return sampler->interrupted > 0 || sampler->orphans.length > 0;
}

uint64_t ptrace_sampler_cpu_time(struct ptrace_sampler *sampler)
{
    uint64_t sum = sampler->ended_cpu;
    for (size_t i = 0; i < sampler->threads.length; i++) {
        struct ptrace_thread *thread = sampler->threads.data[i];
        struct ptrace_schedule now = thread->seen;
        if (thread->state == PTRACE_THREAD_EXITS)
            continue;
        ptrace_thread_schedule(thread, &now);
        sum += now.cpu > thread->first_cpu ? now.cpu - thread->first_cpu : 0;
    }
    return sum;
}

/* ---- beginning and end ---- */

int ptrace_sampler_new(struct ptrace_sampler **out, const struct ptrace_consumer *consumer, uint32_t rate,
                       bool has_children, struct error *err)
{
    struct ptrace_sampler *sampler = calloc(1, sizeof(*sampler));
    if (!sampler)
        return error_no_memory(err);
    sampler->consumer = *consumer;
    sampler->follow_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                              (has_children ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
    sampler->interval = SECOND / rate;
    sampler->started = monotonic_ns();
    sampler->stack = malloc(STACK_BELOW_SP + PTRACE_STACK_MAX);
    sampler->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int code = 0;
    if (!sampler->stack)
        code = error_no_memory(err);
    else if (sampler->timer_fd < 0)
        code = error_set(err, errno, "cannot make a timer: %s", strerror(errno));
    if (code) {
        ptrace_sampler_free(sampler);
        return code;
    }
    set_timer(sampler, 1);
    *out = sampler;
    return 0;
}

void ptrace_sampler_free(struct ptrace_sampler *sampler)
{
    if (!sampler)
        return;
    for (size_t i = 0; i < sampler->threads.length; i++)
        ptrace_thread_free(sampler->threads.data[i]);
    array_free(&sampler->threads);
    array_free(&sampler->orphans);
    hash_destroy(&sampler->by_tid);
    free(sampler->stack);
    if (sampler->timer_fd >= 0)
        close(sampler->timer_fd);
    free(sampler);
}

/* The kernel refuses a thread that has ended as one that may not be traced. A main thread that has ended stays in the
 * list of threads until its process ends. */
static bool has_ended(pid_t pid, pid_t tid)
{
    char path[64], text[1024];
    struct proc_stat stat;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    return !file_read_text(path, text, sizeof(text)) || (proc_stat_parse(text, &stat) && strchr("ZX", stat.state));
}

int ptrace_sampler_seize(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, bool at_exec, struct error *err)
{
    if (find(sampler, tid))
        return -EEXIST;
    uintptr_t options = at_exec ? PTRACE_O_TRACEEXEC : sampler->follow_options;
    if (ptrace(PTRACE_SEIZE, tid, NULL, options)) {
        int code = errno;
        if (code == ESRCH || (code == EPERM && has_ended(pid, tid)))
            return error_set(err, ESRCH, "there is no thread %d", (int)tid);
        return error_set(err, code, "process %d cannot be traced: %s", (int)pid, strerror(code));
    }
    struct ptrace_thread *thread = add(sampler, pid, tid, err);
    if (!thread)
        return -ENOMEM;
    struct ptrace_schedule now;
    thread->follows = !at_exec;
    set_state(sampler, thread, PTRACE_THREAD_RUNS);
    if (ptrace_thread_schedule(thread, &now)) {
        thread->first_cpu = thread->sampled_cpu = now.cpu;
        thread->run.last =
            (struct ptrace_moment){.schedule = now, .asleep = is_asleep(ptrace_thread_scheduler_state(thread))};
    }
    thread->run.last.time = monotonic_ns();
    return 0;
}
