/*
 * A small profile with recorded waits (lib/tree/wait_rows.h): one process, three threads, an interval of 1 ms, from 0
 * to 100 ms. The comments of wait_profile_make() describe each thread.
 */
#pragma once

#include "sample_rows.h"

#include <stdio.h>
#include <stdlib.h>

enum { WAIT_USER, WAIT_IDLE }; /* categories */

/* Subcategories of "Idle". */
enum {
    REASON_OTHER,
    REASON_LOCK,
    REASON_SLEEP,
    REASON_DISK,
    REASON_NETWORK,
    REASON_PIPE,
    REASON_PAGE,
    REASON_CHILD,
    REASON_RUNNABLE
};

/* Its stacks: lookup() takes one lock, store() another and the same; `main` sleeps. */
struct wait_stacks {
    uint32_t main, work, lookup, store;
    uint32_t lookup_lock_a, store_lock_a, store_lock_b, sleep, lookup_runnable;
    uint32_t unknown; /* only the synthetic frame */
};

static inline uint32_t wait_profile_call(struct profile *profile, uint32_t caller, const char *name, int reason)
{
    uint32_t text = strings_add_z(&profile->strings, name), func = 0;
    while (func < profile->funcs.length && profile->funcs.name[func] != text)
        func++;
    if (func == profile->funcs.length)
        func = profile_add_func(profile, text, PROFILE_NONE);
    uint32_t frame = profile_add_frame(profile, func, PROFILE_NONE, -1);
    profile->frames.category[frame] = reason < 0 ? WAIT_USER : WAIT_IDLE;
    profile->frames.subcategory[frame] = reason < 0 ? 0 : (uint32_t)reason;
    return profile_add_stack(profile, caller, frame);
}

/* A sample on a CPU, with the CPU time since the row before, in ms. */
static inline void wait_profile_run(struct thread *thread, uint32_t stack, double time, double cpu)
{
    struct sample_table *samples = &thread->samples;
    size_t row = samples->length;
    double before = 0;
    for (size_t i = row; i > 0 && (samples->weight[i - 1] == 0 || samples->cpu_delta[i - 1] == 0); i--)
        before += samples->cpu_delta[i - 1] / 1000;
    if (!samples_add(samples, stack, time))
        abort();
    samples->cpu_delta[row] = 1000 * cpu;
    samples->weight[row] = cpu + before;
}

/* The rows of a wait; `cpu`: ms since the row before. */
static inline void wait_profile_wait(struct thread *thread, uint32_t stack, double from, double to, double cpu)
{
    struct sample_table *samples = &thread->samples;
    size_t row = samples->length;
    double before = from - cpu - (row ? samples->time[row - 1] : thread->start); /* off the CPU, since the last wait */
    for (size_t i = row; i-- > 0 && samples->cpu_delta[i] > 0;)
        before += samples->time[i] - (i ? samples->time[i - 1] : thread->start) - samples->cpu_delta[i] / 1000;
    if (!samples_add(samples, stack, from) || !samples_add(samples, stack, to))
        abort();
    samples->cpu_delta[row] = 1000 * cpu;
    samples->weight[row] = 0;
    samples->cpu_delta[row + 1] = 0;
    samples->weight[row + 1] = to - from + before;
}

static inline struct thread *wait_profile_thread(struct profile *profile, const char *name, double start)
{
    struct thread *thread = profile_add_thread(profile);
    char tid[16];
    snprintf(tid, sizeof(tid), "%zu", 100 + profile->threads.length - 1);
    thread->name = strings_add_z(&profile->strings, name);
    thread->process_name = thread->process_type = strings_add_z(&profile->strings, "server");
    thread->pid = strings_add_z(&profile->strings, "100");
    thread->tid = strings_add_z(&profile->strings, tid);
    thread->start = start;
    thread->end = 100;
    if (!samples_give_weight(&thread->samples) || !samples_give_cpu_delta(&thread->samples))
        abort();
    thread->samples.weight_type = WEIGHT_TRACING_MS;
    return thread;
}

