#include "record/waits.h"

#include "base/random.h"
#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "os/target_memory.h"
#include "process/socket_names.h"
#include "record/wait_reason.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_COPY = 16 * 1024,  /* bytes of one read, enough for most waiting threads; a walk reads the rest if needed */
    LOOKS_AT_ONCE = 256,     /* most stacks read in one pass */
    NS_PER_READING = 700000, /* time per reading of a stack or a run delay, which takes 10-20 us: 1.5-3 % of a CPU */
    OBJECTS_MAX = 65536,     /* limit of names; waits for further objects have only a reason */
    LOOK_NS = 4000000,       /* mean time between two passes, at random: readings meet nearly all longer waits */
    ACTIVE_NS = 50000000,    /* after a thread began to wait, the recorder reads the rings for this time in each pass */
    PASSES_ON_CPU = 4,       /* mean number of passes on the CPU of threads that are read */
    RUN_DELAY_AGE_NS = 20000000, /* a pass reads the run delay of a thread if it is older than this */
    SHORTEST_CLASS_NS = 16000,   /* limit of the shortest class (thread_run.h) */
    SOCKETS_COST_NS = 50000000,  /* describing sockets may take this CPU time at the start of a recording */
    SOCKETS_SHARE = 100,         /* describing sockets may also take 1/100 of the elapsed time */
    MAX_STACK_AGE_NS = 1000000,  /* highest age (ns) at which a stack from before a wait counts as the wait's stack */
    LONG_INTERVALS = 4,          /* in sampling intervals; longer waits are stored even without a stack */
    LONG_CLASSES = 2, /* classes (8 ms and longer) whose waits without a reading are stored if they have a waker */
};

static const uint64_t part_length = UINT64_C(1000000000); /* ns: long waits are stored in parts of this length */

