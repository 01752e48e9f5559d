/*
 * The marker transform, against a profile without the samples outside of the markers: every query of samples has the
 * same answer. On random profiles, with other transforms around it.
 */
#include "random_markers.h"
#include "slow_tree_check.h"
#include "tree/marker_view.h"
#include "tree/stack_chart.h"

enum { PROFILES = 1500, WIDTH = 40 };

/* ---- the definition ---- */

struct slow_filter {
    const char *text;  /* a search, and by hand: */
    const char *names; /* the markers that it finds; NULL: all */
    bool all_others;   /* it finds those of other names */
};

static const struct slow_filter slow_filters[] = {
    {"", NULL, false},
    {"name:paint", "paint", false},
    {"name:\"GC\",name:io", "GC io", false},
    {"-name:Layout", "Layout", true},
    {"name:nothing at all", "-", false},
};

enum { SLOW_FILTERS = sizeof(slow_filters) / sizeof(*slow_filters) };

static bool slow_finds(const struct slow_filter *filter, const char *name)
{
    return !filter->names || (strstr(filter->names, name) != NULL) != filter->all_others;
}

static bool slow_is_inside(const struct profile *profile, const struct marker_list *markers,
                           const struct slow_filter *filter, double time)
{
    for (size_t i = 0; i < markers->length; i++) {
        const struct marker *marker = &markers->data[i];
        if (marker->kind != MARKER_INSTANT && marker->start <= time && time < marker->end &&
            slow_finds(filter, strings_text(&profile->strings, marker->name)))
            return true;
    }
    return false;
}

/* Takes the stacks of all samples outside of the markers of the threads of the query. */
static void slow_drop(struct profile *profile, const struct slow_query *query, struct time_range whole,
                      const struct slow_filter *filter)
{
    struct error err;
    struct marker_view *view = marker_view_new(profile, whole, &err);
    assert_non_null(view);
    const struct marker_query all = {
        .threads = query->threads, .thread_count = query->thread_count, .range = whole_time};
    assert_int_equal(marker_view_set_query(view, &all, &err), 0);
    for (size_t t = 0; t < profile->threads.length; t++) {
        struct sample_table *samples = &profile->threads.data[t].samples;
        for (size_t i = 0; i < samples->length; i++)
            if (!slow_is_inside(profile, marker_view_get_markers(view), filter, samples->time[i]))
                samples->stack[i] = PROFILE_NONE;
    }
    marker_view_free(view);
}

/* ---- comparing ---- */

struct pair {
    struct engine *engine;   /* has the transform */
    struct engine *by_hand;  /* of the profile without the samples */
    struct slow_query query; /* of both, but for the transform */
    struct slow_query filtered;
    struct profile reference; /* without the samples */
    struct profile recorded;  /* with them */
};

static void add_filter(struct slow_query *query, const struct slow_filter *filter, size_t at)
{
    memmove(query->transforms + at + 1, query->transforms + at,
            (query->transform_count - at) * sizeof(*query->transforms));
    query->transforms[at] =
        (struct transform){.kind = TRANSFORM_FILTER_MARKERS, .text = filter->text, .text_length = strlen(filter->text)};
    query->transform_count++;
}

static struct engine *engine_of(struct profile *profile)
{
    struct error err;
    assert_int_equal(profile_check(profile, &err), 0);
    struct engine *engine = engine_new(profile, &err);
    assert_non_null(engine);
    return engine;
}

/* `has_waits`: some threads store waits in rows. What such a row is cannot be told by hand after it was dropped. */
static void make_profile(struct profile *profile, uint64_t seed, bool has_waits)
{
    random_marker_profile(profile, seed);
    for (size_t i = 0; !has_waits && i < profile->threads.length; i++)
        profile->threads.data[i].samples.weight_type = WEIGHT_BYTES;
}

