#include "record/waits.h"

#include "base/random.h"
#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "process/wait_classes.h"
#include "record/cpu_slices.h"
#include "record/wait_readings.h"
#include "record/wait_reason.h"
#include "record/wait_store.h"

#include <linux/perf_event.h>
#include <sched.h>

enum {
    MAX_STACK_AGE_NS = 1000000, /* highest age (ns) at which a stack from before a wait counts as the wait's stack */
    LONG_INTERVALS = 4,         /* in sampling intervals; longer waits are stored even without a stack */
    LONG_CLASSES = 9, /* classes (8 ms and longer) whose waits without a reading are stored if they have a waker */
};

int waits_init(struct waits *waits, const struct waits_options *options, struct error *err)
{
    *waits = (struct waits){.options = *options, .started = monotonic_ns()};
    waits->random = waits->started | 1;
    tracker_expect_switches(options->tracker, true);
    if (sched_getaffinity(0, sizeof(waits->cpus), &waits->cpus))
        CPU_ZERO(&waits->cpus);
    waits->copy = malloc(STACK_COPY);
    waits->frames = malloc(CHUNK_MAX_FRAMES * sizeof(*waits->frames));
    waits->sps = malloc(CHUNK_MAX_FRAMES * sizeof(*waits->sps));
    if (!waits->copy || !waits->frames || !waits->sps)
        return error_no_memory(err);
    return stack_reader_init(&waits->reader, err);
}

void waits_destroy(struct waits *waits)
{
    stack_reader_destroy(&waits->reader);
    strings_destroy(&waits->objects);
    array_free(&waits->pending);
    free(waits->copy);
    free(waits->frames);
    free(waits->sps);
    *waits = (struct waits){0};
}

static bool is_off_cpu(const struct thread_run *run)
{
    return run->state == RUN_WAITS || (run->state == RUN_ON_OTHER_CPU && run->was_here);
}

/* ---- switches ---- */

static int leave_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool preempted,
                     struct error *err)
{
    struct thread_run *run = &thread->run;
    int code = cpu_slices_leave_cpu(waits, thread, time, err);
    if (code)
        return code;
    if (run->state == RUN_ON && time > run->since)
        run->ran += time - run->since;
    if (!run->known_since)
        run->known_since = run->since ? run->since : time;
    run->state = RUN_WAITS;
    run->since = run->began = time;
    run->is_runnable = preempted;
    run->goes_on = false;
    if (run->awake_asked < time)
        run->awake = 0;
    run->waker = (struct thread_waker){0};
    if (run->stack && (run->stack->is_from_event ? run->stack->taken + MAX_STACK_AGE_NS : run->stack->asked) < time)
        thread_run_forget_stack(run);
    if (preempted || waits->options.only_runs || waits->options.no_looks)
        return 0;
    if (!waits_want_look(waits)) /* the next pass was planned long ago */
        waits->next_look = monotonic_ns();
    waits->active_until = time + ACTIVE_NS;
    if (run->in_pending)
        return 0;
    run->in_pending = array_push(&waits->pending, thread->tid);
    return run->in_pending ? 0 : error_no_memory(err);
}

static int end_elsewhere(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t length = time - run->since;
    const struct stored_wait stored = {
        .start = run->since, .end = time, .unseen = run->on_other_cpus, .kind = ELSEWHERE};
    if (!run->goes_on && run->on_other_cpus + length < waits->options.interval) {
        run->on_other_cpus += length;
        return 0;
    }
    run->on_other_cpus = 0;
    return store_wait(waits, thread, &stored, err);
}

/* Adds `length` ns of runnable time to the sum of the thread, and stores the sum where a time of the mean length fits.
 */
static int add_runnable(struct waits *waits, struct tracked_thread *thread, uint64_t length, uint64_t time,
                        struct error *err)
{
    struct thread_run *run = &thread->run;
    run->was_ready += length;
    run->ready_count++;
    bool fits = length >= run->was_ready / run->ready_count; /* at least the mean */
    return fits && run->was_ready >= waits->options.interval ? store_runnable(waits, thread, time, err) : 0;
}