int waits_init(struct waits *waits, const struct waits_options *options, struct error *err)
{
    *waits = (struct waits){.options = *options, .started = monotonic_ns()};
    waits->random = waits->started | 1;
    tracker_expect_switches(options->tracker, true);
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

/* ---- storing ---- */

static bool is_off_cpu(const struct thread_run *run)
{
    return run->state == RUN_WAITS || (run->state == RUN_ELSEWHERE && run->was_here);
}

/* Appends a description of the socket. The lists of very many sockets take long to read: beyond a limit of CPU time,
 * descriptions of sockets are only numbers. */
static void describe_socket(struct waits *waits, uint32_t pid, const char *name, char *text, size_t size)
{
    const char *socket = strstr(name, "socket:[");
    char what[SOCKET_NAME_SIZE];
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    snprintf(text, size, "%s", name);
    if (!socket || !pid || waits->socket_cost > SOCKETS_COST_NS + (monotonic_ns() - waits->started) / SOCKETS_SHARE)
        return;
    if (socket_name(pid, strtoull(socket + strlen("socket:["), NULL, 10), what, sizeof(what)))
        snprintf(text, size, "%s %s", name, what);
    waits->socket_cost += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* Sets *number to the number of the SPOOL_OBJECT with this name, or to 0 if the table is full. `pid` is the process of
 * the file descriptor, or 0 for other objects. */
static int object_number(struct waits *waits, uint32_t pid, const char *name, uint32_t *number, struct error *err)
{
    char text[WAIT_OBJECT_SIZE + SOCKET_NAME_SIZE];
    size_t known = waits->objects.entries.length;
    uint32_t found = strings_find(&waits->objects, name, strlen(name));
    *number = found == STRING_NONE ? 0 : found + 1;
    if (found != STRING_NONE || known >= OBJECTS_MAX)
        return 0;
    if (strings_add_z(&waits->objects, name) == STRING_NONE)
        return error_no_memory(err);
    *number = (uint32_t)known + 1;
    describe_socket(waits, pid, name, text, sizeof(text));
    const struct spool_object object = {.object = *number, .name = text};
    return spool_write_object(waits->options.spool, &object, err);
}

static int waker_number(struct waits *waits, const struct thread_waker *waker, uint32_t reason, uint32_t *number,
                        struct error *err)
{
    char name[WAKER_NAME_SIZE];
    if (!waker->is_known)
        return 0;
    wakers_name(&waits->wakers, waits->options.tracker, waker, reason, name, sizeof(name));
    return object_number(waits, 0, name, number, err);
}

/* One wait, or a sum of several waits, for the spool. */
struct stored_wait {
    uint64_t start, end; /* ns */
    uint64_t unseen;     /* ns of the unseen waits that this wait stands for */
    enum { BLOCKED, READY, ELSEWHERE, UNSEEN } kind;
    bool is_sum; /* a sum of several waits: one wait of mean length, and `unseen` has the time of the others */
};

static int store(struct waits *waits, struct tracked_thread *thread, const struct stored_wait *stored,
                 struct error *err)
{
    struct thread_run *run = &thread->run;
    const struct wait_stack *stack = stored->is_sum ? NULL : run->stack;
    struct spool_wait wait = {.thread = thread->number,
                              .time_ns = stored->end,
                              .cpu_time_ns = run->ran,
                              .wait_ns = stored->end - stored->start,
                              .unseen_ns = stored->unseen,
                              .goes_on = run->goes_on && stored->start == run->since};
    if (stack) {
        wait.reason = stack->reason;
        wait.object = stored->kind == BLOCKED ? stack->object : 0;
        wait.flags = stack->flags;
        wait.frames = (struct spool_list){stack->frames, stack->frame_count};
    }
    if (stored->kind == READY)
        wait.reason = REASON_RUNNABLE;
    if (stored->kind == UNSEEN)
        wait.reason = REASON_UNSEEN;
    run->ran = 0;
    if (waits->paused || !thread_filter_matches(waits->options.filter, thread->name))
        return 0;
    bool is_first = !wait.goes_on && (stored->kind == BLOCKED || stored->kind == READY);
    waits->stored += is_first;
    tracker_add_cpu_time(waits->options.tracker, thread, wait.cpu_time_ns);
    run->stored += wait.wait_ns + wait.unseen_ns;
    waits->without_stack += is_first && stored->kind == BLOCKED && !wait.frames.count;
    waits->truncated += !wait.goes_on && wait.flags & SAMPLE_TRUNCATED;
    int code = 0;
    if (stored->kind == BLOCKED || (stored->kind == READY && stored->end > run->since))
        code = waker_number(waits, &run->waker, wait.reason, &wait.waker, err);
    if (stored->kind == ELSEWHERE)
        code = object_number(waits, 0, "on other CPUs", &wait.object, err);
    return code ? code : spool_write_wait(waits->options.spool, &wait, err);
}

/* Stores `count` waits of `total` ns as a sum: a wait of mean length that ends at `end`. */
static int store_sum(struct waits *waits, struct tracked_thread *thread, int kind, uint64_t total, uint32_t count,
                     uint64_t end, struct error *err)
{
    uint64_t mean = count > 1 ? total / count : total - (total > 0); /* `unseen` marks a sum */
    const struct stored_wait stored = {
        .start = end > mean ? end - mean : 0, .end = end, .unseen = total - mean, .kind = kind, .is_sum = true};
    return total ? store(waits, thread, &stored, err) : 0;
}

/* Returns the time (ns) at which a stored sum ends: the start of the thread's current state, or of its program. */
static uint64_t end_of_sums(const struct thread_run *run)
{
    return run->since > run->known_since ? run->since : run->known_since;
}

static int store_ready(struct waits *waits, struct tracked_thread *thread, uint64_t end, struct error *err)
{
    struct thread_run *run = &thread->run;
    int code = store_sum(waits, thread, READY, run->was_ready, run->ready_count, end, err);
    run->was_ready = run->ready_count = 0;
    return code;
}

/* Stores, as a sum, the unseen waits of each class without a reading since `before` (ns). */
static int store_unseen(struct waits *waits, struct tracked_thread *thread, uint64_t before, uint64_t end,
                        struct error *err)
{
    struct short_waits *shorts = thread->run.waits;
    uint64_t total = 0;
    uint32_t count = 0;
    for (size_t i = 0; shorts && i < WAIT_CLASSES; i++) {
        struct wait_class *class = &shorts->classes[i];
        if (class->oldest >= before)
            continue;
        total += class->unseen_ns;
        count += class->unseen;
        class->unseen_ns = class->unseen = 0;
    }
    return store_sum(waits, thread, UNSEEN, total, count, end, err);
}

/* ---- runnable time ---- */

static unsigned class_of(uint64_t length)
{
    unsigned number = 0;
    for (uint64_t limit = SHORTEST_CLASS_NS; length >= limit && number < WAIT_CLASSES - 1; limit *= 2)
        number++;
    return number;
}

/* Returns the length (ns) of the shortest wait of a class. */
static double shortest_of_class(unsigned number)
{
    return number ? (double)(SHORTEST_CLASS_NS << (number - 1)) : 0;
}

/* NULL if memory ran out. */
static struct wait_class *class_of_wait(struct thread_run *run, uint64_t length)
{
    if (!run->waits)
        run->waits = calloc(1, sizeof(*run->waits));
    return run->waits ? &run->waits->classes[class_of(length)] : NULL;
}

static void add_unseen(struct wait_class *class, uint64_t ns, uint64_t end)
{
    if (!class->unseen_ns)
        class->oldest = end;
    class->unseen_ns += ns;
    class->unseen++;
}

static bool reads_run_delay(const struct waits *waits)
{
    const struct waits_options *options = &waits->options;
    return !options->late_switches && !options->no_looks && !options->only_runs && !options->cpus;
}

/* Takes `ready` ns of runnable time from the waits since the last reading, in proportion to their length. Waits that
 * are not yet in the spool get shorter now. The rest shortens later waits of the class. */
static void distribute(struct thread_run *run, uint64_t ready)
{
    struct short_waits *waits = run->waits;
    double length = 0;
    uint64_t taken = 0;
    ready += waits->owed;
    for (size_t i = 0; i < WAIT_CLASSES; i++)
        length += (double)waits->classes[i].waited_ns;
    for (size_t i = 0; i < WAIT_CLASSES; i++) {
        struct wait_class *class = &waits->classes[i];
        uint64_t share = length > 0 ? (uint64_t)((double)ready * ((double)class->waited_ns / length)) : 0;
        uint64_t now = share < class->unseen_ns ? share : class->unseen_ns;
        class->owed_ns = share - now;
        class->unseen_ns -= now;
        class->waited_ns = 0;
        taken += now;
    }
    run->was_ready += taken;
    run->ready_count += taken != 0;
    waits->owed = ready > taken ? ready - taken : 0;
}

/* Returns the ns of runnable time by which a wait of `length` ns is shorter. */
static uint64_t pay_owed(struct thread_run *run, struct wait_class *class, uint64_t length)
{
    uint64_t paid = class->owed_ns < length ? class->owed_ns : length;
    if (paid > run->waits->owed)
        paid = run->waits->owed;
    class->owed_ns -= paid;
    run->waits->owed -= paid;
    return paid;
}

/* Counts a wait whose end only a sample showed, not the record of a switch. */
static int take_late_switch(struct thread_run *run, uint64_t end, struct error *err)
{
    if (!run->late_switch)
        return 0;
    struct wait_class *class = class_of_wait(run, run->late_switch);
    if (!class)
        return error_no_memory(err);
    add_unseen(class, run->late_switch, end);
    run->late_switch = 0;
    return 0;
}

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The recorder sees some switches late (ptrace), so their times on a CPU exceed the kernel's count. Adds the difference
 * as waits. */
static int add_missing(const struct waits *waits, struct thread_run *run, struct error *err)
{
    uint64_t known = run->stored + run->ran + run->was_ready + run->late_switch;
    if (!waits->options.late_switches || !run->known_since)
        return 0;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++)
        known += run->waits->classes[i].unseen_ns + run->waits->classes[i].found_ready_ns;
    uint64_t missing = above(above(run->since, run->known_since), known);
    struct wait_class *class = missing ? class_of_wait(run, missing) : NULL;
    if (class)
        add_unseen(class, missing, run->since);
    return missing && !class ? error_no_memory(err) : 0;
}

/* Moves at most `most` ns of the waits in which readings found a runnable thread to the runnable time, and the rest
 * back to the unseen waits. Returns the moved ns. */
static uint64_t settle_found(struct thread_run *run, uint64_t most)
{
    uint64_t found = 0, taken = 0;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++)
        found += run->waits->classes[i].found_ready_ns;
    for (size_t i = 0; found && i < WAIT_CLASSES; i++) {
        struct wait_class *class = &run->waits->classes[i];
        uint64_t part = class->found_ready_ns;
        if (!part)
            continue;
        if (found > most)
            part = (uint64_t)((double)part * (double)most / (double)found);
        class->unseen += (uint32_t)((double)class->found_ready * (1 - (double)part / (double)class->found_ready_ns));
        class->unseen_ns += class->found_ready_ns - part;
        class->found_ready_ns = class->found_ready = 0;
        taken += part;
    }
    run->was_ready += taken;
    run->ready_count += taken != 0;
    return taken;
}

