#include "sample/ptrace_internal.h"
#include "sample/ptrace_sampler.h"

#include "os/clock.h"

static const uint64_t name_interval = SECOND; /* ns between two reads of a running thread's name */
/* ns between two reads of a sleeping thread's name, if the thread has run meanwhile */
static const uint64_t sleeper_name_interval = SECOND / 20;
static const uint64_t same_reading = 1000; /* maximum difference (ns) of two times from the same reading of a clock */

enum {
    MIN_LONGEST_PAUSE = 8, /* ticks between two checks of a sleeping thread */
    SLEEPERS_PER_TICK = 32,
    CHECKED_MAX = 64, /* threads that ptrace_sampler_check_threads() checks, which takes 1 us for each */
    ACTIVE_TICKS = 8, /* a thread is active if it has run in the last ACTIVE_TICKS ticks */
    /* intervals of CPU time without a hit, after which the sampler samples a thread at any place where it stops */
    LONG_UNHIT = 64,
};

/* ---- checks ---- */

/* Returns the longest pause between two checks of a sleeping thread, in ticks. The pause grows with the number of
 * threads. */
static uint32_t get_longest_pause(const struct ptrace_sampler *sampler)
{
    size_t pause = sampler->sleepers / SLEEPERS_PER_TICK;
    return pause < MIN_LONGEST_PAUSE ? MIN_LONGEST_PAUSE : (uint32_t)pause;
}

/* Whether the thread left its CPU since its last sample and used little CPU time, so that its sample can wait. For a
 * thread still on its CPU, the scheduler's counts may be some ms old. */
static bool has_used_little_cpu_time(const struct ptrace_sampler *sampler, const struct ptrace_thread *thread,
                                     const struct ptrace_schedule *now)
{
    return now->slices > thread->stopped_slices + 1 && now->cpu < thread->sampled_cpu + sampler->interval / 2;
}

static int emit_sleep(struct ptrace_sampler *sampler, struct ptrace_thread *thread, struct error *err)
{
    uint64_t now = monotonic_ns();
    int code = sampler_emit_switches(sampler, thread, thread->tid, &thread->seen, now, true, err);
    if (code || thread->seen.slices == thread->named_slices ||
        now + name_interval < thread->next_name + sleeper_name_interval)
        return code;
    thread->named_slices = thread->seen.slices;
    return thread->follows ? sampler_emit_name(sampler, thread, false, now, err) : 0;
}

/* Whether the instant may have hit the thread: the thread has run on this CPU since the last check and its last stop,
 * and does not run now. */
static bool may_have_run_at_instant(const struct ptrace_sampler *sampler, const struct ptrace_thread *thread,
                                    const struct sampling_instant *instant, const struct ptrace_schedule *now)
{
    return instant->is_hit && instant->cpu == thread->cpu && now->cpu != thread->at_stop.cpu &&
           sampling_clock_can_visit(&sampler->clock, thread->cpu);
}

/* Whether to sample the thread at any place where it stops: a thread in state R that no instant hits. */
static bool is_sampled_anywhere(const struct ptrace_sampler *sampler, const struct ptrace_thread *thread,
                                const struct ptrace_schedule *now)
{
    uint64_t long_unhit = LONG_UNHIT * (1 + sampler->clock.in_use) * sampler->interval;
    if (!thread->is_realtime && sampling_clock_can_visit(&sampler->clock, thread->cpu))
        return now->cpu > thread->sampled_cpu + long_unhit;
    return !has_used_little_cpu_time(sampler, thread, now);
}

/*
 * Whether the thread left its CPU at the instant, when the sampler took the CPU (`arrival`, ns). The kernel counts the
 * time of both from one reading of the CPU's clock. At each tick of the sampler, the kernel reads the clock again, and
 * then no thread matches. A thread that slept at the instant, and has been woken since, left the CPU earlier. If the
 * kernel does not report when threads left, ran_until_instant() decides.
 */
static bool has_left_cpu(struct ptrace_thread *thread, uint64_t arrival)
{
    uint64_t left = arrival ? ptrace_thread_read_departure(thread) : 0;
    return !left || (left < arrival + same_reading && arrival < left + same_reading);
}

static void interrupt_thread_at_instant(struct ptrace_sampler *sampler, const struct sampling_instant *instant)
{
    uint64_t arrival = sampler->hit.length ? ptrace_thread_read_departure(sampler->itself) : 0;
    for (size_t i = 0; i < sampler->hit.length; i++) {
        struct ptrace_thread *thread = sampler->hit.data[i];
        thread->instant = instant->time;
        if (!thread->asleep && has_left_cpu(thread, arrival))
            sampler_interrupt(sampler, thread, PTRACE_INTERRUPT_AT_INSTANT);
    }
    sampler->hit.length = 0;
}