/* Ends a time in which the thread was runnable. Stores a long one by itself. */
static int end_ready(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t length = time - run->since;
    const struct stored_wait stored = {.start = run->since, .end = time, .kind = READY};
    run->ready_since_reading += length;
    return run->goes_on || length >= waits->options.interval ? store_wait(waits, thread, &stored, err)
                                                             : add_runnable(waits, thread, length, time, err);
}

/* A reading that takes `delay` ns meets a wait of `length` ns with a probability in proportion to length - delay.
 * Returns true for a random part of such readings, so that each wait of a class counts in proportion to its length. */
static bool keeps_reading(struct waits *waits, uint64_t delay, uint64_t length)
{
    double shortest = find_shortest_of_class(length);
    if (length >= 2 * LOOK_NS) /* readings meet nearly all of these waits */
        return true;
    double share = shortest > delay ? (1 - delay / shortest) / (1 - (double)delay / (double)length) : 0;
    return (double)(random_bits(&waits->random) >> 11) < share * 0x1p53;
}

/* Whether the stack and the reason of the wait are known. If all waits have a stack, returns true for a random part of
 * the waits, in proportion to their length. */
static bool is_seen(struct waits *waits, struct thread_run *run, uint64_t end)
{
    struct wait_stack *stack = run->stack;
    if (!stack)
        return false;
    if (stack->is_from_event)
        return waits->options.no_looks && random_below(waits, waits->options.interval) < end - run->since;
    if (waits->options.late_switches)
        return stack->asked >= run->began && stack->asked < (end > run->slept_until ? end : run->slept_until);
    if (stack->asked < run->began || stack->known > end ||
        !keeps_reading(waits, stack->known - stack->asked, end - run->began))
        return false;
    if (stack->taken > end) { /* the thread may have changed the stack meanwhile */
        stack->frame_count = 0;
        stack->flags = 0;
    }
    return true;
}

/* Readings find the threads of a class at random times of their waits. A reading that finds the thread runnable
 * therefore stands for the waits of its class, as a reading that finds the reason of a wait does. */
static int store_found_awake(struct waits *waits, struct tracked_thread *thread, struct wait_class *class, uint64_t end,
                             struct error *err)
{
    struct thread_run *run = &thread->run;
    const struct stored_wait stored = {.start = run->awake, .end = end, .kind = READY, .is_sum = true};
    uint64_t length = end - run->awake;
    class->found_ready_ns += run->awake - run->since + class->unseen_ns;
    class->found_ready += 1 + (class->unseen_ns ? class->unseen : 0);
    class->ready_ns += (double)length;
    class->unseen++;
    class->unseen_length += end - run->since;
    class->unseen_ns = 0;
    run->ready_since_reading += length;
    run->awake_since_reading += length;
    if (length >= waits->options.interval)
        return store_wait(waits, thread, &stored, err);
    run->was_ready += length;
    run->ready_count++;
    return 0;
}

/* Returns the least blocked time (ns) of a sampled wait that ends at `time`. The thread slept until its reading.
 * end_woken() leaves less than an interval of runnable time in a wait with a waker. Without a waker, the kernel's count
 * limits the runnable time of a wait that is long enough for the cost of another reading. */
static uint64_t find_least_blocked_time(struct waits *waits, struct tracked_thread *thread, uint64_t time)
{
    const struct thread_run *run = &thread->run;
    uint64_t length = time - run->since, asleep = subtract_or_zero(run->stack->known, run->since);
    uint64_t runnable = run->waker.is_known                ? waits->options.interval
                        : length < waits->options.interval ? UINT64_MAX
                                                           : find_most_runnable_time(waits, thread, time);
    uint64_t least = subtract_or_zero(length, runnable);
    return asleep > least && asleep <= length ? asleep : least;
}