/*
 * The kernel counts how long a thread was runnable without running. Switches show preemptions, but not the time from a
 * wakeup until the thread ran.
 */
static void read_run_delay(struct waits *waits, uint32_t pid, struct tracked_thread *thread, uint64_t now)
{
    struct thread_run *run = &thread->run;
    char path[64], text[128];
    uint64_t delay;
    bool has_waits = false;
    if (!reads_run_delay(waits))
        return;
    for (size_t i = 0; run->waits && i < WAIT_CLASSES; i++)
        has_waits |= run->waits->classes[i].waited_ns != 0;
    if (run->has_run_delay && !has_waits)
        return;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/schedstat", pid, thread->tid);
    if (!file_read_text(path, text, sizeof(text)) || sscanf(text, "%*u %" SCNu64, &delay) != 1)
        return;
    uint64_t grown = above(delay, run->run_delay), shown = run->ready_since_reading;
    if (run->has_run_delay)
        distribute(run, above(grown, shown) - settle_found(run, above(grown, shown)));
    run->ready_since_reading = run->has_run_delay ? above(shown, grown) : 0;
    run->has_run_delay = true;
    run->run_delay = delay;
    run->run_delay_read = now;
}

/* ---- switches ---- */

/* Returns a random number of at least 0 and below `limit`. */
static uint64_t random_below(struct waits *waits, uint64_t limit)
{
    return limit ? random_bits(&waits->random) % limit : 0;
}