/* `profile` is initialized here; the caller destroys it. All numbers are exact in binary. */
static inline struct wait_stacks wait_profile_make(struct profile *profile)
{
    static const char *const reasons[] = {"Other", "Lock",       "Sleep", "Disk",     "Network",
                                          "Pipe",  "Page fault", "Child", "Preempted"}; /* as older profiles have it */
    struct wait_stacks stacks;
    profile_init(profile);
    profile->meta.interval = 1;
    profile->meta.has_cpu_delta = true;
    profile->meta.profiling_start = 0;
    profile->meta.profiling_end = 100;
    profile_add_category(profile, "User", "yellow");
    uint32_t idle = profile_add_category(profile, "Idle", "transparent");
    for (size_t i = 1; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (!array_push(&profile->categories.data[idle].subcategories, strings_add_z(&profile->strings, reasons[i])))
            abort();
    stacks.main = wait_profile_call(profile, PROFILE_NONE, "main", -1);
    stacks.work = wait_profile_call(profile, stacks.main, "work", -1);
    stacks.lookup = wait_profile_call(profile, stacks.work, "lookup", -1);
    stacks.store = wait_profile_call(profile, stacks.work, "store", -1);
    stacks.lookup_lock_a = wait_profile_call(profile, stacks.lookup, "lock 0x1000", REASON_LOCK);
    stacks.store_lock_a = wait_profile_call(profile, stacks.store, "lock 0x1000", REASON_LOCK);
    stacks.store_lock_b = wait_profile_call(profile, stacks.store, "lock 0x2000", REASON_LOCK);
    stacks.sleep = wait_profile_call(profile, stacks.main, "sleep", REASON_SLEEP);
    stacks.lookup_runnable = wait_profile_call(profile, stacks.lookup, "runnable", REASON_RUNNABLE);
    stacks.unknown = wait_profile_call(profile, PROFILE_NONE, "wait", REASON_OTHER);

    /* Sleeps; 1 ms of CPU time in three pieces, one before each sleep. */
    struct thread *main = wait_profile_thread(profile, "main", 0);
    wait_profile_wait(main, stacks.sleep, 0.5, 40, 0.5);
    wait_profile_wait(main, stacks.sleep, 40.25, 80, 0.25);
    wait_profile_run(main, stacks.main, 80.25, 0.25);
    wait_profile_wait(main, stacks.sleep, 80.5, 99, 0);
    main->samples.weight[main->samples.length - 1] += 1; /* of the last ms */

    /* Runs for 10 ms; waits 40 ms for lock a; runs and waits for a moment (0.5 ms); is runnable for 8 ms; runs to 70
     * ms; waits for a to the end, which the recording cut off: no sample follows. */
    struct thread *reader = wait_profile_thread(profile, "reader", 0);
    for (int time = 1; time <= 10; time++)
        wait_profile_run(reader, stacks.lookup, time, 1);
    wait_profile_wait(reader, stacks.lookup_lock_a, 10.25, 50.25, 0.25);
    wait_profile_run(reader, stacks.lookup, 52, 1.25);
    wait_profile_wait(reader, stacks.lookup_runnable, 52, 60, 0);
    for (int time = 61; time <= 70; time++)
        wait_profile_run(reader, stacks.work, time, 1);
    wait_profile_wait(reader, stacks.lookup_lock_a, 70.5, 100, 0.5);

    /* Begins at 20 ms; waits for both locks and for something unknown; runs for 6 ms in store(). */
    struct thread *writer = wait_profile_thread(profile, "writer", 20);
    wait_profile_run(writer, stacks.store, 21, 1);
    wait_profile_wait(writer, stacks.store_lock_a, 21, 51, 0);
    wait_profile_run(writer, stacks.store, 52, 1);
    wait_profile_wait(writer, stacks.store_lock_b, 52, 56, 0);
    for (int time = 57; time <= 60; time++)
        wait_profile_run(writer, stacks.store, time, 1);
    wait_profile_wait(writer, stacks.unknown, 60, 90, 0);
    writer->samples.weight[writer->samples.length - 1] += 10; /* waits after it that have no row */
    return stacks;
}
