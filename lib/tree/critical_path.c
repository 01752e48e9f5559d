/*
 * The walk follows wPerf (Zhou and others, OSDI 2018) and the wakeup graphs of `perf sched` in using wakeups as edges
 * between threads, but it follows one range, backwards.
 *
 * The path enters a thread only where the thread is awake, and leaves it where a wait ended, or where it started. So no
 * part of a thread's time is on the path twice, a circle of wakeups is no endless loop, and the work is bounded by the
 * number of rows. Records may contradict each other (a wakeup in a soft interrupt of an unrelated thread, equal times).
 * Then the wait itself is on the path.
 */
#include "tree/critical_path.h"

#include "base/search.h"
#include "tree/order.h"

enum { TID_UNKNOWN = UINT32_MAX, TID_NOT_PARSED = UINT32_MAX - 1 };

/* A wait that the path followed to the waker. */
struct followed_wait {
    double since; /* ms: start of the wait */
    uint32_t waiter, waited_for, wakes_in;
};

struct walk {
    const struct profile *profile;
    struct critical_path *path;
    struct time_range range;
    struct thread_gaps *gaps; /* per thread */
    uint32_t *by_tid;         /* threads with a known tid, sorted: see is_before() */
    size_t tid_count;
    uint32_t *tids;          /* per thread */
    uint32_t *mains;         /* for each thread, the nearest preceding main thread, or the thread itself */
    uint32_t *first_waiters; /* for each thread, the thread from which the path first came, if that thread waited */
    uint32_t *tid_of_string; /* for each string, tid of the waker that it names */
    uint32_t runnable;       /* find_runnable_reason() */
    uint32_t thread;         /* the thread at the current end of the path */
    double time;             /* ms: time of the current end of the path */
    ARRAY(struct followed_wait) followed;
};

/* ---- the thread of a waker ---- */

static uint32_t parse_tid(const char *from, const char *to)
{
    uint64_t tid = 0;
    if (from == to || to - from > 9)
        return TID_UNKNOWN;
    for (; from < to; from++) {
        if (*from < '0' || *from > '9')
            return TID_UNKNOWN;
        tid = 10 * tid + (uint64_t)(*from - '0');
    }
    return (uint32_t)tid;
}

/* "worker-2 (1234)" or "curl (77), in a soft interrupt" */
uint32_t parse_waker_tid(const char *waker)
{
    static const char soft[] = ", in a soft interrupt";
    size_t length = strlen(waker), soft_length = sizeof(soft) - 1;
    if (length > soft_length && strcmp(waker + length - soft_length, soft) == 0)
        length -= soft_length;
    if (!length || waker[length - 1] != ')')
        return PROFILE_NONE;
    size_t first = length - 1;
    while (first > 0 && waker[first - 1] != '(')
        first--;
    return first ? parse_tid(waker + first, waker + length - 1) : PROFILE_NONE;
}

/* Orders threads by run, by tid, and by start. */
struct thread_key {
    uint32_t side, run, tid;
    double start;
};

static struct thread_key make_thread_key(const struct walk *walk, uint32_t thread)
{
    const struct thread *row = &walk->profile->threads.data[thread];
    return (struct thread_key){row->side, row->run, walk->tids[thread], walk->gaps[thread].start};
}

static bool is_before(const struct thread_key *a, const struct thread_key *b)
{
    if (a->side != b->side)
        return a->side < b->side;
    if (a->run != b->run)
        return a->run < b->run;
    return a->tid != b->tid ? a->tid < b->tid : a->start < b->start;
}

static bool must_precede(const void *context, uint32_t a, uint32_t b)
{
    const struct thread_key key_a = make_thread_key(context, a), key_b = make_thread_key(context, b);
    return is_before(&key_b, &key_a);
}

/* Returns the last thread with this tid that started before a time; PROFILE_NONE: none. Several threads may have had
 * the tid. */
static uint32_t find_thread(const struct walk *walk, uint32_t tid, double time)
{
    struct thread_key wanted = make_thread_key(walk, walk->thread);
    size_t low = 0, high = walk->tid_count;
    wanted.tid = tid;
    wanted.start = time;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct thread_key key = make_thread_key(walk, walk->by_tid[middle]);
        if (is_before(&key, &wanted))
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return PROFILE_NONE;
    const struct thread_key found = make_thread_key(walk, walk->by_tid[low - 1]);
    bool is_same = found.side == wanted.side && found.run == wanted.run && found.tid == tid;
    return is_same ? walk->by_tid[low - 1] : PROFILE_NONE;
}