static void plan_look(struct waits *waits, uint64_t now)
{
    waits->next_look = now + LOOK_NS / 8 + random_below(waits, LOOK_NS * 7 / 4);
}

static int leave_cpu(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool preempted,
                     struct error *err)
{
    struct thread_run *run = &thread->run;
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
    if (run->stack && (run->stack->is_given ? run->stack->taken + MAX_STACK_AGE_NS : run->stack->asked) < time)
        thread_run_forget_stack(run);
    if (preempted || waits->options.only_runs || waits->options.no_looks)
        return 0;
    if (!waits_want_look(waits)) /* the next pass was planned long ago */
        waits->next_look = monotonic_ns();
    waits->has_blocked = true;
    if (run->in_pending)
        return 0;
    run->in_pending = array_push(&waits->pending, thread->tid);
    return run->in_pending ? 0 : error_no_memory(err);
}

/* A reading found the thread awake, and the thread has not run since, so the thread has been runnable since the
 * reading. */
static int split_off_ready(struct thread_run *run, uint64_t end, struct error *err)
{
    if (run->state != RUN_WAITS || !run->awake || run->awake >= end)
        return 0;
    struct wait_class *class = class_of_wait(run, end - run->began);
    if (!class)
        return error_no_memory(err);
    add_unseen(class, run->awake - run->since, run->awake);
    class->waited_ns += run->awake - run->since;
    run->since = run->awake;
    run->awake = 0;
    run->is_runnable = true;
    run->goes_on = false;
    run->waker = (struct thread_waker){0};
    return 0;
}

static int end_elsewhere(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t length = time - run->since;
    const struct stored_wait stored = {
        .start = run->since, .end = time, .unseen = run->was_elsewhere, .kind = ELSEWHERE};
    if (!run->goes_on && run->was_elsewhere + length < waits->options.interval) {
        run->was_elsewhere += length;
        return 0;
    }
    run->was_elsewhere = 0;
    return store(waits, thread, &stored, err);
}

/* Ends a time in which the thread was runnable. Stores a long one by itself. Sums short ones, and stores the sum where
 * a time of their mean length fits. */
static int end_ready(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t length = time - run->since;
    const struct stored_wait stored = {.start = run->since, .end = time, .kind = READY};
    run->ready_since_reading += length;
    if (run->goes_on || length >= waits->options.interval)
        return store(waits, thread, &stored, err);
    run->was_ready += length;
    run->ready_count++;
    bool fits = length >= run->was_ready / run->ready_count; /* at least the mean */
    return fits && run->was_ready >= waits->options.interval ? store_ready(waits, thread, time, err) : 0;
}

/* A reading that takes `delay` ns meets a wait of `length` ns with a probability in proportion to length - delay.
 * Returns true for a random part of such readings, so that each wait of a class counts in proportion to its length. */
