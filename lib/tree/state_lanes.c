#include "tree/state_lanes.h"

#include "tree/engine_state.h"

/* ---- lanes ---- */

/* Lanes of many threads take steps of several pixels, which the sum hides: 200 threads would take 150 ms. */
enum { THREADS_PER_STEP = 32 };

struct lane_maker {
    struct state_lanes *lanes;
    const struct state_lanes_query *query;
    uint32_t lane;
    size_t first_row; /* of the lane */
    uint32_t step;    /* pixels that have the same shares of a thread */
};

/* Returns the row of a state in the lane; SIZE_MAX if memory ran out. */
static size_t find_row(struct lane_maker *maker, uint32_t state)
{
    struct state_lanes *lanes = maker->lanes;
    size_t row = maker->first_row, width = maker->query->width;
    while (row < lanes->rows.length && lanes->rows.data[row].state != state)
        row++;
    if (row < lanes->rows.length)
        return row;
    if (!array_push(&lanes->rows, (struct state_row){maker->lane, state}) || !array_reserve(&lanes->shares, width))
        return SIZE_MAX;
    memset(lanes->shares.data + lanes->shares.length, 0, width * sizeof(float));
    lanes->shares.length += width;
    return row;
}

static bool add_lifetime(struct lane_maker *maker, const struct thread_states *states)
{
    const struct state_lanes_query *query = maker->query;
    double pixel = (query->range.to - query->range.from) / query->width;
    size_t row = find_row(maker, STATE_THERE);
    if (row == SIZE_MAX)
        return false;
    float *shares = maker->lanes->shares.data + row * query->width;
    for (uint32_t x = 0; x < query->width; x++) {
        double from = query->range.from + x * pixel;
        shares[x] += (float)(measure_lifetime_between(states, from, from + pixel) / pixel);
    }
    return true;
}

/* Adds the shares of a thread. False if memory ran out. */
static bool add_states(struct lane_maker *maker, const struct thread_states *states, struct state_cursor *cursor,
                       double *before, size_t *rows)
{
    const struct state_lanes_query *query = maker->query;
    double pixel = (query->range.to - query->range.from) / query->width;
    state_cursor_read(cursor, query->range.from);
    memcpy(before, cursor->read, states->count * sizeof(*before));
    for (uint32_t i = 0; i < states->count; i++)
        rows[i] = SIZE_MAX;
    for (uint32_t x = 0, end; x < query->width; x = end) {
        end = x + maker->step < query->width ? x + maker->step : query->width;
        state_cursor_read(cursor, query->range.from + end * pixel);
        for (uint32_t i = 0; i < states->count; i++) {
            if (!(cursor->read[i] > before[i]))
                continue;
            if (rows[i] == SIZE_MAX && (rows[i] = find_row(maker, states->state[i])) == SIZE_MAX)
                return false;
            float share = (float)((cursor->read[i] - before[i]) / ((end - x) * pixel));
            for (uint32_t at = x; at < end; at++)
                maker->lanes->shares.data[rows[i] * query->width + at] += share;
            before[i] = cursor->read[i];
        }
    }
    return true;
}

static int add_thread(struct lane_maker *maker, const struct thread_states *states, struct error *err)
{
    struct state_cursor cursor;
    int code = state_cursor_init(&cursor, states, err);
    double *before = malloc((states->count + 1) * sizeof(*before));
    size_t *rows = malloc((states->count + 1) * sizeof(*rows));
    bool enough =
        !code && before && rows && add_lifetime(maker, states) && add_states(maker, states, &cursor, before, rows);
    free(before);
    free(rows);
    state_cursor_destroy(&cursor);
    return code ? code : enough ? 0 : error_no_memory(err);
}

/* Moves waits to earlier pixels if a pixel has more waits than lifetime. The unseen waits that a reading represents may
 * have happened at any time since the previous reading, but thread_states.h places them in one interval as long as
 * their sum. */
