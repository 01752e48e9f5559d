#include "tree/thread_states.h"

#include "base/array.h"
#include "base/search.h"

/* The number of events between two stored prefix sums. A reading of a sum passes at most this number of events. */
enum { STATE_STEP = 8 };

/* Limit of the events in memory, of all threads. An event takes about 30 bytes. Above the limit, a request frees the
 * events of other threads.
 */
enum { MOST_STATE_EVENTS = 8 << 20 };

ARRAY_TYPE(struct state_events, struct state_event);

struct states_maker {
    const struct profile *profile;
    struct thread_gaps gaps;
    uint32_t *index_of_state; /* UINT32_MAX: has not occurred */
    struct thread_states *states;
    struct state_events events;        /* in the order of time */
    struct state_events unseen_starts; /* in the order of the ends */
    double cpu_before;                 /* ms: CPU time of gaps without length */
    bool enough;
};

uint32_t count_thread_states(const struct profile *profile)
{
    uint32_t idle = find_idle_category(profile);
    size_t reasons = idle == PROFILE_NONE ? 0 : profile->categories.data[idle].subcategories.length;
    return STATE_REASONS + (uint32_t)reasons + 1;
}

static uint32_t get_row_state(const struct states_maker *maker, size_t i)
{
    uint32_t state = STATE_REASONS + get_wait_row_reason(&maker->gaps.waits, i);
    uint32_t unknown = count_thread_states(maker->profile) - 1;
    return state >= STATE_REASONS && state < unknown ? state : unknown;
}

static uint32_t find_state_index(struct states_maker *maker, uint32_t state)
{
    uint32_t *index = &maker->index_of_state[state];
    if (*index == UINT32_MAX) {
        *index = maker->states->count;
        maker->states->state[maker->states->count++] = state;
    }
    return *index;
}

static void add_event(struct states_maker *maker, struct state_event event)
{
    struct state_events *events = &maker->events;
    const struct state_event *last = events->length ? &events->data[events->length - 1] : NULL;
    if (last && last->time == event.time && last->state == event.state && last->change == -event.change)
        events->length--;
    else if (!array_push(events, event))
        maker->enough = false;
}

static void add_rate(struct states_maker *maker, uint32_t state, double time, double change)
{
    if (change != 0)
        add_event(maker, (struct state_event){time, (float)change, find_state_index(maker, state)});
}

static void add_rates(struct states_maker *maker, double from, double to, const uint32_t states[2],
                      const double rates[2])
{
    for (int i = 0; i < 2; i++)
        add_rate(maker, states[i], from, rates[i]);
    for (int i = 0; i < 2; i++)
        add_rate(maker, states[i], to, -rates[i]);
}

static void add_piece(struct states_maker *maker, uint32_t state, double from, double to)
{
    if (!(to > from))
        return;
    add_rate(maker, state, from, 1);
    add_rate(maker, state, to, -1);
}

/* A wait has no time while recording is paused. */
static void add_wait(struct states_maker *maker, uint32_t state, double from, double to)
{
    const struct thread_gaps *gaps = &maker->gaps;
    for (size_t i = 0; i < gaps->paused_count && gaps->paused[i].start < to; i++) {
        if (gaps->paused[i].end <= from)
            continue;
        add_piece(maker, state, from, gaps->paused[i].start);
        from = gaps->paused[i].end;
    }
    add_piece(maker, state, from, to);
}

/* Adds the unseen waits for which the wait that ends at row `i` stands: see measure_wait_in(). */
static void add_unseen(struct states_maker *maker, uint32_t state, size_t i)
{
    const struct thread_gaps *gaps = &maker->gaps;
    double start = gaps->samples->time[i - 1], end = gaps->samples->time[i];
    double unseen = measure_wait_in(gaps, i, whole_time).unseen;
    double from = fmax(end - fmin(unseen, wait_weight_spread), fmin(gaps->start, start));
    if (!(unseen > 0) || !(end > from))
        return;
    struct state_event event = {from, (float)(unseen / (end - from)), find_state_index(maker, state)};
    if (!array_push(&maker->unseen_starts, event))
        maker->enough = false;
    event.time = end;
    event.change = -event.change;
    add_event(maker, event);
}