static bool keeps_reading(struct waits *waits, uint64_t delay, uint64_t length)
{
    double shortest = shortest_of_class(class_of(length));
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
    if (stack->is_given)
        return waits->options.no_looks && random_below(waits, waits->options.interval) < end - run->since;
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
    class->found_ready += class->unseen + 1;
    class->unseen_ns = class->unseen = 0;
    run->ready_since_reading += length;
    if (length >= waits->options.interval)
        return store(waits, thread, &stored, err);
    run->was_ready += length;
    run->ready_count++;
    return 0;
}

/* Ends a blocked wait. A wait with a reading stands for the unseen waits of its class. A short wait without a reading
 * becomes an unseen wait. */
static int end_blocked(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last,
                       struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t length = time - run->since;
    struct wait_class *class = class_of_wait(run, time - run->began);
    if (!class)
        return error_no_memory(err);
    bool seen = is_seen(waits, run, time);
    bool is_bare = ((run->is_refused || is_last) && length >= LONG_INTERVALS * waits->options.interval) ||
                   (run->waker.tid && class >= &run->waits->classes[WAIT_CLASSES - LONG_CLASSES]);
    uint64_t queued = pay_owed(run, class, length);
    class->waited_ns += length;
    struct stored_wait stored = {.start = run->since, .end = time - queued, .kind = BLOCKED};
    int code = 0;
    bool was_awake = !seen && !run->goes_on && run->awake_asked >= run->since && run->awake < stored.end &&
                     run->awake && keeps_reading(waits, run->awake - run->awake_asked, length);
    if (seen && !run->goes_on) {
        stored.unseen = class->unseen_ns;
        class->unseen_ns = class->unseen = 0;
    }
    if (was_awake)
        code = store_found_awake(waits, thread, class, stored.end, err);
    else if (seen || run->goes_on || is_bare)
        code = store(waits, thread, &stored, err);
    else
        add_unseen(class, stored.end - stored.start, time);
    run->was_ready += queued;
    run->ready_count += queued != 0;
    bool fits = queued && queued >= run->was_ready / run->ready_count;
    return !code && fits && run->was_ready >= waits->options.interval ? store_ready(waits, thread, time, err) : code;
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
    if (run->state == RUN_ELSEWHERE)
        return end_elsewhere(waits, thread, time, err);
    return run->is_runnable ? end_ready(waits, thread, time, err) : end_woken(waits, thread, time, is_last, err);
}

static int end_wait(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    int code = take_late_switch(&thread->run, time, err);
    if (!code)
        code = take_end(waits, thread, time, false, err);
    const struct wait_stack *stack = thread->run.stack;
    if (stack && (stack->is_given || stack->asked < time)) /* a later stack belongs to the next wait */
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
    run->since = time;
    return code;
}

/* Moves a thread to a CPU outside of the list. If the thread has never run on a recorded CPU, its wait before counts as
 * time on the other CPUs. */
static int go_elsewhere(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    if (run->state == RUN_ELSEWHERE)
        return 0;
    int code = run->was_here ? end_wait(waits, thread, time, err) : 0;
    thread_run_forget_stack(run);
    if (run->was_here || run->state != RUN_WAITS)
        run->since = time;
    run->state = RUN_ELSEWHERE;
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
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    thread->run.cpu = record->cpu;
    tracker_report_run(waits->options.tracker, process, record->time, false);
    if (record->context_switch.out)
        *(record->context_switch.preempted ? &process->preemptions : &process->waits) += 1;
    if (is_elsewhere(waits, record))
        return go_elsewhere(waits, thread, record->time, err);
    return record->context_switch.out ? leave_cpu(waits, thread, record->time, record->context_switch.preempted, err)
                                      : come_to_cpu(waits, thread, record->time, err);
}

void waits_wakeup(struct waits *waits, const struct wakeup *wakeup)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, wakeup->woken, &process);
    if (thread && thread->run.state == RUN_WAITS && !thread->run.is_runnable)
        thread->run.waker = (struct thread_waker){.is_known = true,
                                                  .pid = wakeup->by_pid,
                                                  .tid = wakeup->by_tid,
                                                  .context = wakeup->context,
                                                  .time = wakeup->time};
}

