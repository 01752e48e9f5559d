/* Statistics of marked intervals on a profile with known waits, and the transform that keeps the slowest intervals. */
#include "random_markers.h"
#include "profile/compare.h"
#include "support/wait_profile.h"
#include "tree/engine.h"
#include "tree/interval_stats.h"
#include "tree/marker_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { READER = 1, REQUESTS = 100 };

/* "request" lasts 1, 2, ..., 100 quarters of a ms. "lookup" begins first; it covers 5 ms on a CPU, the first wait, and
 * 1.5 of the 1.75 ms after the wait, in which the thread ran for 1.25 ms. "answer" covers the last half of these. */
static void make_markers(struct profile *profile)
{
    static const struct {
        const char *name;
        double start, end;
    } others[] = {{"lookup", 5, 51.75}, {"answer", 51.125, 52}, {"instant", 5, 5}};
    struct marker_table *markers = &profile->threads.data[READER].markers;
    assert_true(marker_rows_make(markers, REQUESTS + sizeof(others) / sizeof(*others)));
    for (uint32_t i = 0; i < REQUESTS + sizeof(others) / sizeof(*others); i++) {
        bool is_request = i < REQUESTS;
        markers->name[i] = strings_add_z(&profile->strings, is_request ? "request" : others[i - REQUESTS].name);
        markers->start[i] = is_request ? 6 : others[i - REQUESTS].start;
        markers->end[i] = is_request ? 6 + (i + 1) * 0.25 : others[i - REQUESTS].end;
        markers->phase[i] = markers->end[i] > markers->start[i];
        markers->category[i] = 0;
        markers->data[i] = PROFILE_NONE;
    }
}

static void test_percentiles_and_states_of_intervals(void **state)
{
    struct profile profile;
    struct error err;
    struct interval_list list = {0};
    size_t count;
    (void)state;
    wait_profile_make(&profile);
    make_markers(&profile);
    struct marker_view *view = marker_view_new(&profile, (struct time_range){0, 100}, &err);
    assert_non_null(view);
    const uint32_t threads[] = {READER};
    const struct marker_query query = {.threads = threads, .thread_count = 1, .range = whole_time, .search = ""};
    assert_int_equal(marker_view_set_query(view, &query, &err), 0);
    const uint32_t *shown = marker_view_get_matches(view, &count);
    assert_int_equal(interval_list_fill(&list, &profile, marker_view_get_markers(view), shown, count, &err), 0);
    assert_int_equal(list.names.length, 3);
    const struct interval_stats *request = &list.names.data[0], *lookup = &list.names.data[1],
                                *answer = &list.names.data[2];
    assert_int_equal(request->count, REQUESTS);
    assert_true(request->p50 == 12.5 && request->p90 == 22.5 && request->p99 == 24.75 && request->longest == 25);
    assert_true(request->total == 0.25 * REQUESTS * (REQUESTS + 1) / 2);
    assert_int_equal(request->histogram[0 - INTERVAL_FIRST_OCTAVE], 4); /* 1 to 2 ms: 1, 1.25, 1.5, 1.75 */
    assert_true(lookup->total == 46.75 && lookup->running == 6.5 && lookup->rest == 0.25);
    assert_true(answer->total == 0.875 && answer->running == 0.375 && answer->rest == 0.5);
    for (uint32_t reason = 0; reason < list.reasons; reason++)
        assert_true(list.waits.data[list.reasons + reason] == (reason == REASON_LOCK ? 40 : 0));
    assert_true(find_slowest_interval_limit(marker_view_get_markers(view), shown, count, 2.0 / (REQUESTS + 2)) == 25);
    assert_true(find_slowest_interval_limit(marker_view_get_markers(view), shown, count, 1.5 / (REQUESTS + 2)) == 25);
    interval_list_destroy(&list);
    marker_view_free(view);
    profile_destroy(&profile);
}

