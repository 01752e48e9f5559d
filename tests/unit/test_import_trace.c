/* Chrome traces: events are sorted by time, and missing data affects only the events that depend on it. */
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

#define NODES                                                                                                          \
    "{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"}},{\"id\":2,\"parent\":1,\"callFrame\":{\"functionName\":"   \
    "\"f\"}},{\"id\":3,\"parent\":2,\"callFrame\":{\"functionName\":\"g\"}}"
#define PROFILE(ts, start)                                                                                             \
    "{\"ph\":\"P\",\"name\":\"Profile\",\"id\":\"0x7\",\"pid\":1,\"tid\":2,\"ts\":" ts                                 \
    ",\"args\":{\"data\":{\"startTime\":" start "}}}"
#define CHUNK(ts, nodes, samples, deltas)                                                                              \
    "{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":\"0x7\",\"pid\":1,\"tid\":3,\"ts\":" ts ",\"args\":{\"data\":"     \
    "{\"cpuProfile\":{\"nodes\":[" nodes "],\"samples\":" samples "},\"timeDeltas\":" deltas "}}}"

static void test_the_order_of_the_file_says_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {PROFILE("9000", "9000"), CHUNK("9900", NODES, "[2,3]", "[500,400]"),
                                        CHUNK("10500", "", "[3,2]", "[300,300]")};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        char text[4096];
        struct profile profile;
        snprintf(text, sizeof(text), "[%s,%s,%s]", texts[orders[i][0]], texts[orders[i][1]], texts[orders[i][2]]);
        import_text(text, &profile);
        assert_int_equal(profile.threads.length, 1);
        assert_string_equal(profile_text(&profile, profile.threads.data[0].tid), "2");
        const struct sample_table *samples = &profile.threads.data[0].samples;
        assert_int_equal(samples->length, 4);
        assert_sample(&profile, samples, 0, "f", 0, 0.4);
        assert_sample(&profile, samples, 1, "f;g", 0.4, 0.3);
        assert_sample(&profile, samples, 2, "f;g", 0.7, 0.3);
        assert_sample(&profile, samples, 3, "f", 1, 0);
        assert_true(profile.meta.profiling_end < 2);
        assert_int_equal(profile.meta.warning, PROFILE_NONE);
        profile_destroy(&profile);
    }
}

/* A trace that began later than the profile lacks its Profile event: the chunk's time is that of its last sample. */
static void test_chunks_without_a_profile_have_their_own_times(void **state)
{
    (void)state;
    struct profile profile;
    import_text("[{\"ph\":\"X\",\"name\":\"task\",\"pid\":1,\"tid\":3,\"ts\":\"9000\",\"dur\":\"2000\"}," //
                CHUNK("10000", NODES, "[2,3]", "[400,300]") "]",
                &profile);
    assert_sample(&profile, &profile.threads.data[0].samples, 0, "f", 0.7, 0.3);
    assert_sample(&profile, &profile.threads.data[0].samples, 1, "f;g", 1, 0);
    assert_true(profile.meta.profiling_end == 2);
    profile_destroy(&profile);
}