/* Ends a blocked wait. A wait with a reading stands for the unseen waits of its class. A short wait without a reading
 * becomes an unseen wait. A long one is also in the spool, so that critical paths follow its waker. */
static int end_blocked(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last,
                       struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t length = time - run->since;
    uint32_t count = run->ended && !run->goes_on ? run->ended : 1;
    struct wait_class *class = find_wait_class(run, (time - run->began) / count);
    if (!class)
        return error_no_memory(err);
    run->ended = 0;
    if (length / count < LOOK_NS) { /* a longer wait is a wait of its own */
        count += run->uncounted;
        run->uncounted = 0;
    }
    bool seen = is_seen(waits, run, time);
    bool is_bare = (run->is_refused || is_last) && length >= LONG_INTERVALS * waits->options.interval;
    uint64_t queued = pay_owed_time(run, class, length);
    class->waited_ns += length;
    struct stored_wait stored = {.start = run->since, .end = time - queued, .kind = BLOCKED};
    int code = 0;
    bool was_awake = !seen && !run->goes_on && run->awake_asked >= run->since && run->awake < stored.end &&
                     run->awake && keeps_reading(waits, run->awake - run->awake_asked, length);
    if (seen && !run->goes_on) {
        uint64_t weight = class->unseen_ns + length - queued;
        double waits_of_class = waits->options.late_switches
                                    ? class->unseen + count /* lengths are only means of several waits */
                                    : (double)(class->unseen_length + length) / (double)length;
        class->unseen_ns = class->unseen_length = class->unseen = 0;
        uint64_t least = has_runnable_waits(run) ? find_least_blocked_time(waits, thread, time) : 0;
        double most = least ? (double)weight / (double)least - waits_of_class : UINT32_MAX;
        uint64_t own = (uint64_t)((double)weight / (waits_of_class + take_runnable_waits(run, most)));
        stored.start = stored.end - own;
        stored.unseen = weight - own;
    }
    if (was_awake)
        code = store_found_awake(waits, thread, class, stored.end, err);
    else if (seen || run->goes_on || is_bare)
        code = store_wait(waits, thread, &stored, err);
    else {
        add_unseen_waits(class, stored.end - stored.start, count, time);
        class->unseen_length += queued;
        stored.has_no_weight = run->waker.tid && class >= &run->waits->classes[WAIT_CLASSES - LONG_CLASSES];
        code = stored.has_no_weight ? store_wait(waits, thread, &stored, err) : 0;
    }
    if (seen && !run->stack->is_from_event) {
        free(class->last);
        class->last = run->stack;
        run->stack = NULL;
    }
    return code || !queued ? code : add_runnable(waits, thread, queued, time, err);
}

/* Ends a wait at its wakeup if the wakeup is recorded and the thread stays runnable for a sampling interval. A shorter
 * time after the wakeup is mostly an idle CPU's time to become busy, which the kernel does not count as runnable
 * time. */
static int end_woken(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t woken = !run->waker.is_known ? time : run->waker.time > run->since ? run->waker.time : run->since;
    if (woken >= time || time - woken < waits->options.interval)
        return end_blocked(waits, thread, time, is_last, err);
    int code = woken > run->since ? end_blocked(waits, thread, woken, is_last, err) : 0;
    run->waker = (struct thread_waker){0};
    run->since = woken;
    run->goes_on = false;
    return code ? code : end_ready(waits, thread, time, err);
}

/* Ends a wait, or the time on other CPUs. */
static int take_end(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (waits->options.only_runs || !is_off_cpu(run) || time <= run->since)
        return 0;
    if (run->state == RUN_ON_OTHER_CPU)
        return end_elsewhere(waits, thread, time, err);
    return run->is_runnable ? end_ready(waits, thread, time, err) : end_woken(waits, thread, time, is_last, err);
}

static int end_wait(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    int code = add_late_switch(&thread->run, time, err);
    if (!code)
        code = take_end(waits, thread, time, false, err);
    const struct wait_stack *stack = thread->run.stack;
    if (stack && (stack->is_from_event || stack->asked < time)) /* a later stack belongs to the next wait */
        thread_run_forget_stack(&thread->run);
    return code;
}