static void add_gap(struct states_maker *maker, size_t i, bool has_waits)
{
    const struct thread_gaps *gaps = &maker->gaps;
    double from = get_gap_start(gaps, i), to = get_gap_end(gaps, i);
    if (is_wait_end(&gaps->waits, i)) {
        uint32_t state = get_row_state(maker, i);
        add_wait(maker, state, from, to);
        add_unseen(maker, state, i);
        return;
    }
    const struct gap_time time = measure_gap_in(gaps, i, whole_time);
    maker->cpu_before += time.cpu;
    if (!(to > from))
        return;
    uint32_t not_running = count_thread_states(maker->profile) - 1, running = STATE_RUNNING;
    add_rates(maker, from, to, (const uint32_t[]){running, not_running},
              (const double[]){maker->cpu_before / (to - from), has_waits ? 0 : time.wait / (to - from)});
    maker->cpu_before = 0;
}

DEFINE_COMPARE(compare_times, struct state_event, ORDER(a->time, b->time))

/* Merges the events with the starts of unseen waits. */
static bool merge_events(struct states_maker *maker)
{
    const struct state_events *events = &maker->events, *starts = &maker->unseen_starts;
    struct thread_states *states = maker->states;
    size_t at = 0, start = 0, count = events->length + starts->length;
    states->events = calloc(count + 1, sizeof(*states->events));
    if (!states->events)
        return false;
    array_sort(starts, compare_times);
    states->event_count = count;
    for (size_t i = 0; i < count; i++) {
        bool is_start =
            at == events->length || (start < starts->length && starts->data[start].time < events->data[at].time);
        states->events[i] = is_start ? starts->data[start++] : events->data[at++];
    }
    return true;
}

static void load_sums(struct state_cursor *cursor, size_t step)
{
    const struct thread_states *states = cursor->states;
    size_t size = states->count * sizeof(double), event = step * STATE_STEP;
    memcpy(cursor->sum, states->sums + step * states->count, size);
    memcpy(cursor->rate, states->rates + step * states->count, size);
    for (uint32_t i = 0; i < states->count; i++)
        cursor->since[i] = states->events[event].time;
    cursor->event = event;
}

static inline void pass_event(struct state_cursor *cursor)
{
    const struct state_event *event = &cursor->states->events[cursor->event++];
    uint32_t i = event->state;
    cursor->sum[i] += cursor->rate[i] * (event->time - cursor->since[i]);
    cursor->rate[i] += (double)event->change;
    cursor->since[i] = event->time;
}

static int sum_events(struct thread_states *states, struct error *err)
{
    size_t steps = states->event_count / STATE_STEP + 1;
    states->sums = calloc(steps * states->count + 1, sizeof(*states->sums));
    states->rates = calloc(steps * states->count + 1, sizeof(*states->rates));
    if (!states->sums || !states->rates)
        return error_no_memory(err);
    struct state_cursor cursor;
    int code = state_cursor_init(&cursor, states, err);
    while (!code && cursor.event < states->event_count) {
        if (cursor.event % STATE_STEP == 0) {
            size_t at = cursor.event / STATE_STEP * states->count;
            double time = states->events[cursor.event].time;
            for (uint32_t i = 0; i < states->count; i++) {
                states->sums[at + i] = cursor.sum[i] + cursor.rate[i] * (time - cursor.since[i]);
                states->rates[at + i] = cursor.rate[i];
            }
        }
        pass_event(&cursor);
    }
    state_cursor_destroy(&cursor);
    return code;
}

static void thread_states_destroy(struct thread_states *states)
{
    free(states->state);
    free(states->events);
    free(states->sums);
    free(states->rates);
    *states = (struct thread_states){0};
}

static int thread_states_make(struct thread_states *states, const struct profile *profile, uint32_t thread,
                              struct error *err)
{
    uint32_t state_count = count_thread_states(profile);
    struct states_maker maker = {
        .profile = profile, .gaps = find_sample_gaps(profile, thread), .states = states, .enough = true};
    *states = (struct thread_states){.there = {maker.gaps.start, maker.gaps.end},
                                     .paused = maker.gaps.paused,
                                     .paused_count = maker.gaps.paused_count};
    states->state = malloc(state_count * sizeof(*states->state));
    maker.index_of_state = malloc(state_count * sizeof(*maker.index_of_state));
    maker.enough = states->state && maker.index_of_state;
    if (maker.enough)
        memset(maker.index_of_state, 0xff, state_count * sizeof(*maker.index_of_state));
    struct row_cursor wait_end = {0};
    bool has_waits = row_cursor_find(&wait_end, &maker.gaps.waits, ROW_WAIT_END, 0) != SIZE_MAX;
    for (size_t i = 0; maker.enough && i <= maker.gaps.samples->length; i++)
        add_gap(&maker, i, has_waits);
    maker.enough = maker.enough && merge_events(&maker);
    free(maker.index_of_state);
    array_free(&maker.events);
    array_free(&maker.unseen_starts);
    int code = maker.enough ? sum_events(states, err) : error_no_memory(err);
    if (code)
        thread_states_destroy(states);
    return code;
}