/* Decides whether to sample a thread that is awake or has run since the last check. */
static int check_active(struct ptrace_sampler *sampler, struct ptrace_thread *thread,
                        const struct sampling_instant *instant, const struct ptrace_schedule *now, bool has_run,
                        struct error *err)
{
    uint64_t used = now ? now->cpu - thread->seen.cpu : 0;
    char state = ptrace_thread_read_state(thread);
    bool sleeps = ptrace_thread_is_asleep(state);
    thread->asleep = state != 'R';
    thread->pause = 1;
    thread->last_ran = sampler->tick;
    if (now)
        thread->seen = *now;
    if (now && has_run && may_have_run_at_instant(sampler, thread, instant, now)) {
        if (!array_push(&sampler->hit, thread))
            return error_no_memory(err);
    } else if (!thread->asleep && !(now && !is_sampled_anywhere(sampler, thread, now))) {
        sampler_interrupt(sampler, thread, PTRACE_INTERRUPT_TO_SAMPLE);
    }
    int code = thread->is_realtime ? 0 : sampling_clock_add_cpu_time(&sampler->clock, thread->cpu, used, err);
    if (code || !sleeps || !ptrace_thread_read_schedule(thread, &thread->seen))
        return code;
    return emit_sleep(sampler, thread, err);
}

/*
 * Decides whether to sample an active thread. A thread that has not run since its last sample needs no sample. A thread
 * that slept at the last check and has not run since still sleeps, so its next check can be later. schedstat costs half
 * as much to read as stat.
 */
static int check_thread(struct ptrace_sampler *sampler, struct ptrace_thread *thread,
                        const struct sampling_instant *instant, struct error *err)
{
    struct ptrace_schedule now;
    bool is_known = ptrace_thread_read_schedule(thread, &now);
    if (is_known && now.slices == thread->stopped_slices)
        return 0;
    bool has_run = !is_known || now.slices != thread->seen.slices || now.cpu != thread->seen.cpu;
    int code = 0;
    if (!thread->asleep || has_run)
        code = check_active(sampler, thread, instant, is_known ? &now : NULL, has_run, err);
    else if (thread->pause < get_longest_pause(sampler))
        thread->pause *= 2;
    if (thread->pause > sampler->most_paused)
        sampler->most_paused = thread->pause;
    thread->next_check = sampler->tick + thread->pause;
    /* a signal may just have stopped the thread; ptrace_sampler_handle_stops() reports that */
    bool sleeps_on = thread->asleep && !has_run && thread->run.last.schedule.slices == thread->seen.slices;
    return !code && sleeps_on ? emit_sleep(sampler, thread, err) : code;
}

/* ---- ticks ---- */

/* Reads the state of all threads whose next check is due. */
static int check_all(struct ptrace_sampler *sampler, const struct sampling_instant *instant, struct error *err)
{
    uint64_t next = sampler->tick + MIN_LONGEST_PAUSE;
    size_t sleepers = 0;
    int code = 0;
    sampler->active.length = 0;
    for (size_t i = 0; i < sampler->threads.length && !code; i++) {
        struct ptrace_thread *thread = sampler->threads.data[i];
        if (thread->state == PTRACE_THREAD_RUNS && thread->next_check <= sampler->tick)
            code = check_thread(sampler, thread, instant, err);
        sleepers += thread->asleep;
        uint64_t due = thread->state == PTRACE_THREAD_RUNS ? thread->next_check : sampler->tick + 1;
        if (due < next)
            next = due;
        bool is_active = sampler->tick < thread->last_ran + ACTIVE_TICKS;
        if (is_active && !array_push(&sampler->active, thread->tid))
            code = error_no_memory(err);
    }
    sampler->sleepers = sleepers;
    if (next <= sampler->tick)
        next = sampler->tick + 1;
    sampler->next_check = sampler->started + next * sampler->interval;
    return code;
}

/* Searches the hit thread among the threads that ran recently, because it nearly always is among them. The scheduler
 * has updated the counts of threads that left a CPU since the last check. */