static int come_to_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    run->was_here = true;
    if (!run->known_since)
        run->known_since = run->since ? run->since : time;
    int code = end_wait(waits, thread, time, err);
    run->state = RUN_ON;
    run->since = run->on_cpu_since = time;
    return code;
}

/* Moves a thread to a CPU outside of the list. If the thread has never run on a recorded CPU, its wait before counts as
 * time on the other CPUs. */
static int move_to_other_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (run->state == RUN_ON_OTHER_CPU)
        return 0;
    int code = run->was_here ? end_wait(waits, thread, time, err) : 0;
    thread_run_forget_stack(run);
    if (run->was_here || run->state != RUN_WAITS)
        run->since = time;
    run->state = RUN_ON_OTHER_CPU;
    run->on_cpu_since = 0;
    run->is_runnable = run->goes_on = false;
    return code;
}

static bool is_elsewhere(const struct waits *waits, const struct perf_record *record)
{
    return waits->options.cpus && !cpu_list_has(waits->options.cpus, record->cpu);
}

int waits_switch(struct waits *waits, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    uint64_t time = record->time > thread->run.since ? record->time : thread->run.since; /* ptrace: a part is stored */
    thread->run.cpu = record->cpu;
    thread->run.uncounted += thread->run.ended;
    thread->run.ended = record->context_switch.ended;
    thread->run.slept_until = record->context_switch.slept_until;
    thread->run.is_stopped = record->context_switch.stopped;
    tracker_report_run(waits->options.tracker, process, record->time, false);
    if (record->context_switch.out)
        *(record->context_switch.preempted ? &process->preemptions : &process->waits) += 1;
    if (is_elsewhere(waits, record))
        return move_to_other_cpu(waits, thread, time, err);
    return record->context_switch.out ? leave_cpu(waits, thread, time, record->context_switch.preempted, err)
                                      : come_to_cpu(waits, thread, time, err);
}

bool waits_wakeup(struct waits *waits, const struct wakeup *wakeup)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, wakeup->woken, &process);
    if (thread && thread->run.state == RUN_WAITS && !thread->run.is_runnable)
        thread->run.waker = (struct thread_waker){.is_known = true,
                                                  .pid = wakeup->by_pid,
                                                  .tid = wakeup->by_tid,
                                                  .context = wakeup->context,
                                                  .time = wakeup->time};
    return thread != NULL;
}

struct tracked_thread *waits_find_woken(const struct waits *waits, const struct wakeup *wakeup)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, wakeup->woken, &process);
    if (!thread || thread->run.state != RUN_WAITS || thread->run.is_runnable || waits->paused ||
        !thread_filter_matches(waits->options.filter, thread->name))
        return NULL;
    bool is_long = wakeup->time >= thread->run.began + LOOK_NS;
    return is_long || thread->run.stack || waits->options.no_looks ? thread : NULL;
}

void waits_exec(struct waits *waits, const struct perf_record *record)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return;
    struct thread_run *run = &thread->run;
    run->was_here = !is_elsewhere(waits, record);
    run->cpu = record->cpu;
    run->on_cpu_since = run->was_here ? record->time : 0;
    if (run->was_here)
        return;
    run->state = RUN_ON_OTHER_CPU;
    run->since = record->time;
    run->goes_on = false;
}

/* Stores the sums of a thread whose waits end here: no later wait stands for them. */
static int store_rest(struct waits *waits, struct tracked_thread *thread, struct error *err)
{
    const struct thread_run *run = &thread->run;
    uint64_t mean = run->ready_count ? run->was_ready / run->ready_count : 0, last = end_of_sums(run);
    uint64_t end = subtract_or_zero(last, mean) > run->known_since ? last - mean : last; /* rows do not overlap */
    take_expected_runnable_time(&thread->run);
    int code = add_late_switch(&thread->run, run->since, err);
    if (!code)
        code = waits->options.late_switches ? add_missing_waits(&thread->run, err) : 0;
    if (!code)
        code = store_unseen(waits, thread, UINT64_MAX, end, err);
    thread_run_forget_last_waits(&thread->run);
    return code ? code : store_runnable(waits, thread, last, err);
}