/* The off-CPU time of a query with only the slowest intervals. */
static double slowest_total(struct engine *engine, double share, struct time_range range)
{
    static const char text[] = "name:request";
    const struct transform transform = {
        .kind = TRANSFORM_FILTER_MARKERS, .text = text, .text_length = strlen(text), .slowest = share};
    const uint32_t threads[] = {READER};
    const struct tree_query query = {.threads = threads,
                                     .thread_count = 1,
                                     .range = range,
                                     .transforms = &transform,
                                     .transform_count = 1,
                                     .search = "",
                                     .weight = WEIGH_SAMPLES};
    struct error err;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    return engine_get_timings(engine)->root_total;
}

static void test_only_the_slowest_intervals_count(void **state)
{
    struct profile profile;
    struct error err;
    (void)state;
    wait_profile_make(&profile);
    make_markers(&profile);
    struct marker_table *markers = &profile.threads.data[READER].markers;
    for (size_t i = 0; i < REQUESTS; i++) { /* the longest one is apart from the others */
        markers->start[i] = i + 1 < REQUESTS ? 0 : 60;
        markers->end[i] = i + 1 < REQUESTS ? (double)(i + 1) / REQUESTS * 10.5 : 100;
    }
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    double all = slowest_total(engine, 0, whole_time), slowest = slowest_total(engine, 0.01, whole_time);
    assert_true(slowest > 0 && all > slowest);
    assert_true(slowest_total(engine, 1, whole_time) == all);
    assert_true(slowest_total(engine, 0.01, whole_time) == slowest);
    const struct time_range first = {0, 50}; /* without the longest one */
    assert_true(slowest_total(engine, 0.01, first) == slowest_total(engine, 0, first));
    engine_free(engine);
}

/* The slowest request covers the first wait. */
static void make_slow_request(struct profile *profile)
{
    wait_profile_make(profile);
    make_markers(profile);
    struct marker_table *markers = &profile->threads.data[READER].markers;
    for (size_t i = 0; i < REQUESTS; i++) {
        markers->start[i] = i + 1 < REQUESTS ? 60 : 5;
        markers->end[i] = i + 1 < REQUESTS ? 60 + (double)(i + 1) / REQUESTS : 51.75;
    }
}

/* Compares two profiles of make_slow_request(), the base without markers if `base_has_markers` is unset. */
static struct engine *open_comparison(struct profile *compared, bool base_has_markers)
{
    struct profile sides[PROFILE_SIDES];
    struct compare_input inputs[PROFILE_SIDES];
    struct error err;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        make_slow_request(&sides[side]);
        inputs[side] = (struct compare_input){.profile = &sides[side],
                                              .name = "side",
                                              .side = (enum profile_side)side,
                                              .from = -INFINITY,
                                              .to = INFINITY};
    }
    if (!base_has_markers)
        sides[SIDE_BASE].threads.data[READER].markers.length = 0;
    assert_int_equal(profile_compare(compared, inputs, PROFILE_SIDES, 0, &err), 0);
    struct engine *engine = engine_new(compared, &err);
    assert_non_null(engine);
    return engine;
}

/* Each thread counts during its own intervals. In a comparison, the base counts the other intervals, and both sides
 * count their mean. */
static void test_the_slowest_intervals_are_apart_from_the_others(void **state)
{
    struct profile profile;
    struct error err;
    (void)state;
    make_slow_request(&profile);
    const uint32_t threads[] = {0, READER};
    static const char text[] = "name:request";
    const struct transform transform = {.kind = TRANSFORM_FILTER_MARKERS,
                                        .text = text,
                                        .text_length = strlen(text),
                                        .slowest = 0.01,
                                        .sides = FILTER_SPLIT};
    struct tree_query query = {.threads = threads,
                               .thread_count = 2,
                               .range = whole_time,
                               .transforms = &transform,
                               .transform_count = 1,
                               .search = "",
                               .weight = WEIGH_OFF_CPU_TIME};
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_true(engine_get_timings(engine)->root_total == 40); /* thread 0 waits, too */
    engine_free(engine);
    struct profile compared = {0};
    engine = open_comparison(&compared, true);
    uint32_t half = (uint32_t)engine_get_profile(engine)->threads.length / 2;
    const uint32_t readers[] = {READER, half + READER};
    query.threads = readers;
    query.compared = COMPARED_NEW;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(engine_count_intervals(engine, SIDE_BASE), REQUESTS - 1);
    assert_int_equal(engine_count_intervals(engine, SIDE_NEW), 1);
    assert_true(engine_get_timings(engine)->root_total == 40);
    query.compared = COMPARED_BASE;
    query.weight = WEIGH_TIME;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    double base = engine_get_timings(engine)->root_total;
    assert_true(base > 0 && base < 1); /* the mean of intervals of up to 1 ms */
    engine_free(engine);
}