/* The transforms of a query are those of slow_random_query(), which leaves room for two more. */
static void pair_make(struct pair *pair, uint64_t seed, bool has_waits)
{
    struct random random = {seed};
    struct profile profile, less;
    make_profile(&profile, seed, has_waits);
    make_profile(&less, seed, has_waits);
    make_profile(&pair->reference, seed, has_waits);
    make_profile(&pair->recorded, seed, has_waits);
    pair->engine = engine_of(&profile);
    slow_random_query(&pair->query, &pair->reference, &random);
    pair->query.recorded = &pair->recorded;
    while (pair->query.transform_count > MAX_TRANSFORMS - 2)
        pair->query.transform_count--;
    pair->filtered = pair->query;
    for (uint32_t i = 0, count = 1 + random_below(&random, 2); i < count; i++) {
        const struct slow_filter *filter = &slow_filters[random_below(&random, SLOW_FILTERS)];
        struct time_range whole = engine_get_full_range(pair->engine);
        slow_drop(&less, &pair->query, whole, filter);
        slow_drop(&pair->reference, &pair->query, whole, filter);
        add_filter(&pair->filtered, filter, random_below(&random, (uint32_t)pair->filtered.transform_count + 1));
    }
    slow_add_not_running(&pair->reference);
    pair->by_hand = engine_of(&less);
    /* of a func that is in no stack, so that samples without a stack do not count here either */
    pair->query.transforms[pair->query.transform_count++] =
        (struct transform){.kind = TRANSFORM_DROP_FUNCTION, .index = PROFILE_NONE};
    ask(pair->by_hand, &pair->query, false);
    ask(pair->engine, &pair->filtered, false);
}

static void pair_destroy(struct pair *pair)
{
    engine_free(pair->engine);
    engine_free(pair->by_hand);
    profile_destroy(&pair->reference);
    profile_destroy(&pair->recorded);
}

static void each_pair(void (*check)(const struct pair *pair), bool has_waits)
{
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct pair pair;
        pair_make(&pair, seed, has_waits);
        check(&pair);
        pair_destroy(&pair);
    }
}

/* ---- what is asked of samples ---- */

static void check_trees(const struct pair *pair)
{
    for (int inverted = 0; inverted < 2; inverted++) {
        struct slow_node root = {0}, turned = {0};
        uint32_t path[MAX_DEPTH];
        slow_each_sample(&pair->query, grow_tree, &root);
        slow_sum(&root);
        ask(pair->engine, &pair->filtered, inverted != 0);
        if (inverted) {
            grow_inverted_tree(&root, path, 0, &turned);
            slow_sum(&turned);
            show_all(&turned);
        }
        assert_same_children(pair->engine, NODE_NONE, inverted ? &turned : &root, inverted != 0);
        slow_free(&root);
        slow_free(&turned);
    }
}

static void test_trees_are_of_samples_inside_of_markers(void **state)
{
    (void)state;
    each_pair(check_trees, true);
}

static void assert_same_functions(const struct func_timings *a, const struct func_timings *b)
{
    assert_int_equal(a->length, b->length);
    for (size_t i = 0; i < a->length; i++) {
        assert_int_equal(a->rows[i].func, b->rows[i].func);
        assert_true(a->rows[i].total == b->rows[i].total && a->rows[i].self == b->rows[i].self);
    }
}

static void check_summary(const struct pair *pair)
{
    struct func_timings of_engine, by_hand;
    struct error err;
    assert_int_equal(engine_list_groups(pair->engine, GROUP_THREAD, &of_engine, &err), 0);
    assert_int_equal(engine_list_groups(pair->by_hand, GROUP_THREAD, &by_hand, &err), 0);
    assert_same_functions(&of_engine, &by_hand);
    func_timings_destroy(&of_engine);
    func_timings_destroy(&by_hand);
    for (int weight = 0; weight < WEIGH_KINDS; weight++) {
        assert_int_equal(
            engine_list_functions_by_weight(pair->engine, (enum sample_weight)weight, TABLE_SAMPLES, &of_engine, &err),
            0);
        assert_int_equal(
            engine_list_functions_by_weight(pair->by_hand, (enum sample_weight)weight, TABLE_SAMPLES, &by_hand, &err),
            0);
        assert_same_functions(&of_engine, &by_hand);
        func_timings_destroy(&of_engine);
        func_timings_destroy(&by_hand);
    }
}