static int find_thread_at_instant(struct ptrace_sampler *sampler, const struct sampling_instant *instant,
                                  struct error *err)
{
    struct ptrace_schedule now;
    int code = 0;
    for (size_t i = 0; i < sampler->active.length && !code; i++) {
        struct ptrace_thread *thread = sampler_find(sampler, sampler->active.data[i]);
        if (thread && thread->state == PTRACE_THREAD_RUNS && ptrace_thread_read_schedule(thread, &now) &&
            now.cpu != thread->seen.cpu && now.cpu != thread->at_stop.cpu)
            code = check_active(sampler, thread, instant, &now, true, err);
    }
    return code;
}

int ptrace_sampler_interrupt_threads(struct ptrace_sampler *sampler, struct error *err)
{
    uint64_t now = monotonic_ns(), tick = (now - sampler->started) / sampler->interval;
    struct sampling_instant instant = sampling_clock_check_instant(&sampler->clock, now);
    int code = 0;
    if (tick != sampler->tick) {
        sampling_clock_tick(&sampler->clock, tick - sampler->tick);
        sampler->tick = tick;
        code = check_all(sampler, &instant, err);
    } else if (instant.is_hit) {
        code = find_thread_at_instant(sampler, &instant, err);
    }
    interrupt_thread_at_instant(sampler, &instant);
    return code;
}

/* Arms the clock for the next check. If samples are due at instants, a check precedes each instant anyway. */
bool ptrace_sampler_arm(struct ptrace_sampler *sampler, uint64_t pass)
{
    uint64_t look = sampler->next_check + (sampler->clock.in_use ? sampler->interval : 0);
    sampling_clock_plan_pass(&sampler->clock, pass);
    sampling_clock_arm(&sampler->clock, look, sampler->interrupted > 0);
    return sampler->clock.is_placed;
}

uint64_t ptrace_sampler_get_check_interval(const struct ptrace_sampler *sampler)
{
    return sampler->most_paused * sampler->interval;
}

int ptrace_sampler_check_threads(struct ptrace_sampler *sampler, struct error *err)
{
    static const struct sampling_instant none;
    size_t count = sampler->threads.length > CHECKED_MAX ? 0 : sampler->threads.length;
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        struct ptrace_thread *thread = sampler->threads.data[i];
        if (thread->state != PTRACE_THREAD_RUNS)
            continue;
        code = check_thread(sampler, thread, &none, err);
        uint64_t due = sampler->started + thread->next_check * sampler->interval;
        if (due < sampler->next_check)
            sampler->next_check = due;
    }
    return code;
}

/* ---- current times ---- */

/* The counts of a running thread are some ms old. A thread that has not left its CPU since its last stop ran all the
 * time. */
static int update_running_thread(struct ptrace_sampler *sampler, struct ptrace_thread *thread,
                                 struct ptrace_schedule *now, struct error *err)
{
    uint64_t time = monotonic_ns();
    const struct ptrace_moment *last = &thread->run.last;
    uint64_t passed = time > last->time ? time - last->time : 0;
    uint64_t ready = now->ready > last->schedule.ready ? now->ready - last->schedule.ready : 0;
    if (!last->asleep && now->slices == thread->stopped_slices + 1 && passed > ready &&
        now->cpu < last->schedule.cpu + passed - ready)
        now->cpu = last->schedule.cpu + passed - ready;
    return sampler_emit_switches(sampler, thread, thread->tid, now, time, false, err);
}

static int update_times(struct ptrace_sampler *sampler, struct ptrace_thread *thread, bool all, struct error *err)
{
    struct ptrace_schedule now;
    const struct ptrace_moment *last = &thread->run.last;
    bool can_run = thread->state == PTRACE_THREAD_RUNS || thread->state == PTRACE_THREAD_INTERRUPTED;
    if (!can_run || (!all && !last->asleep) || !ptrace_thread_read_schedule(thread, &now))
        return 0;
    if (last->asleep && now.slices == last->schedule.slices)
        return sampler_emit_switches(sampler, thread, thread->tid, &now, monotonic_ns(), true, err);
    char state = ptrace_thread_read_state(thread);
    if (ptrace_thread_is_asleep(state) && ptrace_thread_read_schedule(thread, &now))
        return sampler_emit_switches(sampler, thread, thread->tid, &now, monotonic_ns(), true, err);
    return state == 'R' ? update_running_thread(sampler, thread, &now, err) : 0;
}

int ptrace_sampler_update_times(struct ptrace_sampler *sampler, bool all, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < sampler->threads.length && !code; i++)
        code = update_times(sampler, sampler->threads.data[i], all, err);
    return code;
}
