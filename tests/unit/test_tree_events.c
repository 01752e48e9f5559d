/*
 * Events sampled in addition to CPU time: their tables are read and saved, each is a weight, and CPU time is the same
 * with and without them.
 */
#include "assemble/event_store.h"
#include "support/jslb_bytes.h"
#include "support/profile_text.h"
#include "tree/engine.h"
#include "tree/weight_list.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define EVENTS "\"sampledEvents\": [{\"name\": \"page-faults\", \"period\": 1}, {\"name\": \"usdt:/bin/a:b:c\"}], "
#define FAULTS                                                                                                         \
    "{\"event\": \"page-faults\", \"stack\": [1, 2, null], \"timeDeltas\": [1, 0.5, 2], \"weight\": [1, 40, 3], "      \
    "\"length\": 3}"
#define PROBES                                                                                                         \
    "{\"event\": \"usdt:/bin/a:b:c\", \"stack\": [0], \"time\": [2], \"weight\": [5000000000], \"length\": 1}"

/* The minimal file (stack 0: main; 1: main, work; 2: main, work, leaf) with events. */
static char *file_with(const char *events, const char *tables)
{
    char meta[4096], thread[1024];
    snprintf(meta, sizeof(meta), "\"meta\": {%s", events);
    snprintf(thread, sizeof(thread), "\"eventSamples\": [%s], \"markers\": {", tables);
    return text_replace(text_replace(text_of_file("minimal.json"), "\"meta\": {", meta), "\"markers\": {", thread);
}

static void read_text(const char *text, size_t piece, struct profile *profile)
{
    struct error err = {""};
    if (read_bytes(text, strlen(text), piece, profile, &err) != 0)
        fail_msg("%s", err.text);
}

static double total_of(struct engine *engine, const char *id, size_t *samples)
{
    const struct profile *profile = engine_get_profile(engine);
    const uint32_t thread = 0;
    struct weight weight;
    struct error err;
    assert_true(find_weight_by_id(profile, id, &weight));
    const struct tree_query query = {.threads = &thread,
                                     .thread_count = 1,
                                     .range = whole_time,
                                     .search = "",
                                     .weight = weight.kind,
                                     .table = weight.table};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    *samples = count_weighed_samples(profile, 0, weight.kind, weight.table, whole_time);
    return engine_get_timings(engine)->root_total;
}

/* Takes the profile over. */
static void check_weights(struct profile *profile)
{
    struct error err;
    struct weight_list list = {0};
    size_t samples;
    assert_int_equal(list_weights(&list, profile, &err), 0);
    const struct weight *last = &list.data[list.length - 1];
    assert_string_equal(last[-1].id, "page-faults");
    assert_string_equal(last[-1].unit, "page-faults");
    assert_string_equal(last->id, "usdt:/bin/a:b:c");
    assert_string_equal(last->label, "a:b:c");
    assert_string_equal(last->unit, "c");
    array_free(&list);
    struct engine *engine = engine_new(profile, &err);
    assert_non_null(engine);
    assert_true(total_of(engine, "page-faults", &samples) == 41); /* one has no stack */
    assert_int_equal(samples, 2);
    assert_true(total_of(engine, "usdt:/bin/a:b:c", &samples) == 5e9);
    assert_int_equal(samples, 1);
    engine_free(engine);
}

static void test_each_event_is_a_weight(void **state)
{
    (void)state;
    char *text = file_with(EVENTS, FAULTS ", " PROBES);
    for (size_t piece = 1; piece < 400; piece += 7) {
        struct profile profile = {0};
        read_text(text, piece, &profile);
        check_weights(&profile);
    }
    free(text);
}