static uint32_t find_waker(struct walk *walk, uint32_t waker, double time)
{
    if (waker >= walk->profile->strings.entries.length)
        return PROFILE_NONE;
    uint32_t *tid = &walk->tid_of_string[waker];
    if (*tid == TID_NOT_PARSED)
        *tid = parse_waker_tid(profile_text(walk->profile, waker));
    return *tid == TID_UNKNOWN ? PROFILE_NONE : find_thread(walk, *tid, time);
}

/* ---- the state of a thread before a time ---- */

/* Returns the row at the end of the gap that contains the time just before `time`. */
static size_t find_row_before(const struct thread_gaps *gaps, double time)
{
    return search_count(gaps->samples->time, gaps->samples->length, *element < time);
}

static bool is_runnable(const struct walk *walk, const struct thread_gaps *gaps, size_t row)
{
    return get_wait_row_reason(&gaps->waits, row) == walk->runnable;
}

static bool is_blocked(const struct walk *walk, const struct thread_gaps *gaps, size_t row)
{
    return is_wait_or_unseen_end(&gaps->waits, row) && !is_runnable(walk, gaps, row);
}

/* Returns the last time between `since` and `time` at which a thread was awake; NAN: none. A waker may have begun to
 * wait after the wakeup, before the woken thread got a CPU. */
static double find_awake(const struct walk *walk, uint32_t thread, double since, double time)
{
    const struct thread_gaps *gaps = &walk->gaps[thread];
    double until = fmin(time, gaps->end);
    for (int i = 0; i < 2 && until > since && until > gaps->start; i++) {
        size_t row = find_row_before(gaps, until);
        if (!is_blocked(walk, gaps, row))
            return until;
        until = get_gap_start(gaps, row);
    }
    return NAN;
}

/* ---- the walk ---- */

/* Returns the innermost wait that lasts at the current end of the path. */
static struct followed_wait get_current_wait(struct walk *walk)
{
    while (walk->followed.length && walk->followed.data[walk->followed.length - 1].since >= walk->time)
        walk->followed.length--;
    return walk->followed.length ? walk->followed.data[walk->followed.length - 1]
                                 : (struct followed_wait){-INFINITY, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE};
}

/* Adds the time since `from` to the path. The work of a thread before other threads waited for the thread is a separate
 * segment. False if memory ran out. */
static bool add_segments(struct walk *walk, double from, enum path_state state, uint32_t stack, uint32_t waker)
{
    while (walk->time > from) {
        const struct followed_wait wait = get_current_wait(walk);
        double since = state == PATH_RUNS ? fmax(from, wait.since) : from;
        struct path_segment segment = {.from = fmax(since, walk->range.from),
                                       .to = fmin(walk->time, walk->range.to),
                                       .thread = walk->thread,
                                       .state = state,
                                       .stack = stack,
                                       .waker = waker,
                                       .waiter = wait.waiter,
                                       .waited_for = wait.waited_for,
                                       .wakes_in = wait.wakes_in};
        walk->time = since;
        if (segment.from < segment.to && !array_push(walk->path, segment))
            return false;
    }
    walk->time = from;
    return true;
}

/* Continues with a thread that ended `wait`, or that created the path's thread (`since` is -INFINITY, the stacks are
 * PROFILE_NONE). False if memory ran out. */
static bool enter_thread(struct walk *walk, uint32_t thread, struct followed_wait wait)
{
    walk->thread = thread;
    if (wait.waited_for != PROFILE_NONE && walk->first_waiters[thread] == PROFILE_NONE)
        walk->first_waiters[thread] = wait.waiter;
    return array_push(&walk->followed, wait);
}