int state_cursor_init(struct state_cursor *cursor, const struct thread_states *states, struct error *err)
{
    *cursor = (struct state_cursor){.states = states};
    cursor->sum = calloc(4 * (size_t)states->count + 1, sizeof(*cursor->sum));
    if (!cursor->sum)
        return error_no_memory(err);
    cursor->rate = cursor->sum + states->count;
    cursor->since = cursor->rate + states->count;
    cursor->read = cursor->since + states->count;
    for (uint32_t i = 0; i < states->count; i++)
        cursor->since[i] = states->events[0].time;
    return 0;
}

void state_cursor_read(struct state_cursor *cursor, double time)
{
    const struct thread_states *states = cursor->states;
    const struct state_event *events = states->events;
    size_t at = cursor->event / STATE_STEP, end = (states->event_count + STATE_STEP - 1) / STATE_STEP;
    size_t low = at, high = at + 1;
    while (high < end && events[high * STATE_STEP].time <= time) {
        low = high;
        high += high - at;
    }
    for (high = high < end ? high : end; low + 1 < high;) {
        size_t middle = low + (high - low) / 2;
        if (events[middle * STATE_STEP].time <= time)
            low = middle;
        else
            high = middle;
    }
    if (low > at)
        load_sums(cursor, low);
    while (cursor->event < states->event_count && events[cursor->event].time <= time)
        pass_event(cursor);
    for (uint32_t i = 0; i < states->count; i++)
        cursor->read[i] = cursor->sum[i] + cursor->rate[i] * fmax(0, time - cursor->since[i]);
}

void state_cursor_destroy(struct state_cursor *cursor)
{
    free(cursor->sum);
}

double measure_lifetime_between(const struct thread_states *states, double from, double to)
{
    double start = fmax(from, states->there.from), end = fmin(to, states->there.to);
    double there = fmax(0, end - start);
    for (size_t i = 0; there > 0 && i < states->paused_count && states->paused[i].start < end; i++)
        there -= fmax(0, fmin(end, states->paused[i].end) - fmax(start, states->paused[i].start));
    return fmax(0, there);
}

static void forget_thread(struct state_cache *cache, size_t thread)
{
    struct thread_states *states = cache->of_thread[thread];
    if (!states)
        return;
    cache->event_count -= states->event_count;
    thread_states_destroy(states);
    free(states);
    cache->of_thread[thread] = NULL;
}

static int add_to_cache(struct state_cache *cache, const struct profile *profile, uint32_t thread, struct error *err)
{
    for (size_t i = 0; cache->event_count > MOST_STATE_EVENTS && i < profile->threads.length; i++)
        if (cache->of_thread[i] && cache->of_thread[i]->last_use != cache->request)
            forget_thread(cache, i);
    struct thread_states *states = calloc(1, sizeof(*states));
    int code = states ? thread_states_make(states, profile, thread, err) : error_no_memory(err);
    if (code) {
        free(states);
        return code;
    }
    cache->of_thread[thread] = states;
    cache->event_count += states->event_count;
    return 0;
}

int state_cache_find(struct state_cache *cache, const struct profile *profile, uint32_t thread,
                     const struct thread_states **states, struct error *err)
{
    *states = NULL;
    if (thread >= profile->threads.length)
        return 0;
    const struct wait_rows waits = get_wait_rows(profile, thread);
    if (!has_wait_rows(&waits))
        return 0;
    if (!cache->of_thread)
        cache->of_thread = calloc(profile->threads.length, sizeof(struct thread_states *));
    if (!cache->of_thread)
        return error_no_memory(err);
    int code = cache->of_thread[thread] ? 0 : add_to_cache(cache, profile, thread, err);
    if (code)
        return code;
    cache->of_thread[thread]->last_use = cache->request;
    *states = cache->of_thread[thread];
    return 0;
}

void state_cache_destroy(struct state_cache *cache, size_t thread_count)
{
    for (size_t i = 0; cache->of_thread && i < thread_count; i++)
        forget_thread(cache, i);
    free(cache->of_thread);
    *cache = (struct state_cache){0};
}