void waits_exec(struct waits *waits, const struct perf_record *record)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return;
    struct thread_run *run = &thread->run;
    run->was_here = !is_elsewhere(waits, record);
    if (run->was_here)
        return;
    run->state = RUN_ELSEWHERE;
    run->since = record->time;
    run->goes_on = false;
}

/* Stores the sums of a thread whose waits end here: no later wait stands for them. */
static int store_rest(struct waits *waits, struct tracked_thread *thread, struct error *err)
{
    const struct thread_run *run = &thread->run;
    uint64_t mean = run->ready_count ? run->was_ready / run->ready_count : 0, last = end_of_sums(run);
    uint64_t end = above(last, mean) > run->known_since ? last - mean : last; /* rows do not overlap */
    settle_found(&thread->run, 0);
    int code = take_late_switch(&thread->run, run->since, err);
    if (!code)
        code = add_missing(waits, &thread->run, err);
    if (!code)
        code = store_unseen(waits, thread, UINT64_MAX, end, err);
    return code ? code : store_ready(waits, thread, last, err);
}

int waits_thread_ends(struct waits *waits, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, record->tid, &process);
    if (!thread)
        return 0;
    if (record->type == PERF_RECORD_EXIT) /* the threads that this thread woke may need its name */
        wakers_thread_ends(&waits->wakers, record->tid, thread->name);
    int code = 0;
    if (thread->run.state == RUN_ELSEWHERE) {
        code = end_wait(waits, thread, record->time, err);
        thread->run.since = record->time;
    }
    return code ? code : store_rest(waits, thread, err);
}

void waits_lost(struct waits *waits)
{
    struct tracked_process *process;
    waits->has_lost = true;
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        thread_run_forget_stack(&thread->run);
        thread->run.state = RUN_UNKNOWN;
        thread->run.has_run_delay = false;
        thread->run.ran = 0;
    }
}

/* ---- readings of waiting threads ---- */

static struct unwind_result walk(struct waits *waits, struct tracked_process *process, uint32_t tid,
                                 const struct wait_state *state)
{
    struct unwind_regs regs;
    unwind_regs_of_waiting(&regs, state->sp, state->pc, state->is_in_call ? state->arguments : NULL);
    const struct target_thread thread = {process->pid, tid};
    size_t size = waits->copied = target_memory_read(thread, state->sp, waits->copy, STACK_COPY);
    waits->copy_read = monotonic_ns();
    struct unwind_stack stack = {.sp = state->sp,
                                 .bytes = waits->copy,
                                 .size = size,
                                 .read_above = stack_reader_read,
                                 .read_off_copied_stack = stack_reader_read_off_copied_stack,
                                 .read_below = stack_reader_read_below,
                                 .read_code = stack_reader_read_code,
                                 .context = &waits->reader,
                                 .sps = process->python ? waits->sps : NULL};
    stack_reader_start(&waits->reader, thread, monotonic_ns(), state->sp, waits->copy, size, size == STACK_COPY);
    if (process->dump)
        jitdump_unwind_follow(process->dump, &process->space);
    return unwind_walk(&process->space, &regs, &stack, waits->frames, CHUNK_MAX_FRAMES);
}

/* Adds the Python frames of a waiting thread. Valid only if the thread sleeps until after this read, as its next switch
 * shows. */
static int add_python_frames(struct waits *waits, struct tracked_process *process, uint32_t tid,
                             const struct wait_state *state, struct unwind_result *result, struct error *err)
{
    struct python_stacks *python = waits->options.python;
    struct python_stack stack = {.pcs = waits->frames,
                                 .sps = waits->sps,
                                 .count = result->frames,
                                 .max = CHUNK_MAX_FRAMES,
                                 .is_complete = result->end == UNWIND_COMPLETE};
    if (!python || !state->sp || !python_stack_has_python(process, &stack))
        return 0;
    const struct python_sample sample = {.pid = process->pid,
                                         .tid = tid,
                                         .time = monotonic_ns(),
                                         .sp = state->sp,
                                         .copy = waits->copy,
                                         .copy_size = waits->copied};
    bool is_added = false;
    if (python_stacks_read(python, process, &sample) != PYTHON_READ)
        return 0;
    int code = python_stacks_add(python, process, true, &stack, &is_added, err);
    result->frames = stack.count;
    return code;
}