static bool add_wait(struct walk *walk, const struct thread_gaps *gaps, size_t row)
{
    const struct sample_table *samples = gaps->samples;
    double since = get_gap_start(gaps, row);
    uint32_t stack = samples->stack[row];
    if (is_runnable(walk, gaps, row))
        return add_segments(walk, since, PATH_RUNNABLE, stack, PROFILE_NONE);
    uint32_t waker = samples->waker ? samples->waker[row] : PROFILE_NONE;
    uint32_t thread = find_waker(walk, waker, walk->time);
    double awake = thread == PROFILE_NONE || thread == walk->thread ? NAN : find_awake(walk, thread, since, walk->time);
    bool is_seen = is_wait_end(&gaps->waits, row);
    if (isnan(awake) && !is_seen)
        return add_segments(walk, since, PATH_UNSEEN, find_running_stack(&gaps->waits, samples, row), PROFILE_NONE);
    if (isnan(awake))
        return add_segments(walk, since, PATH_WAITS, stack, waker);
    /* the parent waits until the kernel has finished the exit, after the last record of the process */
    bool has_ended = awake >= walk->gaps[thread].end;
    if (!(has_ended ? add_segments(walk, awake, PATH_WAITS, stack, waker)
                    : add_segments(walk, awake, PATH_RUNNABLE, PROFILE_NONE, PROFILE_NONE)))
        return false;
    uint32_t wakes_in = samples->waker_stack ? samples->waker_stack[row] : PROFILE_NONE;
    return enter_thread(walk, thread, (struct followed_wait){since, walk->thread, stack, wakes_in});
}

/* Adds the time between two rows, which is CPU time and then short waits. */
static bool add_running(struct walk *walk, const struct thread_gaps *gaps, size_t row)
{
    static const double clocks_differ = 0.02; /* intervals; CPU times and times of switches have two clocks */
    double since = get_gap_start(gaps, row);
    double waited = measure_gap_in(gaps, row, whole_time).wait, end = get_gap_end(gaps, row);
    double ran_until = waited > clocks_differ * gaps->interval ? fmax(since, end - waited) : end;
    uint32_t stack = find_running_stack(&gaps->waits, gaps->samples, row);
    if (ran_until < walk->time && !add_segments(walk, ran_until, PATH_UNSEEN, stack, PROFILE_NONE))
        return false;
    return add_segments(walk, since, PATH_RUNS, stack, PROFILE_NONE);
}

/* Finds the creator of the path's thread, and the last time at which the creator was awake. Candidates are the same tid
 * before exec, the thread that waits for the path's thread, and the main thread of the process. Returns false if no
 * candidate fits. */
static bool find_creator(const struct walk *walk, uint32_t *creator, double *awake)
{
    static const double latest_start = 10; /* ms; the creator may wait before the created thread has run */
    const struct thread *threads = walk->profile->threads.data, *created = &threads[walk->thread];
    uint32_t tid = walk->tids[walk->thread], main = walk->mains[walk->thread];
    const uint32_t candidates[] = {tid == TID_UNKNOWN ? PROFILE_NONE : find_thread(walk, tid, walk->time),
                                   walk->first_waiters[walk->thread],
                                   threads[main].pid == created->pid ? main : PROFILE_NONE};
    for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates); i++) {
        *creator = candidates[i];
        if (*creator == PROFILE_NONE || *creator == walk->thread)
            continue;
        *awake = find_awake(walk, *creator, walk->time - latest_start, walk->time);
        if (!isnan(*awake))
            return true;
    }
    return false;
}

static bool take_step(struct walk *walk)
{
    const struct thread_gaps *gaps = &walk->gaps[walk->thread];
    if (walk->time > gaps->end)
        return add_segments(walk, fmax(gaps->end, walk->range.from), PATH_ABSENT, PROFILE_NONE, PROFILE_NONE);
    if (!(walk->time > gaps->start)) {
        uint32_t creator;
        double awake;
        if (!find_creator(walk, &creator, &awake))
            return add_segments(walk, walk->range.from, PATH_ABSENT, PROFILE_NONE, PROFILE_NONE);
        if (awake < walk->time && !add_segments(walk, awake, PATH_RUNNABLE, PROFILE_NONE, PROFILE_NONE))
            return false;
        return enter_thread(walk, creator, (struct followed_wait){-INFINITY, walk->thread, PROFILE_NONE, PROFILE_NONE});
    }
    size_t row = find_row_before(gaps, walk->time);
    return is_wait_or_unseen_end(&gaps->waits, row) ? add_wait(walk, gaps, row) : add_running(walk, gaps, row);
}

