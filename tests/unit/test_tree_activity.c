/*
 * The timeline against its definition: the overlap of every half sample with every pixel, added up one by one.
 */
#include "slow_tree_check.h"

enum { PROFILES = 1500, WIDTH = 40, CATEGORIES = 4, MOST_SAMPLES = 128 };

static double slow_percent(const struct sample_table *samples, size_t i, double interval)
{
    if (!samples->cpu_delta)
        return 100;
    if (i == samples->length || (i == 0 && isnan(samples->cpu_delta[i])))
        return 0;
    double elapsed = i == 0 ? interval : samples->time[i] - samples->time[i - 1];
    if (isnan(samples->cpu_delta[i]) || elapsed == 0)
        return 100;
    return fmin(100, round(100 * samples->cpu_delta[i] / (1000 * elapsed)));
}

/* The ends of the span that a sample stands for, and its time between them. */
static void slow_span(const struct sample_table *samples, size_t i, double interval, double *start, double *end)
{
    double before = i == 0 ? samples->time[0] - interval : samples->time[i - 1];
    double after = i + 1 == samples->length ? samples->time[i] + interval : samples->time[i + 1];
    *start = (before + samples->time[i]) / 2;
    *end = (samples->time[i] + after) / 2;
}

static double overlap(double a_from, double a_to, double b_from, double b_to)
{
    return fmax(0, fmin(a_to, b_to) - fmax(a_from, b_from));
}

static void slow_blur(double *row, int radius)
{
    double out[WIDTH];
    for (int x = 0; x < WIDTH; x++) {
        out[x] = 0;
        for (int at = x - radius; at <= x + radius; at++)
            out[x] += at >= 0 && at < WIDTH ? row[at] : 0;
        out[x] /= 2 * radius + 1;
    }
    memcpy(row, out, sizeof(out));
}

static void slow_activity(double rows[CATEGORIES][WIDTH], const struct engine *engine,
                          const struct sample_table *samples, const bool *counts, double from, double to)
{
    double pixel = (to - from) / WIDTH, interval = engine_profile(engine)->meta.interval;
    memset(rows, 0, CATEGORIES * sizeof(rows[0]));
    for (size_t i = 0; i < samples->length; i++) {
        double start, end;
        slow_span(samples, i, interval, &start, &end);
        uint32_t stack = samples->stack[i];
        if (!counts[i])
            continue;
        uint32_t category =
            stack == PROFILE_NONE ? engine_stacks(engine)->default_category : engine_stacks(engine)->category[stack];
        for (int x = 0; x < WIDTH; x++) {
            double left = from + x * pixel, right = left + pixel;
            rows[category][x] +=
                overlap(start, samples->time[i], left, right) / pixel * slow_percent(samples, i, interval) / 100;
            rows[category][x] +=
                overlap(samples->time[i], end, left, right) / pixel * slow_percent(samples, i + 1, interval) / 100;
        }
    }
    for (int category = 0; category < CATEGORIES; category++) {
        slow_blur(rows[category], 3);
        slow_blur(rows[category], 2);
        slow_blur(rows[category], 2);
    }
}

static struct engine *engine_of(uint64_t seed)
{
    struct profile profile;
    struct error err;
    random_profile(&profile, seed);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    return engine;
}

/* The busiest sample whose mark covers the pixel. */
static int slow_strip(const struct sample_table *samples, const bool *counts, double from, double to, double interval,
                      int x)
{
    double pixels_per_ms = WIDTH / (to - from);
    int mark = interval * pixels_per_ms / 2 < 1   ? 1
               : interval * pixels_per_ms / 2 > 8 ? 8
                                                  : (int)(interval * pixels_per_ms / 2);
    int found = STRIP_EMPTY;
    for (size_t i = 0; i < samples->length; i++) {
        double at = (samples->time[i] - from) * pixels_per_ms;
        bool covers = counts[i] && at >= 0 && (int)at <= x && x < (int)at + mark;
        bool is_idle = samples->stack[i] == PROFILE_NONE || (samples->cpu_delta && samples->cpu_delta[i] == 0);
        if (covers && found < (is_idle ? STRIP_IDLE : STRIP_SAMPLE))
            found = is_idle ? STRIP_IDLE : STRIP_SAMPLE;
    }
    return found;
}

