#include "sample/ptrace_internal.h"

#include "os/clock.h"

#include <linux/perf_event.h>
#include <sys/ptrace.h>

static const uint64_t name_interval = SECOND; /* ns between two reads of a running thread's name */

/* ---- threads ---- */

struct ptrace_thread *sampler_find(const struct ptrace_sampler *sampler, pid_t tid)
{
    uint32_t index = hash_get(&sampler->by_tid, (uint64_t)tid);
    return index == HASH_MISSING ? NULL : sampler->threads.data[index];
}

struct ptrace_thread *sampler_add(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, struct error *err)
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

void sampler_set_state(struct ptrace_sampler *sampler, struct ptrace_thread *thread, enum ptrace_thread_state state)
{
    sampler->interrupted -= thread->state == PTRACE_THREAD_INTERRUPTED;
    sampler->interrupted += state == PTRACE_THREAD_INTERRUPTED;
    thread->state = state;
}

bool sampler_counts_by_clock(const struct ptrace_thread *thread)
{
    return thread->tid == thread->pid;
}

void sampler_store_clock(struct ptrace_thread *thread)
{
    uint64_t clock = sampler_counts_by_clock(thread) ? process_read_clock_ns((uint32_t)thread->pid) : 0;
    if (clock)
        thread->last_clock = clock;
}

void sampler_remove(struct ptrace_sampler *sampler, struct ptrace_thread *thread)
{
    if (thread->follows && thread->last_clock > thread->first_clock)
        sampler->ended_cpu += thread->last_clock - thread->first_clock;
    sampler_set_state(sampler, thread, PTRACE_THREAD_EXITS);
    struct ptrace_thread *last = sampler->threads.data[--sampler->threads.length];
    sampler->threads.data[thread->index] = last;
    last->index = thread->index;
    if (last != thread)
        hash_set(&sampler->by_tid, (uint64_t)last->tid, (uint32_t)last->index);
    hash_remove(&sampler->by_tid, (uint64_t)thread->tid);
    ptrace_thread_free(thread);
}

void sampler_interrupt(struct ptrace_sampler *sampler, struct ptrace_thread *thread, enum ptrace_interrupt interrupt)
{
    if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL))
        return;
    sampler_set_state(sampler, thread, PTRACE_THREAD_INTERRUPTED);
    thread->interrupt = interrupt;
    ptrace_thread_begin_stop(thread, monotonic_ns());
}

void sampler_resume(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int signal)
{
    bool is_new = thread->state == PTRACE_THREAD_NEW; /* the parent may be setting the CPUs of the thread */
    struct cpu_stay stay = {0};
    ptrace_thread_end_stop(thread);
    if (!is_new && sampler->clock.in_use && ptrace_thread_read_state(thread))
        cpu_stay_begin(&stay, sampler->clock.pin, thread->tid, thread->cpu);
    /* fails if the thread was killed; its status will follow */
    ptrace(PTRACE_CONT, thread->tid, NULL, (uintptr_t)signal);
    cpu_stay_end(&stay);
    if (thread->state != PTRACE_THREAD_EXITS)
        sampler_set_state(sampler, thread, PTRACE_THREAD_RUNS);
}

/* ---- records ---- */

struct perf_record sampler_make_record(const struct ptrace_thread *thread, uint32_t type)
{
    return (struct perf_record){.type = type,
                                .pid = (uint32_t)thread->pid,
                                .tid = (uint32_t)thread->tid,
                                .cpu = thread->cpu,
                                .time = monotonic_ns()};
}

int sampler_emit(struct ptrace_sampler *sampler, const struct perf_record *record, struct error *err)
{
    return sampler->consumer.record(sampler->consumer.context, record, err);
}

int sampler_emit_name(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool exec, uint64_t time,
                      struct error *err)
{
    bool changed = ptrace_thread_read_name(thread);
    struct perf_record record = sampler_make_record(thread, PERF_RECORD_COMM);
    record.time = time;
    record.comm.name = thread->name;
    record.comm.exec = exec;
    thread->next_name = time + name_interval;
    return changed || exec ? sampler_emit(sampler, &record, err) : 0;
}

int sampler_emit_switches(struct ptrace_sampler *sampler, struct ptrace_thread *thread, pid_t tid,
                          const struct ptrace_schedule *schedule, uint64_t time, bool asleep, struct error *err)
{
    struct ptrace_switch switches[PTRACE_RUN_SWITCHES];
    struct perf_record record = sampler_make_record(thread, PERF_RECORD_SWITCH);
    int code = 0;
    if (!thread->follows)
        return 0;
    size_t count = ptrace_thread_add_moment(thread, schedule, time, asleep, switches);
    record.tid = (uint32_t)tid;
    for (size_t i = 0; i < count && !code; i++) {
        record.time = switches[i].time;
        record.context_switch.out = switches[i].out;
        record.context_switch.preempted = switches[i].preempted;
        record.context_switch.ended = switches[i].ended;
        record.context_switch.stopped = switches[i].out && thread->state == PTRACE_THREAD_LISTENS;
        record.context_switch.slept_until = switches[i].slept_until;
        code = sampler_emit(sampler, &record, err);
    }
    return code;
}

int sampler_emit_end(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool is_itself, struct error *err)
{
    int code = 0;
    if (thread->state == PTRACE_THREAD_EXITS)
        return 0;
    if (is_itself && ptrace_thread_read_schedule(thread, &thread->seen))
        code = sampler_emit_switches(sampler, thread, thread->tid, &thread->seen, monotonic_ns(), false, err);
    sampler_store_clock(thread);
    if (!sampler_counts_by_clock(thread) && !sampler_find(sampler, thread->pid) && thread->seen.cpu > thread->first_cpu)
        sampler->ended_cpu += thread->seen.cpu - thread->first_cpu;
    if (!code)
        code = sampler_emit_name(sampler, thread, false, monotonic_ns(), err);
    sampler_set_state(sampler, thread, PTRACE_THREAD_EXITS);
    struct perf_record record = sampler_make_record(thread, PERF_RECORD_EXIT);
    return code ? code : sampler_emit(sampler, &record, err);
}