/* ---- begin and end ---- */

static bool read_threads(struct walk *walk)
{
    const struct profile *profile = walk->profile;
    size_t count = profile->threads.length, strings = profile->strings.entries.length;
    walk->gaps = calloc(count + 1, sizeof(*walk->gaps));
    walk->tids = calloc(count + 1, sizeof(*walk->tids));
    walk->mains = calloc(count + 1, sizeof(*walk->mains));
    walk->by_tid = calloc(count + 1, sizeof(*walk->by_tid));
    walk->first_waiters = malloc((count + 1) * sizeof(*walk->first_waiters));
    walk->tid_of_string = malloc((strings + 1) * sizeof(*walk->tid_of_string));
    if (!walk->gaps || !walk->tids || !walk->mains || !walk->by_tid || !walk->first_waiters || !walk->tid_of_string)
        return false;
    for (size_t i = 0; i < strings; i++)
        walk->tid_of_string[i] = TID_NOT_PARSED;
    for (uint32_t i = 0; i < count; i++) {
        const char *tid = profile_text(profile, profile->threads.data[i].tid);
        walk->gaps[i] = find_sample_gaps(profile, i);
        walk->first_waiters[i] = PROFILE_NONE;
        walk->mains[i] = i == 0 || profile->threads.data[i].is_main ? i : walk->mains[i - 1];
        walk->tids[i] = parse_tid(tid, tid + strlen(tid));
        if (walk->tids[i] != TID_UNKNOWN)
            walk->by_tid[walk->tid_count++] = i;
    }
    return true;
}

/* Reverses the segments starting at `first`. */
static void reverse_segments(struct critical_path *path, size_t first)
{
    for (size_t i = first, last = path->length; i + 1 < last; i++, last--) {
        struct path_segment swap = path->data[i];
        path->data[i] = path->data[last - 1];
        path->data[last - 1] = swap;
    }
}

/* Returns the time at which the path starts. A wait that contains the end of the range ends after the range, and the
 * path starts at the end of this wait. */
static double find_wait_end(const struct walk *walk)
{
    const struct thread_gaps *gaps = &walk->gaps[walk->thread];
    double end = walk->range.to;
    size_t row = find_row_before(gaps, end);
    return end > gaps->start && end <= gaps->end && is_blocked(walk, gaps, row) ? gaps->samples->time[row] : end;
}

/* Appends the path of a range of a thread. */
static int walk_range(struct walk *walk, const struct path_range *range, struct error *err)
{
    size_t first = walk->path->length;
    if (range->thread >= walk->profile->threads.length || !isfinite(range->time.from) || !isfinite(range->time.to) ||
        !(range->time.from < range->time.to))
        return 0;
    walk->range = range->time;
    walk->thread = range->thread;
    walk->followed.length = 0;
    memset(walk->first_waiters, 0xff, walk->profile->threads.length * sizeof(*walk->first_waiters));
    walk->time = find_wait_end(walk);
    while (walk->time > range->time.from)
        if (!take_step(walk))
            return error_no_memory(err);
    reverse_segments(walk->path, first);
    return 0;
}

int critical_paths_find(struct critical_path *path, const struct profile *profile, const struct path_range *ranges,
                        size_t count, struct error *err)
{
    struct walk walk = {.profile = profile, .path = path, .runnable = find_runnable_reason(profile)};
    path->length = 0;
    int code = read_threads(&walk) ? 0 : error_no_memory(err);
    if (!code)
        code = order_sort_numbers(walk.by_tid, walk.tid_count, must_precede, &walk, err);
    for (size_t i = 0; !code && i < count; i++)
        code = walk_range(&walk, &ranges[i], err);
    free(walk.gaps);
    free(walk.tids);
    free(walk.mains);
    free(walk.by_tid);
    free(walk.first_waiters);
    free(walk.tid_of_string);
    array_free(&walk.followed);
    return code;
}

int critical_path_find(struct critical_path *path, const struct profile *profile, uint32_t thread,
                       struct time_range range, struct error *err)
{
    return critical_paths_find(path, profile, &(struct path_range){thread, range}, 1, err);
}
