#include "record/wait_ends.h"

#include "base/random.h"
#include "process/wait_classes.h"
#include "record/wait_readings.h"
#include "record/wait_store.h"

/* The mean time from the start of a long wait to the first pass that meets it, in mean times between two passes: half
 * of 1 plus the variance of the times that plan_wait_reading() chooses. */
static const double long_wait_part = 0.63;

enum {
    LONG_INTERVALS = 4, /* in sampling intervals; longer waits are stored even without a stack */
    LONG_CLASSES = 9,   /* classes (8 ms and longer) whose waits without a reading are stored if they have a waker */
};

bool is_off_cpu(const struct thread_run *run)
{
    return run->state == RUN_WAITS || (run->state == RUN_ON_OTHER_CPU && run->was_here);
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
    return fits && run->was_ready >= waits->options.interval ? store_runnable_time(waits, thread, time, err) : 0;
}

/* Ends a time in which the thread was runnable. Stores a long time by itself. */
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
    return (double)(draw_random_bits(&waits->random) >> 11) < share * 0x1p53;
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

/*
 * Adds to a wait with a reading its part of the unseen waits, with ptrace. The lengths of these waits are only means of
 * the waits between two checks, so classes of lengths would favor some reasons. Each reading stands for the same time,
 * the mean time between two passes, from which the rest of its own wait counts if further passes would meet it. The
 * part does not depend on the time since the reading before. Otherwise a long wait, which a pass always meets, would
 * get the time of the short waits before it. RECENT_WAITS readings stay due, so that the sum of all parts is right.
 */
static void add_part_of_unseen(struct waits *waits, struct wait_class *class, uint64_t length, uint32_t count,
                               struct stored_wait *stored)
{
    double time = fmax(LOOK_NS - (double)length, long_wait_part * LOOK_NS);
    double part = time / (time + (double)RECENT_WAITS * LOOK_NS);
    uint64_t unseen = (uint64_t)((double)class->unseen_ns * part), own = length;
    if (length < LOOK_NS) { /* a longer wait is a wait of its own */
        uint32_t others = (uint32_t)((double)class->unseen * part + (double)draw_random_bits(&waits->random) * 0x1p-64);
        others = others < class->unseen ? others : class->unseen;
        class->unseen -= others;
        own = (length + unseen) / (count + others);
    }
    class->unseen_ns -= unseen;
    class->oldest = stored->end; /* no second has passed since the last reading */
    stored->start = stored->end - own;
    stored->unseen = length + unseen - own;
}

/* Keeps the stack of a reading for unseen waits. With ptrace, these are shorter than the time between two passes. */
static void keep_last_stack(struct waits *waits, struct thread_run *run, struct wait_class *class, uint64_t length)
{
    struct wait_stack **last =
        run->has_mean_lengths ? &run->waits->recent[random_below(waits, RECENT_WAITS)] : &class->last;
    if (run->has_mean_lengths && length >= LOOK_NS) {
        thread_run_forget_stack(run);
        return;
    }
    free(*last);
    *last = run->stack;
    run->stack = NULL;
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
    uint64_t queued = subtract_owed_time(run, class, length);
    class->waited_ns += length;
    struct stored_wait stored = {.start = run->since, .end = time - queued, .kind = BLOCKED};
    int code = 0;
    bool was_awake = !seen && !run->goes_on && run->awake_asked >= run->since && run->awake < stored.end &&
                     run->awake && keeps_reading(waits, run->awake - run->awake_asked, length);
    if (seen && !run->goes_on && run->has_mean_lengths) {
        add_part_of_unseen(waits, class, length, count, &stored);
    } else if (seen && !run->goes_on) {
        uint64_t weight = class->unseen_ns + length - queued;
        double waits_of_class = (double)(class->unseen_length + length) / (double)length;
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
    if (seen && !run->stack->is_from_event)
        keep_last_stack(waits, run, class, length);
    return code || !queued ? code : add_runnable(waits, thread, queued, time, err);
}

/* Ends a wait at its wakeup if the wakeup is recorded and the thread stays runnable for a sampling interval. A shorter
 * time after the wakeup is mostly an idle CPU's time to become busy, which the kernel does not count as runnable
 * time. */
static int end_woken(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t woken = !run->waker.is_known ? time : run->waker.time > run->since ? run->waker.time : run->since;
    if (woken + waits->options.interval > time)
        return end_blocked(waits, thread, time, is_last, err);
    int code = woken > run->since ? end_blocked(waits, thread, woken, is_last, err) : 0;
    run->waker = (struct thread_waker){0};
    run->since = woken;
    run->goes_on = false;
    return code ? code : end_ready(waits, thread, time, err);
}

int wait_ends_store(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (waits->options.only_runs || !is_off_cpu(run) || time <= run->since)
        return 0;
    if (run->state == RUN_ON_OTHER_CPU)
        return end_elsewhere(waits, thread, time, err);
    return run->is_runnable ? end_ready(waits, thread, time, err) : end_woken(waits, thread, time, is_last, err);
}