static int end_waits_of_thread(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    int code = 0;
    if (thread->run.state == RUN_ON_OTHER_CPU) {
        code = end_wait(waits, thread, time, err);
        thread->run.since = time;
    }
    if (!code)
        code = store_rest(waits, thread, err);
    /* A reader forgets the mappings of the process after the slice that ends with the last thread. */
    return code ? code : cpu_slices_flush(waits, thread, time, true, err);
}

static int end_waits_of_program(struct waits *waits, const struct perf_record *record, struct error *err)
{
    const struct tracked_process *process = tracker_find_process(waits->options.tracker, record->pid);
    int code = 0;
    for (struct tracked_thread *thread = process ? process->threads : NULL; thread && !code; thread = thread->next)
        code = end_waits_of_thread(waits, thread, record->time, err);
    return code;
}

int waits_end_tasks(struct waits *waits, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process;
    if (record->type == PERF_RECORD_COMM && record->comm.exec)
        return end_waits_of_program(waits, record, err);
    if (record->type != PERF_RECORD_EXIT)
        return 0;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    wakers_thread_ends(&waits->wakers, record->tid, thread->name); /* the threads that it woke may need its name */
    return end_waits_of_thread(waits, thread, record->time, err);
}

void waits_add_loss(struct waits *waits)
{
    struct tracked_process *process;
    waits->has_lost = true;
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        thread_run_forget_stack(&thread->run);
        thread->run.state = RUN_UNKNOWN;
        thread->run.has_run_delay = false;
        thread->run.ran = thread->run.on_cpu_since = 0;
    }
}

/* ---- running threads, flushes and pauses ---- */

/* Whether a waiting thread last ran on a recorded CPU. */
static bool left_recorded_cpu(const struct waits *waits, uint32_t tid)
{
    struct proc_stat stat;
    return !waits->options.cpus || (proc_stat_read(tid, &stat) && cpu_list_has(waits->options.cpus, stat.cpu));
}

int waits_add_running(struct waits *waits, uint32_t tid, uint64_t time, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_find_thread(waits->options.tracker, tid, &process);
    struct wait_state state;
    if (!thread || thread->run.state != RUN_UNKNOWN ||
        wait_state_read(process->pid, tid, &thread->run.call, &state) <= 0)
        return 0;
    if (!left_recorded_cpu(waits, tid))
        return move_to_other_cpu(waits, thread, time, err);
    thread->run.was_here = true;
    thread->run.cpu = UINT32_MAX; /* unknown */
    return leave_cpu(waits, thread, time, false, err);
}

/* Finds threads that still sleep after a loss of records: no switch reports them. */
static int find_waiting_again(struct waits *waits, uint64_t now, struct error *err)
{
    struct tracked_process *process;
    int code = 0;
    waits->has_lost = false;
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker) && !code; i++) {
        const struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
        if (thread && thread->run.state == RUN_UNKNOWN)
            code = waits_add_running(waits, thread->tid, now, err);
    }
    return code;
}

static int flush_wait(struct waits *waits, struct tracked_thread *thread, uint64_t now, bool end, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (now <= run->since)
        return 0;
    int code = 0;
    if (!end && run->awake + part_length < now) /* the record of a more recent switch may still come */
        code = split_off_runnable(run, now, err);
    if (code || !is_off_cpu(run) || (!end && now - run->since < part_length))
        return code;
    if (end) {
        code = take_end(waits, thread, now, true, err); /* after a pause, the wait continues with its stack */
    } else if (run->is_runnable || run->state == RUN_ON_OTHER_CPU || run->stack || !run->in_pending) {
        const struct stored_wait part = {.start = run->since,
                                         .end = now,
                                         .kind = run->state == RUN_ON_OTHER_CPU ? ELSEWHERE
                                                 : run->is_runnable             ? READY
                                                                                : BLOCKED};
        run->ready_since_reading += part.kind == READY ? now - run->since : 0;
        code = store_wait(waits, thread, &part, err);
        run->goes_on = true;
    } else {
        return 0;
    }
    run->since = now;
    return code;
}