static double measure_side(struct engine *engine, enum compared compared, const struct transform *transforms,
                           size_t count)
{
    struct error err;
    uint32_t half = (uint32_t)engine_get_profile(engine)->threads.length / 2;
    const uint32_t readers[] = {READER, half + READER};
    const struct tree_query query = {.threads = readers,
                                     .thread_count = 2,
                                     .range = whole_time,
                                     .transforms = transforms,
                                     .transform_count = count,
                                     .search = "",
                                     .weight = WEIGH_TIME,
                                     .compared = compared};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    return engine_get_timings(engine)->root_total;
}

/* A group of markers per side: each side counts its own, as means. */
static void test_sides_have_groups_of_markers(void **state)
{
    (void)state;
    static const char text[] = "name:request", nothing[] = "name:nothing";
    const struct transform groups[] = {{.kind = TRANSFORM_FILTER_MARKERS,
                                        .text = text,
                                        .text_length = strlen(text),
                                        .slowest = 1,
                                        .sides = FILTER_BASE},
                                       {.kind = TRANSFORM_FILTER_MARKERS,
                                        .text = nothing,
                                        .text_length = strlen(nothing),
                                        .slowest = 1,
                                        .sides = FILTER_NEW}};
    struct profile compared = {0};
    struct engine *engine = open_comparison(&compared, true);
    double whole = measure_side(engine, COMPARED_NEW, NULL, 0);
    assert_true(whole > 0 && measure_side(engine, COMPARED_NEW, groups, 1) == whole);
    assert_true(measure_side(engine, COMPARED_BASE, groups, 1) < whole / REQUESTS);
    assert_true(measure_side(engine, COMPARED_BASE, groups, 1) > 0);
    assert_int_equal(engine_count_intervals(engine, SIDE_BASE), REQUESTS);
    assert_int_equal(engine_count_intervals(engine, SIDE_NEW), 0);
    struct transform both[] = {groups[0], groups[0]};
    both[1].sides = FILTER_NEW;
    double base = measure_side(engine, COMPARED_BASE, both, 2);
    assert_true(base == measure_side(engine, COMPARED_NEW, both, 2));
    assert_int_equal(engine_count_intervals(engine, SIDE_NEW), REQUESTS);
    assert_true(measure_side(engine, COMPARED_NEW, groups, 2) == 0);
    engine_free(engine);
}

static void test_a_side_counts_only_its_own_markers(void **state)
{
    (void)state;
    static const char text[] = "name:request";
    const struct transform inside = {.kind = TRANSFORM_FILTER_MARKERS, .text = text, .text_length = strlen(text)};
    struct profile compared = {0};
    struct engine *engine = open_comparison(&compared, false);
    assert_true(measure_side(engine, COMPARED_NEW, &inside, 1) > 0);
    assert_true(measure_side(engine, COMPARED_BASE, &inside, 1) == 0);
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_and_states_of_intervals),
        cmocka_unit_test(test_only_the_slowest_intervals_count),
        cmocka_unit_test(test_the_slowest_intervals_are_apart_from_the_others),
        cmocka_unit_test(test_sides_have_groups_of_markers),
        cmocka_unit_test(test_a_side_counts_only_its_own_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
