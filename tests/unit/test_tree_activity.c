/*
 * The timeline against its definition: the overlap of every half sample with every pixel, added up one by one.
 */
#include "slow_tree_check.h"

#include "support/wait_profile.h"

enum { PROFILES = 1500, WIDTH = 40, CATEGORIES = 4, MOST_STACKS = 96 };

/* Which stacks count; the last one is for samples without a stack. */
typedef bool stack_set[MOST_STACKS + 1];

static bool counts_stack(const stack_set counts, uint32_t stack)
{
    assert_true(stack == PROFILE_NONE || stack < MOST_STACKS);
    return counts[stack == PROFILE_NONE ? MOST_STACKS : stack];
}

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

/* One half of a gap that some stack has. */
static void slow_add(double rows[CATEGORIES][WIDTH], const struct engine *engine, const stack_set counts,
                     uint32_t stack, double start, double end, double percent, double from, double to)
{
    if (!counts_stack(counts, stack))
        return;
    double pixel = (to - from) / WIDTH;
    uint32_t category = stack == PROFILE_NONE ? engine_get_stacks(engine)->default_category
                                              : engine_get_stacks(engine)->category[stack];
    for (int x = 0; x < WIDTH; x++) {
        double left = from + x * pixel, right = left + pixel;
        rows[category][x] += overlap(start, end, left, right) / pixel * percent / 100;
    }
}