static void check_activity(const struct engine *engine, const struct activity *activity, uint32_t thread,
                           const bool *counts, double from, double to)
{
    double rows[CATEGORIES][WIDTH], interval = engine_profile(engine)->meta.interval;
    const struct sample_table *samples = &engine_profile(engine)->threads.data[thread].samples;
    slow_activity(rows, engine, samples, counts, from, to);
    for (uint32_t row = 0; row < activity->row_count; row++)
        for (int x = 0; x < WIDTH; x++) {
            double *slow = &rows[activity->categories[row]][x];
            assert_true(fabs(activity->shares[row * WIDTH + x] - *slow) < 1e-4);
            *slow = 0;
        }
    for (int category = 0; category < CATEGORIES; category++) /* nothing is missing */
        for (int x = 0; x < WIDTH; x++)
            assert_true(rows[category][x] < 1e-4);
    for (int x = 0; x < WIDTH; x++)
        assert_int_equal(activity->strip[x], slow_strip(samples, counts, from, to, interval, x));
}

static void check_activity_of_all(struct engine *engine, uint32_t thread, double from, double to)
{
    struct activity activity;
    struct error err;
    bool counts[MOST_SAMPLES];
    memset(counts, true, sizeof(counts));
    assert_int_equal(engine_activity(engine, &thread, 1, from, to, WIDTH, "", 0, NULL, &activity, &err), 0);
    check_activity(engine, &activity, thread, counts, from, to);
    activity_destroy(&activity);
}

static void test_each_pixel_has_the_cpu_share_of_the_samples_that_cover_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct engine *engine = engine_of(seed);
        struct time_range full = engine_full_range(engine);
        struct random random = {seed};
        for (uint32_t thread = 0; thread < engine_profile(engine)->threads.length; thread++) {
            check_activity_of_all(engine, thread, full.from, full.to);
            double from = full.from + random_below(&random, 20) * 0.3;
            check_activity_of_all(engine, thread, from, from + 0.1 + random_below(&random, 50) * 0.4);
        }
        engine_free(engine);
    }
}

static bool has_path(const struct slow_stack *stack, const struct tree_path *path)
{
    for (size_t i = 0; i < path->length; i++)
        if (i >= stack->depth || stack->frames[path->inverted ? stack->depth - 1 - i : i].func != path->funcs[i])
            return false;
    return true;
}

static bool slow_counts_in(const struct engine *engine, const struct slow_query *query, const struct tree_path *path,
                           uint32_t stack)
{
    struct slow_stack frames = {.depth = 0};
    bool is_all = !query->search[0] && !path && engine_nodes(engine)->of_sample == engine_nodes(engine)->of_stack;
    if (stack != PROFILE_NONE)
        slow_stack_make(&frames, query, stack);
    return is_all || (frames.depth && slow_matches(query, &frames) && (!path || has_path(&frames, path)));
}

static void check_activity_of_query(struct engine *engine, const struct slow_query *query, const struct tree_path *path)
{
    struct time_range full = engine_full_range(engine);
    for (uint32_t thread = 0; thread < query->profile->threads.length; thread++) {
        const struct sample_table *samples = &query->profile->threads.data[thread].samples;
        bool counts[MOST_SAMPLES];
        struct activity activity;
        struct error err;
        for (size_t i = 0; i < samples->length; i++)
            counts[i] = slow_counts_in(engine, query, path, samples->stack[i]);
        assert_int_equal(engine_activity(engine, &thread, 1, full.from, full.to, WIDTH, query->search,
                                         strlen(query->search), path, &activity, &err),
                         0);
        check_activity(engine, &activity, thread, counts, full.from, full.to);
        activity_destroy(&activity);
    }
}

