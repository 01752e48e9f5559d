/*
 * Shared by the files of the ptrace sampler: ptrace_sampler.c (its life), ptrace_looks.c (ticks: which threads run, and
 * which to sample), ptrace_stops.c (stops of threads), ptrace_records.c (the table of threads, and their records).
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/ptrace_sampler.h"
#include "sample/ptrace_thread.h"
#include "sample/sampling_clock.h"

enum { PTRACE_STACK_BELOW_SP = 128 }; /* bytes of the red zone (System V psABI, 3.2.2) */

/* A child that has stopped for the first time, before the fork event of its parent. */
struct orphan {
    pid_t tid;
    uint64_t time;
};

struct ptrace_sampler {
    struct ptrace_consumer consumer;
    uintptr_t follow_options; /* of ptrace, for threads that are followed */
    uint64_t interval;        /* ns between two ticks */
    uint64_t started;         /* ns */
    uint64_t tick;            /* the last one at which all threads were looked at */
    uint64_t next_look;       /* ns: of the next one */
    struct sampling_clock clock;
    struct ptrace_thread *itself; /* the thread of the sampler; not among the threads */
    ARRAY(struct ptrace_thread *) threads;
    struct hash by_tid;                /* -> index */
    ARRAY(pid_t) active;               /* threads that have run lately, at the last tick; some may have ended since */
    ARRAY(struct ptrace_thread *) hit; /* those that an instant may have hit */
    ARRAY(struct orphan) orphans;
    size_t interrupted;   /* threads whose stop is to come */
    size_t sleepers;      /* at the last tick */
    uint32_t most_paused; /* ticks: the longest time between two looks at one thread so far */
    uint64_t ended_cpu;   /* ns of processes that have ended, and of threads whose main thread is not traced */
    unsigned char *stack; /* PTRACE_STACK_BELOW_SP + PTRACE_STACK_MAX */
};

/* ---- threads ---- */

/* NULL if it is not traced. */
struct ptrace_thread *sampler_find(const struct ptrace_sampler *sampler, pid_t tid);

/* NULL if memory ran out. */
struct ptrace_thread *sampler_add(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, struct error *err);

void sampler_set_state(struct ptrace_sampler *sampler, struct ptrace_thread *thread, enum ptrace_thread_state state);

/* Forgets and frees the thread. */
void sampler_drop(struct ptrace_sampler *sampler, struct ptrace_thread *thread);

/* Has the thread stop where it runs. */
void sampler_interrupt(struct ptrace_sampler *sampler, struct ptrace_thread *thread, enum ptrace_interrupt interrupt);

/* Continues a stopped thread with this signal; 0: none. */
void sampler_resume(struct ptrace_sampler *sampler, struct ptrace_thread *thread, int signal);

/* Whether the clock of its process counts the CPU time of the thread: if it is the main thread. The clock has the time
 * of threads that cannot be traced as well, and what comes after their last stops. It is only without a traced main
 * thread that each thread counts for itself. */
bool sampler_counts_by_clock(const struct ptrace_thread *thread);

/* Notes the clock of a main thread's process, as long as there is one. */
void sampler_note_clock(struct ptrace_thread *thread);

/* ---- records ---- */

struct perf_record sampler_record_of(const struct ptrace_thread *thread, uint32_t type);

int sampler_tell(struct ptrace_sampler *sampler, const struct perf_record *record, struct error *err);

/* Emits the record of a new name, or of an exec, also where the name is the same. */
int sampler_tell_name(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool exec, struct error *err);

/* Emits the switches of the thread since the last call, under the number `tid`. */
int sampler_tell_switches(struct ptrace_sampler *sampler, struct ptrace_thread *thread, pid_t tid,
                          const struct ptrace_schedule *schedule, uint64_t time, bool asleep, struct error *err);

/* `is_itself`: its files are still those of the thread. */
int sampler_tell_end(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool is_itself, struct error *err);