static void slow_activity(double rows[CATEGORIES][WIDTH], const struct engine *engine,
                          const struct sample_table *samples, const stack_set counts, double from, double to)
{
    const struct profile *profile = engine_get_profile(engine);
    double interval = profile->meta.interval;
    memset(rows, 0, CATEGORIES * sizeof(rows[0]));
    for (size_t i = 0; i < samples->length && !slow_stores_waits(samples); i++) {
        double start, end;
        slow_span(samples, i, interval, &start, &end);
        slow_add(rows, engine, counts, samples->stack[i], start, samples->time[i], slow_percent(samples, i, interval),
                 from, to);
        slow_add(rows, engine, counts, samples->stack[i], samples->time[i], end, slow_percent(samples, i + 1, interval),
                 from, to);
    }
    for (size_t i = 0; i < samples->length && slow_stores_waits(samples); i++) {
        double start = i ? samples->time[i - 1] : samples->time[0] - interval, end = samples->time[i];
        double percent = slow_is_wait_end(profile, samples, i) ? 0 : slow_percent(samples, i, interval);
        uint32_t ran = slow_running_stack(profile, samples, i);
        uint32_t runs = slow_is_sample_row(profile, samples, i) ? samples->stack[i] : ran;
        slow_add(rows, engine, counts, ran, start, (start + end) / 2, percent, from, to);
        slow_add(rows, engine, counts, runs, (start + end) / 2, end, percent, from, to);
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

/* The busiest sample whose mark covers the pixel; in threads with recorded waits, waits cover all they touch. */
static int slow_strip(const struct engine *engine, const struct sample_table *samples, const stack_set counts,
                      double from, double to, int x)
{
    const struct profile *profile = engine_get_profile(engine);
    double pixels_per_ms = WIDTH / (to - from), half = profile->meta.interval * pixels_per_ms / 2;
    int mark = half < 1 ? 1 : half > 8 ? 8 : (int)half;
    int found = STRIP_EMPTY;
    for (size_t i = 0; i < samples->length; i++) {
        double at = (samples->time[i] - from) * pixels_per_ms;
        double before = i ? (samples->time[i - 1] - from) * pixels_per_ms : at;
        bool covers = at >= 0 && (int)at <= x && x < (int)at + mark, is_idle = samples->stack[i] == PROFILE_NONE;
        if (!slow_stores_waits(samples))
            is_idle |= samples->cpu_delta && samples->cpu_delta[i] == 0;
        else if (!slow_is_sample_row(profile, samples, i)) {
            is_idle = true;
            covers = slow_is_wait_end(profile, samples, i) && at > x && before < x + 1;
        }
        if (covers && counts_stack(counts, samples->stack[i]) && found < (is_idle ? STRIP_IDLE : STRIP_SAMPLE))
            found = is_idle ? STRIP_IDLE : STRIP_SAMPLE;
    }
    return found;
}

static void check_activity(const struct engine *engine, const struct activity *activity, uint32_t thread,
                           const stack_set counts, double from, double to)
{
    double rows[CATEGORIES][WIDTH];
    const struct sample_table *samples = &engine_get_profile(engine)->threads.data[thread].samples;
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
        assert_int_equal(activity->strip[x], slow_strip(engine, samples, counts, from, to, x));
}

static void check_activity_of_all(struct engine *engine, uint32_t thread, double from, double to)
{
    struct activity activity;
    struct error err;
    stack_set counts;
    memset(counts, true, sizeof(counts));
    assert_int_equal(
        engine_compute_activity(
            engine,
            &(struct activity_query){.threads = &thread, .thread_count = 1, .range = {from, to}, .width = WIDTH},
            &activity, &err),
        0);
    check_activity(engine, &activity, thread, counts, from, to);
    activity_destroy(&activity);
}

static void test_each_pixel_has_the_cpu_share_of_the_samples_that_cover_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct engine *engine = engine_of(seed);
        struct time_range full = engine_get_full_range(engine);
        struct random random = {seed};
        for (uint32_t thread = 0; thread < engine_get_profile(engine)->threads.length; thread++) {
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
    bool is_all =
        !query->search[0] && !path && engine_get_nodes(engine)->of_sample == engine_get_nodes(engine)->of_stack;
    if (stack != PROFILE_NONE)
        slow_stack_make(&frames, query, stack);
    return is_all || (frames.depth && slow_matches(query, &frames) && (!path || has_path(&frames, path)));
}

static void check_activity_of_query(struct engine *engine, const struct slow_query *query, const struct tree_path *path)
{
    struct time_range full = engine_get_full_range(engine);
    for (uint32_t thread = 0; thread < query->profile->threads.length; thread++) {
        stack_set counts;
        struct activity activity;
        struct error err;
        for (uint32_t stack = 0; stack < query->profile->stacks.length; stack++)
            counts[stack] = slow_counts_in(engine, query, path, stack);
        counts[MOST_STACKS] = slow_counts_in(engine, query, path, PROFILE_NONE);
        assert_int_equal(engine_compute_activity(engine,
                                                 &(struct activity_query){.threads = &thread,
                                                                          .thread_count = 1,
                                                                          .range = {full.from, full.to},
                                                                          .width = WIDTH,
                                                                          .search = query->search,
                                                                          .search_length = strlen(query->search),
                                                                          .path = path},
                                                 &activity, &err),
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
    const struct profile *profile = engine_get_profile(engine);
    for (size_t thread = 0; thread < profile->threads.length; thread++) {
        const struct sample_table *samples = &profile->threads.data[thread].samples;
        for (size_t i = 0; i < samples->length; i++) {
            uint32_t stack = samples->stack[i];
            uint32_t node = stack == PROFILE_NONE ? NODE_NONE : engine_get_nodes(engine)->of_stack[stack];
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
        size_t thread_count = engine_get_profile(engine)->threads.length;
        assert_true(thread_count <= 64);
        for (uint32_t i = 0; i < thread_count; i++)
            threads[i] = i;
        struct tree_query query = {.threads = threads,
                                   .thread_count = thread_count,
                                   .range = {-INFINITY, INFINITY},
                                   .search = "",
                                   .inverted = seed % 2 == 1};
        assert_int_equal(engine_set_query(engine, &query, &err), 0);
        assert_int_equal(engine_list_descendants(engine, NODE_NONE, 100, &rows, &err), 0);
        for (size_t i = 0; i < rows.length; i++, checked++) {
            assert_int_equal(engine_read_path(engine, rows.node[i], &funcs, &err), 0);
            struct tree_path path = {funcs.data, funcs.length, query.inverted};
            assert_int_equal(matching_path_update(&cached, engine_get_nodes(engine), &path, &err), 0);
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
        const struct sample_table *samples = &engine_get_profile(engine)->threads.data[0].samples;
        for (double time = -2; time < 130; time += 0.37) {
            double percent;
            size_t sample = find_sample_at(samples, 1, time, &percent), slow = SIZE_MAX;
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
    assert_int_equal(
        engine_compute_activity(
            engine,
            &(struct activity_query){.threads = (uint32_t[]){0}, .thread_count = 1, .range = {5, 5}, .width = WIDTH},
            &activity, &err),
        0);
    assert_int_equal(activity.row_count, 0);
    activity_destroy(&activity);
    assert_int_equal(
        engine_compute_activity(
            engine,
            &(struct activity_query){.threads = (uint32_t[]){0}, .thread_count = 1, .range = {0, 5}, .width = 0},
            &activity, &err),
        0);
    assert_int_equal(activity.row_count, 0);
    activity_destroy(&activity);
    assert_int_equal(
        engine_compute_activity(engine,
                                &(struct activity_query){
                                    .threads = (uint32_t[]){0}, .thread_count = 1, .range = {NAN, NAN}, .width = WIDTH},
                                &activity, &err),
        0);
    assert_int_equal(activity.row_count, 0);
    activity_destroy(&activity);
    assert_int_not_equal(
        engine_compute_activity(
            engine,
            &(struct activity_query){.threads = (uint32_t[]){99}, .thread_count = 1, .range = {0, 5}, .width = WIDTH},
            &activity, &err),
        0);
    activity_destroy(&activity);
    engine_free(engine);
}

/* ---- recorded waits ---- */

enum { MAIN, READER, WRITER };

static void assert_place(struct engine *engine, uint32_t thread, double time, const char *leaf, double wait_from,
                         double wait_to)
{
    const struct profile *profile = engine_get_profile(engine);
    struct sample_place place;
    struct node_path path = {0};
    struct error err;
    assert_int_equal(engine_find_sample(engine, thread, time, &place, &path, &err), 0);
    assert_true(place.is_known);
    assert_string_equal(path.length ? profile_text(profile, profile->funcs.name[path.data[path.length - 1]]) : "",
                        leaf);
    assert_true(isnan(wait_from) ? isnan(place.wait.from) : place.wait.from == wait_from && place.wait.to == wait_to);
    array_free(&path);
}

static void test_a_place_in_a_recorded_wait_shows_the_wait(void **state)
{
    struct profile profile;
    struct error err;
    (void)state;
    wait_profile_make(&profile);
    struct engine *engine = engine_new(&profile, &err);
    assert_place(engine, READER, 5.5, "lookup", NAN, NAN);
    assert_place(engine, READER, 10.25, "lock 0x1000", 10.25, 50.25);
    assert_place(engine, READER, 50, "lock 0x1000", 10.25, 50.25);
    assert_place(engine, READER, 50.25, "lookup", NAN, NAN); /* the gap after it is of what ran */
    assert_place(engine, READER, 51.75, "", 51.5, 52);       /* too short a wait for rows */
    assert_place(engine, READER, 60.5, "work", NAN, NAN);
    assert_place(engine, MAIN, 40.125, "main", NAN, NAN); /* between two waits, what the next was called from */
    assert_place(engine, WRITER, 95, "", 90, 100);
    engine_free(engine);
}

static void test_recorded_waits_do_not_raise_the_graph(void **state)
{
    struct profile profile;
    struct activity activity;
    struct error err;
    (void)state;
    wait_profile_make(&profile);
    struct engine *engine = engine_new(&profile, &err);
    assert_int_equal(engine_compute_unfiltered_activity(
                         engine,
                         &(struct activity_query){
                             .threads = (uint32_t[]){MAIN}, .thread_count = 1, .range = {0, 100}, .width = WIDTH},
                         &activity, &err),
                     0);
    assert_int_equal(activity.row_count, 1); /* 1 ms of CPU time, and all of it is main's */
    assert_int_equal(activity.categories[0], WAIT_USER);
    assert_int_equal(activity.strip[WIDTH / 4], STRIP_IDLE);
    activity_destroy(&activity);
    engine_free(engine);
}

static void test_of_waits_the_heaviest_path_ends_in_the_longest(void **state)
{
    struct profile profile;
    struct error err;
    struct node_path path = {0};
    const uint32_t thread = READER;
    struct tree_query query = {
        .threads = &thread, .thread_count = 1, .range = whole_time, .search = "", .weight = WEIGH_OFF_CPU_TIME};
    (void)state;
    wait_profile_make(&profile);
    struct engine *engine = engine_new(&profile, &err);
    for (int off_cpu = 0; off_cpu < 2; off_cpu++) {
        query.weight = off_cpu ? WEIGH_OFF_CPU_TIME : WEIGH_TIME;
        assert_int_equal(engine_set_query(engine, &query, &err), 0);
        assert_int_equal(engine_find_heaviest_path(engine, 17, 0, &path, &err), 0);
        assert_string_equal(profile_text(engine_get_profile(engine),
                                         engine_get_profile(engine)->funcs.name[path.data[path.length - 1]]),
                            off_cpu ? "lock 0x1000" : "lookup");
    }
    array_free(&path);
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pixel_has_the_cpu_share_of_the_samples_that_cover_it),
        cmocka_unit_test(test_what_a_query_and_a_chosen_row_leave_is_that_of_their_samples),
        cmocka_unit_test(test_the_nodes_of_a_path_have_the_samples_of_its_row),
        cmocka_unit_test(test_a_place_shows_the_sample_whose_span_it_lies_in),
        cmocka_unit_test(test_a_place_in_a_recorded_wait_shows_the_wait),
        cmocka_unit_test(test_recorded_waits_do_not_raise_the_graph),
        cmocka_unit_test(test_of_waits_the_heaviest_path_ends_in_the_longest),
        cmocka_unit_test(test_a_graph_of_no_time_or_no_width_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