static void test_what_a_query_and_a_chosen_row_leave_is_that_of_their_samples(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct random random = {seed};
        struct slow_query query;
        slow_random_query(&query, &reference, &random);
        ask(engine, &query, false);
        check_activity_of_query(engine, &query, NULL);
        for (int inverted = 0; inverted < 2; inverted++) {
            uint32_t funcs[MAX_DEPTH];
            struct tree_path path = {funcs, slow_random_path(&query, &random, inverted, funcs), inverted};
            ask(engine, &query, inverted);
            if (path.length)
                check_activity_of_query(engine, &query, &path);
        }
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static double weight_of_matching(const struct engine *engine, const uint8_t *matching)
{
    double sum = 0;
    const struct profile *profile = engine_profile(engine);
    for (size_t thread = 0; thread < profile->threads.length; thread++) {
        const struct sample_table *samples = &profile->threads.data[thread].samples;
        for (size_t i = 0; i < samples->length; i++) {
            uint32_t stack = samples->stack[i];
            uint32_t node = stack == PROFILE_NONE ? NODE_NONE : engine_nodes(engine)->of_stack[stack];
            if (node != NODE_NONE && matching[node])
                sum += samples->weight ? samples->weight[i] : 1;
        }
    }
    return sum;
}

static void test_the_nodes_of_a_path_have_the_samples_of_its_row(void **state)
{
    (void)state;
    size_t checked = 0;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct engine *engine = engine_of(seed);
        struct tree_rows rows = {0};
        struct node_path funcs = {0};
        struct matching_path cached = {0};
        struct error err;
        uint32_t threads[64];
        size_t thread_count = engine_profile(engine)->threads.length;
        assert_true(thread_count <= 64);
        for (uint32_t i = 0; i < thread_count; i++)
            threads[i] = i;
        struct tree_query query = {.threads = threads,
                                   .thread_count = thread_count,
                                   .range = {-INFINITY, INFINITY},
                                   .search = "",
                                   .inverted = seed % 2 == 1};
        assert_int_equal(engine_query(engine, &query, &err), 0);
        assert_int_equal(engine_descendants(engine, NODE_NONE, 100, &rows, &err), 0);
        for (size_t i = 0; i < rows.length; i++, checked++) {
            assert_int_equal(engine_path(engine, rows.node[i], &funcs, &err), 0);
            struct tree_path path = {funcs.data, funcs.length, query.inverted};
            assert_int_equal(matching_path_update(&cached, engine_nodes(engine), &path, &err), 0);
            assert_true(fabs(weight_of_matching(engine, cached.matching) - rows.total[i]) < 1e-6);
        }
        matching_path_destroy(&cached);
        array_free(&funcs);
        tree_rows_destroy(&rows);
        engine_free(engine);
    }
    assert_true(checked > PROFILES);
}

static void test_a_place_shows_the_sample_whose_span_it_lies_in(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct engine *engine = engine_of(seed);
        const struct sample_table *samples = &engine_profile(engine)->threads.data[0].samples;
        for (double time = -2; time < 130; time += 0.37) {
            double percent;
            size_t sample = sample_at(samples, 1, time, &percent), slow = SIZE_MAX;
            for (size_t i = 0; i < samples->length; i++) {
                double start, end;
                slow_span(samples, i, 1, &start, &end);
                if (time >= start && time < end)
                    slow = i;
            }
            assert_true(sample == slow);
            if (sample == SIZE_MAX)
                continue;
            bool before = time < samples->time[sample] || sample + 1 == samples->length;
            if (samples->cpu_delta)
                assert_true(percent == slow_percent(samples, before ? sample : sample + 1, 1));
            else
                assert_true(isnan(percent));
        }
        engine_free(engine);
    }
}

static void test_a_graph_of_no_time_or_no_width_is_empty(void **state)
{
    (void)state;
    struct engine *engine = engine_of(3);
    struct activity activity;
    struct error err;
    assert_int_equal(engine_activity(engine, (uint32_t[]){0}, 1, 5, 5, WIDTH, "", 0, NULL, &activity, &err), 0);
    assert_int_equal(activity.row_count, 0);
    activity_destroy(&activity);
    assert_int_equal(engine_activity(engine, (uint32_t[]){0}, 1, 0, 5, 0, "", 0, NULL, &activity, &err), 0);
    assert_int_equal(activity.row_count, 0);
    activity_destroy(&activity);
    assert_int_equal(engine_activity(engine, (uint32_t[]){0}, 1, NAN, NAN, WIDTH, "", 0, NULL, &activity, &err), 0);
    assert_int_equal(activity.row_count, 0);
    activity_destroy(&activity);
    assert_int_not_equal(engine_activity(engine, (uint32_t[]){99}, 1, 0, 5, WIDTH, "", 0, NULL, &activity, &err), 0);
    activity_destroy(&activity);
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pixel_has_the_cpu_share_of_the_samples_that_cover_it),
        cmocka_unit_test(test_what_a_query_and_a_chosen_row_leave_is_that_of_their_samples),
        cmocka_unit_test(test_the_nodes_of_a_path_have_the_samples_of_its_row),
        cmocka_unit_test(test_a_place_shows_the_sample_whose_span_it_lies_in),
        cmocka_unit_test(test_a_graph_of_no_time_or_no_width_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