static void test_events_are_saved_and_read_the_same(void **state)
{
    (void)state;
    struct profile first = {0}, second = {0};
    char *text = file_with(EVENTS, FAULTS ", " PROBES);
    read_text(text, SIZE_MAX, &first);
    double resolution = profile_find_time_resolution(&first);
    assert_true(resolution == 0.5 || resolution == 0.1);
    char *saved = text_of_profile(&first, resolution);
    read_text(saved, SIZE_MAX, &second);
    assert_true(second.meta.events.data[0].period == 1 && second.meta.events.data[1].period == 0);
    for (unsigned event = 0; event < 2; event++) {
        const struct sample_table *a = thread_samples(&first.threads.data[0], TABLE_EVENTS + event);
        const struct sample_table *b = thread_samples(&second.threads.data[0], TABLE_EVENTS + event);
        assert_int_equal(a->length, b->length);
        for (size_t row = 0; row < a->length; row++) {
            assert_int_equal(a->stack[row], b->stack[row]);
            assert_true(a->time[row] == b->time[row] && a->weight[row] == b->weight[row]);
        }
    }
    char *again = text_of_profile(&second, resolution);
    assert_string_equal(saved, again);
    free(again);
    free(saved);
    free(text);
    profile_destroy(&first);
    check_weights(&second);
}

static void test_a_jslb_container_holds_events(void **state)
{
    (void)state;
    struct memory container = {0};
    struct profile profile = {0};
    struct error err = {""};
    char *text = file_with(EVENTS, FAULTS ", " PROBES);
    const struct slab slab = {SLAB_JSON, text, strlen(text)};
    make_container(&container, &slab, 1, 0);
    if (read_bytes(container.data, container.length, 64, &profile, &err) != 0)
        fail_msg("%s", err.text);
    check_weights(&profile);
    array_free(&container);
    free(text);
}

static void test_cpu_time_is_the_same_with_events(void **state)
{
    (void)state;
    static const char *const ids[] = {"recorded", "time", "cpu-time", "off-cpu-time"};
    struct profile with = {0}, without = {0};
    struct error err;
    size_t samples, samples_without;
    char *text = file_with(EVENTS, FAULTS ", " PROBES), *plain = text_of_file("minimal.json");
    read_text(text, SIZE_MAX, &with);
    read_text(plain, SIZE_MAX, &without);
    struct engine *engine = engine_new(&with, &err), *other = engine_new(&without, &err);
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        assert_true(total_of(engine, ids[i], &samples) == total_of(other, ids[i], &samples_without));
        assert_int_equal(samples, samples_without);
    }
    engine_free(engine);
    engine_free(other);
    free(text);
    free(plain);
}

static void test_an_event_is_the_first_weight_where_cpu_time_was_not_sampled(void **state)
{
    (void)state;
    struct profile profile = {0}, again = {0};
    struct weight_list list = {0};
    struct error err;
    char *text = file_with("\"sampledEventsOnly\": true, " EVENTS, FAULTS);
    read_text(text, SIZE_MAX, &profile);
    char *saved = text_of_profile(&profile, 0);
    read_text(saved, SIZE_MAX, &again);
    assert_int_equal(list_weights(&list, &again, &err), 0);
    assert_string_equal(list.data[0].id, "page-faults");
    assert_string_equal(list.data[2].id, "recorded");
    array_free(&list);
    free(saved);
    free(text);
    profile_destroy(&profile);
    profile_destroy(&again);
}

static void test_a_thread_without_events_holds_no_table_of_them(void **state)
{
    (void)state;
    struct profile profile = {0};
    char *text = file_with(EVENTS, "");
    read_text(text, SIZE_MAX, &profile);
    assert_int_equal(profile.threads.data[0].more.length, 0);
    free(text);
    profile_destroy(&profile);
}

static void test_tables_of_events_that_are_not_listed_are_left_out(void **state)
{
    (void)state;
    struct profile profile = {0};
    struct weight weight;
    char *text = file_with(EVENTS, "{\"event\": \"other\", \"stack\": [0], \"time\": [1], \"length\": 1}, "
                                   "{\"stack\": [0], \"time\": [1], \"length\": 1}, " FAULTS ", " FAULTS);
    read_text(text, SIZE_MAX, &profile);
    assert_int_equal(profile.threads.data[0].more.length, TABLE_EVENTS);
    assert_false(find_weight_by_id(&profile, "other", &weight));
    free(text);
    profile_destroy(&profile);
}