/* Stores, once a second and at the end, the waits of classes without a reading for a second as a row of their own. */
static int flush_thread(struct waits *waits, struct tracked_process *process, struct tracked_thread *thread,
                        uint64_t now, bool end, struct error *err)
{
    struct thread_run *run = &thread->run;
    int code = cpu_slices_flush(waits, thread, now, end, err);
    if (code || waits->options.only_runs)
        return code;
    read_run_delay(waits, process->pid, thread);
    if (!end)
        code = store_unseen(waits, thread, now - part_length, end_of_sums(run), err);
    if (!code)
        code = flush_wait(waits, thread, now, end, err);
    return code || !end ? code : store_rest(waits, thread, err);
}

int waits_flush(struct waits *waits, uint64_t now, bool end, struct error *err)
{
    struct tracked_process *process;
    int code = waits->has_lost && !end && !waits->options.only_runs ? find_waiting_again(waits, now, err) : 0;
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker) && !code; i++) {
        struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        code = flush_thread(waits, process, thread, now, end, err);
        if (end && !code)
            code = tracker_write_unsampled(waits->options.tracker, thread, now, err);
    }
    return code;
}

int waits_pause(struct waits *waits, uint64_t time, struct error *err)
{
    int code = waits_flush(waits, time, true, err);
    waits->paused = true;
    tracker_expect_switches(waits->options.tracker, false);
    return code;
}

void waits_resume(struct waits *waits, uint64_t time)
{
    struct tracked_process *process;
    waits->paused = false;
    tracker_expect_switches(waits->options.tracker, true);
    for (size_t i = 0; i < tracker_count_threads(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_get_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        struct thread_run *run = &thread->run;
        run->since = time;
        run->began = run->known_since = time;
        run->stored = run->slice.ran = 0;
        run->on_cpu_since = run->state == RUN_ON ? time : 0;
        run->ran = run->was_ready = run->ready_count = run->on_other_cpus = 0;
        run->has_run_delay = false;
        run->goes_on = false;
    }
}

/* ---- as a producer ---- */

static uint64_t deadline(const void *self)
{
    const struct waits *waits = self;
    return waits_want_look(waits) ? waits->next_look : UINT64_MAX;
}

static int run_early(void *self, struct error *err)
{
    return waits_look_early(self, err);
}

static int run(void *self, uint64_t now, struct error *err)
{
    (void)now;
    return waits_look(self, err);
}

static int flush(void *self, uint64_t now, struct error *err)
{
    return waits_flush(self, now, false, err);
}

static int finish(void *self, uint64_t stopped, struct error *err)
{
    return waits_flush(self, stopped, true, err);
}

struct producer waits_as_producer(struct waits *waits)
{
    const struct waits_options *options = &waits->options;
    bool looks = options->late_switches || !options->only_runs;
    return (struct producer){.self = waits,
                             .deadline = looks ? deadline : NULL,
                             .run_early = looks ? run_early : NULL,
                             .run = looks ? run : NULL,
                             .flush = flush,
                             .finish = finish};
}

void waits_note_refused(const struct waits *waits, struct record_result *result)
{
    char scope[16];
    if (!waits->refused)
        return;
    bool is_yama =
        file_read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) && strcmp(scope, "0") != 0;
    record_result_add_note(result, "some waits have no stack: this user may not read the processes%s",
                           is_yama ? " (kernel.yama.ptrace_scope); 'sudo sysctl kernel.yama.ptrace_scope=0' permits it"
                                   : "");
}