static int move_excess_waits(const struct lane_maker *maker, struct error *err)
{
    const struct state_row *rows = maker->lanes->rows.data + maker->first_row;
    size_t width = maker->query->width, count = maker->lanes->rows.length - maker->first_row;
    float *first = maker->lanes->shares.data + maker->first_row * width;
    double *moved = calloc(count + 1, sizeof(*moved));
    if (!moved)
        return error_no_memory(err);
    for (size_t x = width; count > 0 && x-- > 0;) {
        double room = 0, waits = 0, all_moved = 0;
        for (size_t i = 0; i < count; i++) {
            bool is_wait = rows[i].state != STATE_THERE && rows[i].state != STATE_RUNNING;
            room += rows[i].state == STATE_THERE ? first[i * width + x] : is_wait ? 0 : -first[i * width + x];
            waits += is_wait ? first[i * width + x] : 0;
            all_moved += moved[i];
        }
        room = fmax(0, room);
        double factor = waits > room ? room / waits : 1;
        double part = waits < room && all_moved > 0 ? fmin(1, (room - waits) / all_moved) : 0;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].state == STATE_THERE || rows[i].state == STATE_RUNNING)
                continue;
            float *share = &first[i * width + x];
            double back = moved[i] * part; /* `factor` is 1, or `part` is 0 */
            moved[i] += *share * (1 - factor) - back;
            *share = (float)(*share * factor + back);
        }
    }
    free(moved);
    return 0;
}

int engine_compute_state_lanes(struct engine *engine, const struct state_lanes_query *query, struct state_lanes *lanes,
                               struct error *err)
{
    int code = 0;
    engine->base->states.request++;
    lanes->rows.length = lanes->shares.length = 0;
    if (!(query->range.to > query->range.from) || query->width == 0)
        return 0;
    for (size_t lane = 0, at = 0; !code && lane < query->lane_count; lane++) {
        uint32_t step = 1 + (uint32_t)(query->ends[lane] - at) / THREADS_PER_STEP;
        struct lane_maker maker = {lanes, query, (uint32_t)lane, lanes->rows.length, step};
        for (; !code && at < query->ends[lane]; at++) {
            const struct thread_states *states;
            code =
                state_cache_find(&engine->base->states, engine_get_profile(engine), query->threads[at], &states, err);
            if (!code && states)
                code = add_thread(&maker, states, err);
        }
        if (!code)
            code = move_excess_waits(&maker, err);
    }
    return code;
}

void state_lanes_destroy(struct state_lanes *lanes)
{
    array_free(&lanes->rows);
    array_free(&lanes->shares);
}

/* ---- sums, and single waits ---- */

static int add_sums(const struct thread_states *states, struct time_range range, double *sums, struct error *err)
{
    struct state_cursor cursor;
    int code = state_cursor_init(&cursor, states, err);
    if (code)
        return code;
    const double ends[] = {range.from, range.to};
    for (int end = 0; end < 2; end++) {
        double first = states->event_count ? states->events[0].time : 0;
        double last = states->event_count ? states->events[states->event_count - 1].time : 0;
        state_cursor_read(&cursor, fmin(fmax(ends[end], first), last));
        for (uint32_t i = 0; i < states->count; i++)
            sums[states->state[i]] += end ? cursor.read[i] : -cursor.read[i];
    }
    state_cursor_destroy(&cursor);
    return 0;
}

int engine_sum_states(struct engine *engine, const uint32_t *threads, size_t count, struct time_range range,
                      double *sums, struct error *err)
{
    int code = 0;
    engine->base->states.request++;
    memset(sums, 0, count_thread_states(&engine->base->profile) * sizeof(*sums));
    for (size_t i = 0; !code && i < count; i++) {
        const struct thread_states *states;
        code = state_cache_find(&engine->base->states, engine_get_profile(engine), threads[i], &states, err);
        if (!code && states)
            code = add_sums(states, range, sums, err);
    }
    return code;
}

double engine_find_longest_wait(const struct engine *engine, uint32_t thread, uint32_t state, struct time_range range)
{
    const struct profile *profile = &engine->base->profile;
    double longest = 0, found = NAN;
    if (thread >= profile->threads.length)
        return NAN;
    const struct thread_gaps gaps = find_sample_gaps(profile, thread);
    size_t first, last;
    find_samples_in_range(gaps.samples, (struct time_range){range.from, range.to + wait_weight_spread}, &first, &last);
    for (size_t i = first; i <= last; i++) {
        if (!is_wait_end(&gaps.waits, i) || STATE_REASONS + get_wait_row_reason(&gaps.waits, i) != state)
            continue;
        const struct wait_weight weight = measure_wait_in(&gaps, i, range);
        if (weight.own + weight.unseen <= longest)
            continue;
        longest = weight.own + weight.unseen;
        found = (fmax(gaps.samples->time[i - 1], range.from) + fmin(gaps.samples->time[i], range.to)) / 2;
        if (!(weight.own > 0))
            found = (gaps.samples->time[i - 1] + gaps.samples->time[i]) / 2;
    }
    return found;
}