static int keep_stack(struct waits *waits, uint32_t pid, struct thread_run *run, const struct wait_state *state,
                      uint64_t taken, const struct unwind_result *result, struct error *err)
{
    uint32_t object;
    int code = object_number(waits, pid, state->object, &object, err);
    if (code)
        return code;
    thread_run_forget_stack(run);
    run->stack = malloc(sizeof(*run->stack) + result->frames * sizeof(*run->stack->frames));
    if (!run->stack)
        return error_no_memory(err);
    *run->stack = (struct wait_stack){.asked = state->asked,
                                      .known = state->known,
                                      .taken = taken,
                                      .reason = state->reason,
                                      .object = object,
                                      .flags = (result->end == UNWIND_COMPLETE ? 0 : SAMPLE_TRUNCATED) |
                                               (result->used_no_cfi ? SAMPLE_WITHOUT_CFI : 0) |
                                               (result->used_read_above ? SAMPLE_COMPLETED_LIVE : 0),
                                      .frame_count = (uint32_t)result->frames};
    memcpy(run->stack->frames, waits->frames, result->frames * sizeof(*run->stack->frames));
    return 0;
}

/* Reads the stack of a waiting thread. The thread may already run again, which its next switch shows. */
static int read_stack(struct waits *waits, struct tracked_thread *thread, struct tracked_process *process,
                      uint64_t planned, struct error *err)
{
    struct wait_state state;
    int code = wait_state_read(process->pid, thread->tid, &state);
    if (planned)
        state.asked = planned;
    thread->run.is_refused = code == -EACCES;
    waits->refused += thread->run.is_refused;
    if (state.is_awake && !waits->options.late_switches) {
        thread->run.awake_asked = state.asked;
        thread->run.awake = state.known;
    }
    if (code <= 0)
        return 0;
    /* the mappings of the process may not be loaded yet */
    code = tracker_find(waits->options.tracker, process->pid, thread->tid, monotonic_ns(), &thread, &process, err);
    if (code < 0)
        return code;
    struct unwind_result result = {.end = UNWIND_COMPLETE};
    if (state.sp)
        result = walk(waits, process, thread->tid, &state);
    for (int round = 0; round < MAPPINGS_OF_STACK_MAX; round++) {
        const struct tracked_stack stack = {.pcs = waits->frames, .count = result.frames, .unmapped = result.unmapped};
        bool changed;
        code = tracker_check_stack(waits->options.tracker, process, &stack, monotonic_ns(), &changed, err);
        if (code < 0)
            return code;
        if (!changed)
            break;
        result = walk(waits, process, thread->tid, &state);
    }
    bool has_copy_only = !result.used_read_above && !waits->reader.went_off_copied_stack &&
                         result.end != UNWIND_SAVED_BELOW && !process->python;
    code = add_python_frames(waits, process, thread->tid, &state, &result, err);
    uint64_t taken = has_copy_only && state.sp ? waits->copy_read : monotonic_ns();
    return code ? code : keep_stack(waits, process->pid, &thread->run, &state, taken, &result, err);
}

/* Reads waiting threads until the budget is used. `is_early`: reads only the threads of the recorder's CPU. */
static int read_pending(struct waits *waits, uint64_t now, bool is_early, struct error *err)
{
    uint32_t own_cpu = (uint32_t)sched_getcpu();
    size_t kept = 0;
    int code = 0;
    for (size_t i = 0; i < waits->pending.length; i++) {
        struct tracked_process *process;
        uint32_t tid = waits->pending.data[i];
        struct tracked_thread *thread = tracker_thread(waits->options.tracker, tid, &process);
        if (!thread)
            continue;
        struct thread_run *run = &thread->run;
        bool is_near = run->cpu == own_cpu;
        bool is_later = is_near && (run->read_at >= waits->planned ||
                                    (run->state == RUN_WAITS && run->began > waits->planned)); /* for the next pass */
        bool may_wait = run->state == RUN_ON || (run->state == RUN_WAITS && !run->is_runnable);
        bool is_unknown = may_wait && (!run->stack || run->stack->is_given);
        if ((is_early && !is_near) || (is_unknown && (!waits->looks || code || is_later))) {
            waits->pending.data[kept++] = tid;
            continue;
        }
        run->in_pending = false;
        if (is_unknown) {
            waits->looks--;
            run->read_at = now;
            waits->has_read_near |= is_near;
            code = read_stack(waits, thread, process, is_near ? waits->planned : 0, err);
        }
        bool has_looks_left = waits->looks > waits->pending.length - i; /* stacks come first */
        if (has_looks_left && now > run->run_delay_read + RUN_DELAY_AGE_NS && reads_run_delay(waits)) {
            waits->looks--;
            read_run_delay(waits, process->pid, thread, now);
        }
    }
    waits->pending.length = kept;
    return code;
}

