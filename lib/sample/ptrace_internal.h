/*
 * Shared by the files of the ptrace sampler: ptrace_sampler.c (creation and attaching), ptrace_checks.c (ticks: which
 * threads run, and which to sample), ptrace_stops.c (stops of threads), ptrace_records.c (the table of threads, and
 * their records).
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/ptrace_consumer.h"
#include "sample/ptrace_thread.h"
#include "sample/sampling_clock.h"

enum { PTRACE_STACK_BELOW_SP = 128 }; /* bytes of the red zone below sp (System V psABI, 3.2.2) */

/* A child whose first stop came before the fork event of its parent. */
struct orphan {
    pid_t tid;
    uint64_t time;
};

struct ptrace_sampler {
    struct ptrace_consumer consumer;
    uintptr_t follow_options; /* ptrace options of followed threads */
    uint64_t interval;        /* ns between two ticks */
    uint64_t started;         /* ns */
    uint64_t tick;            /* number of the last tick that checked all threads */
    uint64_t next_check;      /* ns: time of the next check */
    struct sampling_clock clock;
    struct ptrace_thread *itself; /* the sampler's own thread, which is not in `threads` */
    ARRAY(struct ptrace_thread *) threads;
    struct hash by_tid;                /* -> index */
    ARRAY(pid_t) active;               /* threads that ran recently before the last tick; some may have ended since */
    ARRAY(struct ptrace_thread *) hit; /* threads that an instant may have hit */
    ARRAY(struct orphan) orphans;
    size_t interrupted;   /* threads interrupted but not yet stopped */
    size_t sleepers;      /* number of sleeping threads at the last tick */
    uint32_t most_paused; /* ticks: longest time between two checks of one thread so far */
    uint64_t ended_cpu;   /* ns of CPU time of ended processes, and of threads without a traced main thread */
    unsigned char *stack; /* PTRACE_STACK_BELOW_SP + PTRACE_STACK_MAX */
};

/* ---- threads ---- */

/* Returns NULL if the thread is not traced. */
struct ptrace_thread *sampler_find(const struct ptrace_sampler *sampler, pid_t tid);

/* Returns NULL if memory ran out. */
struct ptrace_thread *sampler_add(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, struct error *err);

void sampler_set_state(struct ptrace_sampler *sampler, struct ptrace_thread *thread, enum ptrace_thread_state state);

/* Removes and frees the thread. */
void sampler_remove(struct ptrace_sampler *sampler, struct ptrace_thread *thread);

/* Interrupts the thread, which stops later. */
void sampler_interrupt(struct ptrace_sampler *sampler, struct ptrace_thread *thread, enum ptrace_interrupt interrupt);

/* Continues a stopped thread with this signal, or without a signal if `signal` is 0. */
void sampler_resume(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int signal);

/* Whether the CPU time comes from the clock of the thread's process: true for main threads. The process's clock
 * includes threads that cannot be traced, and the time after the last stops. Without a traced main thread, the sampler
 * adds the CPU times of single threads. */
bool sampler_counts_by_clock(const struct ptrace_thread *thread);

/* Stores the clock of a main thread's process, while the process exists. */
void sampler_store_clock(struct ptrace_thread *thread);

/* ---- records ---- */

struct perf_record sampler_make_record(const struct ptrace_thread *thread, uint32_t type);

int sampler_emit(struct ptrace_sampler *sampler, const struct perf_record *record, struct error *err);

/* Emits a COMM record of `time` (ns) for a new name or an exec, even if the name is unchanged. */
int sampler_emit_name(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool exec, uint64_t time,
                      struct error *err);

/* Emits the switches of the thread since the last call, with the tid `tid`. */
int sampler_emit_switches(struct ptrace_sampler *sampler, struct ptrace_thread *thread, pid_t tid,
                          const struct ptrace_schedule *schedule, uint64_t time, bool asleep, struct error *err);

/* `is_itself`: the open files still belong to this thread. */
int sampler_emit_end(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool is_itself, struct error *err);