static void test_the_summary_is_of_samples_inside_of_markers(void **state)
{
    (void)state;
    each_pair(check_summary, false);
}

static void check_charts(const struct pair *pair)
{
    for (uint32_t thread = 0; thread < pair->reference.threads.length; thread++)
        for (int same_widths = 0; same_widths < 2; same_widths++) {
            const struct stack_chart_request request = {thread, {2, 22}, WIDTH, same_widths != 0};
            struct stack_rects of_engine = {0}, by_hand = {0};
            struct error err;
            assert_int_equal(engine_compute_stack_chart(pair->engine, &request, &of_engine, &err), 0);
            assert_int_equal(engine_compute_stack_chart(pair->by_hand, &request, &by_hand, &err), 0);
            assert_int_equal(of_engine.length, by_hand.length);
            for (size_t i = 0; i < of_engine.length; i++) {
                const struct stack_rect *a = &of_engine.data[i], *b = &by_hand.data[i];
                assert_true(a->first == b->first && a->last == b->last && a->start == b->start && a->end == b->end);
                assert_true(a->depth == b->depth && a->func == b->func && a->category == b->category);
            }
            array_free(&of_engine);
            array_free(&by_hand);
        }
}

static void test_stack_charts_have_gaps_outside_of_markers(void **state)
{
    (void)state;
    each_pair(check_charts, false);
}

static void check_activity(const struct pair *pair)
{
    for (uint32_t thread = 0; thread < pair->reference.threads.length; thread++) {
        struct activity of_engine, by_hand;
        struct error err;
        assert_int_equal(
            engine_compute_activity(
                pair->engine,
                &(struct activity_query){.threads = &thread, .thread_count = 1, .range = {2, 22}, .width = WIDTH},
                &of_engine, &err),
            0);
        assert_int_equal(
            engine_compute_activity(
                pair->by_hand,
                &(struct activity_query){.threads = &thread, .thread_count = 1, .range = {2, 22}, .width = WIDTH},
                &by_hand, &err),
            0);
        assert_int_equal(of_engine.row_count, by_hand.row_count);
        for (uint32_t i = 0; i < of_engine.row_count; i++)
            assert_int_equal(of_engine.categories[i], by_hand.categories[i]);
        for (size_t i = 0; i < (size_t)of_engine.row_count * WIDTH; i++)
            assert_true(of_engine.shares[i] == by_hand.shares[i]);
        assert_memory_equal(of_engine.strip, by_hand.strip, WIDTH);
        activity_destroy(&of_engine);
        activity_destroy(&by_hand);
    }
}

static void test_tracks_are_of_samples_inside_of_markers(void **state)
{
    (void)state;
    each_pair(check_activity, false);
}

/* ---- from query to query ---- */

static void check_next_query(const struct pair *pair)
{
    struct slow_query one_thread = pair->filtered;
    one_thread.thread_count = one_thread.thread_count > 1 ? 1 : one_thread.thread_count;
    ask(pair->engine, &one_thread, false);
    ask(pair->engine, &pair->filtered, false);
    check_summary(pair);
    check_charts(pair);
    struct slow_query without = pair->filtered;
    without.transform_count = 0;
    ask(pair->engine, &without, false);
    for (uint32_t thread = 0; thread < pair->reference.threads.length; thread++)
        assert_ptr_equal(engine_get_samples(pair->engine, thread),
                         &engine_get_profile(pair->engine)->threads.data[thread].samples);
}

static void test_a_query_does_not_keep_the_filter_of_the_one_before(void **state)
{
    (void)state;
    each_pair(check_next_query, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees_are_of_samples_inside_of_markers),
        cmocka_unit_test(test_the_summary_is_of_samples_inside_of_markers),
        cmocka_unit_test(test_stack_charts_have_gaps_outside_of_markers),
        cmocka_unit_test(test_tracks_are_of_samples_inside_of_markers),
        cmocka_unit_test(test_a_query_does_not_keep_the_filter_of_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