/* Moves the recorder to another CPU, once in several passes. The recorder reads the threads of its own CPU later than
 * planned, because the CPU first leaves its idle state, and so misses the shortest waits there. */
static void move_at_random(struct waits *waits)
{
    cpu_set_t allowed, others;
    if (random_below(waits, PASSES_ON_CPU) || sched_getaffinity(0, sizeof(allowed), &allowed))
        return;
    others = allowed;
    CPU_CLR((size_t)sched_getcpu(), &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof(others), &others))
        sched_setaffinity(0, sizeof(allowed), &allowed);
}

int waits_look_early(struct waits *waits, struct error *err)
{
    uint64_t now = monotonic_ns();
    if (now < waits->next_look)
        return 0;
    waits->planned = waits->next_look;
    waits->looks += (now - waits->last_look) / NS_PER_READING;
    if (waits->looks > LOOKS_AT_ONCE)
        waits->looks = LOOKS_AT_ONCE;
    waits->last_look = now - (now - waits->last_look) % NS_PER_READING;
    return read_pending(waits, now, true, err);
}

int waits_look(struct waits *waits, struct error *err)
{
    uint64_t now = monotonic_ns();
    if (waits->planned != waits->next_look)
        return 0;
    plan_look(waits, now);
    if (waits->has_blocked)
        waits->active_until = now + ACTIVE_NS;
    waits->is_active = now < waits->active_until;
    waits->has_blocked = false;
    int code = read_pending(waits, now, false, err);
    if (waits->has_read_near)
        move_at_random(waits);
    waits->has_read_near = false;
    return code;
}

bool waits_want_look(const struct waits *waits)
{
    return waits->is_active || waits->has_blocked || waits->pending.length;
}

/* Whether a waiting thread last ran on a recorded CPU. */
static bool left_recorded_cpu(const struct waits *waits, uint32_t pid, uint32_t tid)
{
    char path[64], text[1024];
    struct proc_stat stat;
    if (!waits->options.cpus)
        return true;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
    return file_read_text(path, text, sizeof(text)) && proc_stat_parse(text, &stat) &&
           cpu_list_has(waits->options.cpus, stat.cpu);
}

int waits_add_running(struct waits *waits, uint32_t tid, uint64_t time, struct error *err)
{
    struct tracked_process *process;
    struct tracked_thread *thread = tracker_thread(waits->options.tracker, tid, &process);
    struct wait_state state;
    if (!thread || thread->run.state != RUN_UNKNOWN || wait_state_read(process->pid, tid, &state) <= 0)
        return 0;
    if (!left_recorded_cpu(waits, process->pid, tid))
        return go_elsewhere(waits, thread, time, err);
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
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker) && !code; i++) {
        const struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
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
        code = split_off_ready(run, now, err);
    if (code || !is_off_cpu(run) || (!end && now - run->since < part_length))
        return code;
    if (end) {
        code = take_end(waits, thread, now, true, err); /* after a pause, the wait continues with its stack */
    } else if (run->is_runnable || run->state == RUN_ELSEWHERE || run->stack || !run->in_pending) {
        const struct stored_wait part = {.start = run->since,
                                         .end = now,
                                         .kind = run->state == RUN_ELSEWHERE ? ELSEWHERE
                                                 : run->is_runnable          ? READY
                                                                             : BLOCKED};
        run->ready_since_reading += part.kind == READY ? now - run->since : 0;
        code = store(waits, thread, &part, err);
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
    int code = 0;
    if (waits->options.only_runs)
        return 0;
    read_run_delay(waits, process->pid, thread, now);
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
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker) && !code; i++) {
        struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
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
    for (size_t i = 0; i < tracker_thread_count(waits->options.tracker); i++) {
        struct tracked_thread *thread = tracker_thread_at(waits->options.tracker, i, &process);
        if (!thread)
            continue;
        struct thread_run *run = &thread->run;
        run->since = time;
        run->began = run->known_since = time;
        run->stored = 0;
        run->ran = run->was_ready = run->ready_count = run->was_elsewhere = 0;
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

struct producer waits_producer(struct waits *waits)
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