static void test_more_events_than_there_may_be_are_left_out(void **state)
{
    (void)state;
    struct profile profile = {0};
    struct error err;
    struct weight_list list = {0};
    char events[4096] = "\"sampledEvents\": [";
    for (int i = 0; i < 40; i++)
        snprintf(events + strlen(events), sizeof(events) - strlen(events), "%s{\"name\": \"e%d\"}", i ? ", " : "", i);
    strcat(events, "], ");
    char *text = file_with(events, "{\"event\": \"e15\", \"stack\": [0], \"time\": [1], \"length\": 1}, "
                                   "{\"event\": \"e16\", \"stack\": [0], \"time\": [1], \"length\": 1}");
    read_text(text, SIZE_MAX, &profile);
    assert_int_equal(profile.meta.events.length, PROFILE_EVENTS_MAX);
    assert_int_equal(list_weights(&list, &profile, &err), 0);
    assert_string_equal(list.data[list.length - 1].id, "e15");
    assert_int_equal(thread_samples(&profile.threads.data[0], TABLE_EVENTS + 15)->length, 1);
    array_free(&list);
    free(text);
    profile_destroy(&profile);
}

static void test_broken_tables_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"event\": \"page-faults\", \"stack\": [9], \"time\": [1], \"length\": 1}", "eventSamples.stack[0] is 9"},
        {"{\"event\": \"page-faults\", \"stack\": [0], \"length\": 1}", "eventSamples[0] has neither time"},
        {"{\"event\": \"page-faults\", \"stack\": [0, 0], \"time\": [1, 2], \"weight\": [1], \"length\": 2}",
         "eventSamples[0].weight has 1 entries"},
        {"{\"event\": \"page-faults\", \"stack\": [0], \"time\": [1], \"weight\": [null], \"length\": 1}",
         "eventSamples.weight[0] is not a number"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct error err = {""};
        struct profile profile = {0};
        char *text = file_with(EVENTS, cases[i][0]);
        assert_int_not_equal(read_bytes(text, strlen(text), SIZE_MAX, &profile, &err), 0);
        if (!strstr(err.text, cases[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i][1]);
        free(text);
    }
}

static void test_periods_of_any_size_come_back_from_the_store(void **state)
{
    (void)state;
    static const uint64_t periods[] = {0, 1, (1 << 30) - 1, 1 << 30, UINT64_C(5000000000), (UINT64_C(1) << 60) - 1};
    enum { PERIODS = sizeof(periods) / sizeof(*periods), ROUNDS = 400 };
    struct replay_event event = {0};
    struct sample_cursor cursor = {0};
    struct error err;
    uint64_t total = 0;
    for (uint32_t i = 0; i < PERIODS * ROUNDS; i++) {
        const struct event_sample sample = {.time = i, .period = periods[i % PERIODS], .stack = i};
        assert_int_equal(event_store_add(&event, "/tmp/prof-test.spool", i % 2, &sample, &err), 0);
        total += sample.period;
    }
    assert_int_equal(event.samples, PERIODS * ROUNDS);
    assert_true(event.total == total);
    for (uint32_t thread = 0; thread < 2; thread++) {
        assert_int_equal(sample_cursor_start(&cursor, event.store, thread, &err), 0);
        struct event_sample got;
        for (uint32_t i = thread; i < PERIODS * ROUNDS; i += 2) {
            assert_int_equal(event_store_next(&cursor, &got, &err), 1);
            assert_true(got.time == i && got.stack == i && got.period == periods[i % PERIODS]);
        }
        assert_int_equal(event_store_next(&cursor, &got, &err), 0);
    }
    sample_cursor_destroy(&cursor);
    sample_store_free(event.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_event_is_a_weight),
        cmocka_unit_test(test_events_are_saved_and_read_the_same),
        cmocka_unit_test(test_a_jslb_container_holds_events),
        cmocka_unit_test(test_cpu_time_is_the_same_with_events),
        cmocka_unit_test(test_an_event_is_the_first_weight_where_cpu_time_was_not_sampled),
        cmocka_unit_test(test_a_thread_without_events_holds_no_table_of_them),
        cmocka_unit_test(test_tables_of_events_that_are_not_listed_are_left_out),
        cmocka_unit_test(test_more_events_than_there_may_be_are_left_out),
        cmocka_unit_test(test_broken_tables_are_named),
        cmocka_unit_test(test_periods_of_any_size_come_back_from_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