static void test_what_a_lost_chunk_had_is_missing_alone(void **state)
{
    (void)state;
    struct profile profile;
    import_text("[" PROFILE("9000", "9000") "," CHUNK(
                    "9100", NODES, "[2,77,3]",
                    "[100,100,100]") "," //
                                     "{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":\"0x7\",\"pid\":1,\"tid\":3,"
                                     "\"ts\":9150,\"args\":{}}," CHUNK(
                                         "9200", "{\"id\":9,\"parent\":8,\"callFrame\":{\"functionName\":\"h\"}}",
                                         "[9,2,2]", "[100,100]") "]",
                &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(samples->length, 5);
    assert_int_equal(samples->stack[1], PROFILE_NONE);
    assert_sample(&profile, samples, 2, "f;g", 0.2, 0.1);
    assert_sample(&profile, samples, 3, "h", 0.3, 0.1);
    assert_sample(&profile, samples, 4, "f", 0.4, 0);
    assert_warns(&profile, "The trace lacks the call nodes of 1 sample,");
    assert_warns(&profile, "The trace lacks the callers of 1 call node:");
    assert_warns(&profile, "prof ignored 1 sample of chunks without times.");
    profile_destroy(&profile);
}

static void test_slices_nest_by_time_and_end_with_the_trace(void **state)
{
    (void)state;
    struct profile profile;
    import_text("[{\"ph\":\"E\",\"pid\":1,\"tid\":\"2\",\"ts\":\"5000\",\"name\":\"b\"},"
                "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":1500,\"name\":\"began before\"},"
                "{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":3000,\"name\":\"b\"},"
                "{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":3500,\"name\":\"c\"},"
                "{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":1000,\"name\":\"a\"},"
                "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":6000,\"dur\":4000,\"name\":\"d\"},"
                "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"name\":\"without a time\"},]",
                &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(profile.threads.length, 1);
    assert_sample(&profile, samples, 0, "a", 0, 2);
    assert_sample(&profile, samples, 1, "a;b", 2, 0.5);
    assert_sample(&profile, samples, 2, "a;b;c", 2.5, 1.5);
    assert_sample(&profile, samples, 3, "a", 4, 1);
    assert_sample(&profile, samples, 4, "a;d", 5, 4);
    assert_int_equal(profile.threads.data[0].markers.length, 4);
    assert_true(profile.threads.data[0].markers.end[0] == 9 && profile.meta.profiling_end == 9);
    assert_warns(&profile, "ignored 1 event without a time");
    profile_destroy(&profile);
}

static void test_asynchronous_events_pair_by_their_ids(void **state)
{
    (void)state;
    struct profile profile;
    import_text("[{\"ph\":\"b\",\"cat\":\"n\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1000,\"name\":\"get\"},"
                "{\"ph\":\"b\",\"cat\":\"n\",\"id\":2,\"pid\":1,\"tid\":2,\"ts\":2000,\"name\":\"get\"},"
                "{\"ph\":\"e\",\"cat\":\"n\",\"id\":1,\"pid\":1,\"tid\":5,\"ts\":3000,\"name\":\"get\"},"
                "{\"ph\":\"e\",\"cat\":\"n\",\"id\":2,\"pid\":1,\"tid\":2,\"ts\":7000,\"name\":\"get\"}]",
                &profile);
    const struct marker_table *markers = &profile.threads.data[0].markers;
    assert_int_equal(markers->length, 2);
    assert_true(markers->start[0] == 0 && markers->end[0] == 2);
    assert_true(markers->start[1] == 1 && markers->end[1] == 6);
    assert_int_equal(profile.threads.data[0].samples.length, 0);
    profile_destroy(&profile);
}

static void test_counter_events_are_counters(void **state)
{
    (void)state;
    struct profile profile;
    import_text("[{\"ph\":\"C\",\"pid\":3,\"tid\":1,\"ts\":900,\"name\":\"mem\",\"args\":{\"bytes\":9,\"peak\":10}},"
                "{\"ph\":\"C\",\"pid\":3,\"tid\":1,\"ts\":400,\"name\":\"mem\",\"args\":{\"bytes\":\"5\"}},"
                "{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"app\"}}]",
                &profile);
    assert_int_equal(profile.threads.length, 1);
    assert_string_equal(profile_text(&profile, profile.threads.data[0].process_name), "app");
    assert_int_equal(profile.counters.length, 2);
    const struct counter *bytes = &profile.counters.data[0];
    assert_string_equal(profile_text(&profile, bytes->name), "mem");
    assert_string_equal(profile_text(&profile, bytes->pid), "3");
    assert_non_null(strstr(profile_text(&profile, bytes->json), "\"unit\":\"bytes\""));
    assert_int_equal(bytes->length, 3); /* from 0 to the first level, and so on */
    assert_true(bytes->time[1] == 0 && bytes->count[0] == 0 && bytes->count[1] == 5);
    assert_true(bytes->time[2] == 0.5 && bytes->count[2] == 4);
    assert_string_equal(profile_text(&profile, profile.counters.data[1].name), "mem peak");
    profile_destroy(&profile);
}

#define SAMPLES                                                                                                        \
    "\"samples\":[{\"ts\":\"2000\",\"tid\":\"9\",\"sf\":3,\"weight\":\"1\"},"                                          \
    "{\"ts\":3000,\"tid\":9,\"sf\":\"2\"},{\"ts\":4000,\"tid\":9,\"sf\":3,\"weight\":2},{\"ts\":5000,\"tid\":9,"       \
    "\"sf\":8}]"
#define FRAMES                                                                                                         \
    "\"stackFrames\":{\"3\":{\"name\":\"render(http://localhost/a.js:5:7)\",\"category\":\"JavaScript\",\"parent\":"   \
    "2},\"1\":{\"name\":\"[root]\"},\"2\":{\"name\":\"tick\",\"parent\":\"1\"}}"
#define EVENTS                                                                                                         \
    "\"traceEvents\":[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":6,\"tid\":\"9\",\"args\":{\"name\":\"js\"}},"     \
    "{\"ph\":\"X\",\"name\":\"task\",\"pid\":6,\"tid\":9,\"ts\":2000,\"dur\":500}]"

static void test_samples_beside_the_events_are_counted(void **state)
{
    (void)state;
    static const char *const texts[] = {"{" EVENTS "," SAMPLES "," FRAMES "}", "{" FRAMES "," SAMPLES "," EVENTS "}",
                                        "{" SAMPLES "," EVENTS "," FRAMES ",}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct profile profile;
        import_text(texts[i], &profile);
        assert_int_equal(profile.threads.length, 1);
        const struct thread *thread = &profile.threads.data[0];
        assert_string_equal(profile_text(&profile, thread->name), "js");
        assert_string_equal(profile_text(&profile, thread->pid), "6");
        assert_int_equal(thread->samples.weight_type, WEIGHT_SAMPLES);
        assert_int_equal(thread->markers.length, 1);
        assert_int_equal(thread->samples.length, 4);
        assert_sample(&profile, &thread->samples, 0, "[root];tick;render", 0, 1);
        assert_sample(&profile, &thread->samples, 1, "[root];tick", 1, 1);
        assert_sample(&profile, &thread->samples, 2, "[root];tick;render", 2, 2);
        assert_int_equal(thread->samples.stack[3], PROFILE_NONE);
        assert_warns(&profile, "lacks the stackFrames of 1 samples");
        uint32_t func = profile.frames.func[profile.stacks.frame[thread->samples.stack[0]]];
        assert_string_equal(profile_text(&profile, profile.sources.data[profile.funcs.source[func]].filename),
                            "http://localhost/a.js");
        assert_int_equal(profile.funcs.line[func], 5);
        profile_destroy(&profile);
    }
    assert_refused("{\"stackFrames\":{\"1\":{\"name\":\"a\",\"parent\":2},\"2\":{\"name\":\"b\",\"parent\":1}},"
                   "\"samples\":[{\"ts\":1,\"tid\":1,\"sf\":1}],\"traceEvents\":[]}",
                   "form a cycle");
}

static void test_a_trace_that_is_cut_has_what_came_before(void **state)
{
    (void)state;
    static const char whole[] = "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1000},"
                                "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2000,\"dur\":1000}]}";
    for (size_t cut = strlen("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1000}");
         cut < sizeof(whole) - 1; cut++) {
        char text[sizeof(whole)] = "";
        struct profile profile;
        memcpy(text, whole, cut);
        import_text(text, &profile);
        assert_sample(&profile, &profile.threads.data[0].samples, 0, "a", 0, 1);
        assert_warns(&profile, "The trace is truncated after");
        profile_destroy(&profile);
    }
    assert_refused("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1},{\"ph\":,}]", "at byte 44: a value was expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_order_of_the_file_says_nothing),
        cmocka_unit_test(test_chunks_without_a_profile_have_their_own_times),
        cmocka_unit_test(test_what_a_lost_chunk_had_is_missing_alone),
        cmocka_unit_test(test_slices_nest_by_time_and_end_with_the_trace),
        cmocka_unit_test(test_asynchronous_events_pair_by_their_ids),
        cmocka_unit_test(test_counter_events_are_counters),
        cmocka_unit_test(test_samples_beside_the_events_are_counted),
        cmocka_unit_test(test_a_trace_that_is_cut_has_what_came_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
