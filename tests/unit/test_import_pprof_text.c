/* The texts that Go, gperftools and jemalloc wrote before profile.proto. */
#include "profile/profile.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

static const char go_heap[] = "heap profile: 4: 1300 [7: 2400] @ heap/2048\n"
                              "1: 1000 [2: 2000] @ 0x1008 0x2010 0x3018\n"
                              "#\t0x200f\tmain.(*T).run+0xa4\t\t/src/main.go:19\n"
                              "#\t0x3017\tmain.main+0x3f\t/src/main.go:39\n"
                              "\n"
                              "3: 300 [5: 400] @ 0x3018\n"
                              "#\t0x3017\tmain.main+0x3f\t/src/main.go:39\n"
                              "0: 0 [5: 0] @ 0x3018\n"
                              "\n"
                              "# runtime.MemStats\n# Alloc = 1300\n";

static void test_heap_of_go_is_scaled_by_its_rate(void **state)
{
    (void)state;
    struct profile profile;
    import_text(go_heap, &profile);
    assert_int_equal(profile.meta.events.length, 3);
    const struct thread *thread = &profile.threads.data[0];
    assert_int_equal(thread->samples.weight_type, WEIGHT_BYTES);
    assert_int_equal(thread->samples.length, 2);
    /* 1000 / (1 - e^(-1000 / 1024)), 300 / (1 - e^(-100 / 1024)), to whole bytes */
    assert_sample(&profile, &thread->samples, 0, "main.main;main.(*T).run;0x1007", 0, 1604);
    assert_sample(&profile, &thread->samples, 1, "main.main", 2 * 1604.0 / 4828, 3224);
    assert_int_equal(sum_of_weights(thread_samples(thread, TABLE_EVENTS)), 3 + 66);
    assert_int_equal(sum_of_weights(thread_samples(thread, TABLE_EVENTS + 2)), 1 + 32);
    assert_int_equal(profile.frames.line[profile.stacks.frame[thread->samples.stack[1]]], 39);
    profile_destroy(&profile);
}

static void test_counts_and_contentions_have_their_units(void **state)
{
    (void)state;
    static const struct {
        const char *text, *stack;
        double weight, events;
        enum weight_type type;
    } cases[] = {
        {"goroutine profile: total 5\n4 @ 0x11 0x21\n# labels: {\"a\":\"b\"}\n#\t0x20\tmain.f+0x1\t/a.go:2\n\n1 @ "
         "0x31\n",
         "main.f;0x10", 4, 0, WEIGHT_SAMPLES},
        {"threadcreate profile: total 4\n4 @ 0x0 0x0\n#\t0x0\n", "", 4, 0, WEIGHT_SAMPLES},
        {"--- contention:\ncycles/second=2000000000\n6000000 3 @ 0x11 0x21\n", "0x20;0x10", 3, 3, WEIGHT_TRACING_MS},
        {"--- mutex:\ncycles/second=2000000000\nsampling period=5\n6000000 3 @ 0x11\n", "0x10", 15, 15,
         WEIGHT_TRACING_MS},
        {"--- contention:\n6000000 3 @ 0x11\n", "0x10", 6, 3, WEIGHT_TRACING_MS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct profile profile;
        import_text(cases[i].text, &profile);
        const struct thread *thread = &profile.threads.data[0];
        assert_int_equal(thread->samples.weight_type, cases[i].type);
        assert_sample(&profile, &thread->samples, 0, cases[i].stack, 0, cases[i].weight);
        if (cases[i].events > 0)
            assert_true(sum_of_weights(thread_samples(thread, TABLE_EVENTS)) == cases[i].events);
        profile_destroy(&profile);
    }
}

#define MAPS "\nMAPPED_LIBRARIES:\n40000000-40003000 r-xp 00000000 00:00 17 /nonexistent/program\n"

static const char gperftools[] = "heap profile:      3:      300 [    9:    900] @ heapprofile\n"
                                 "     3:      300 [    9:    900] @ 0x40001001 0x40002001\n" MAPS;

static const char jemalloc[] = "heap_v2/1024\n  t*: 4: 4000 [0: 0]\n  t7: 4: 4000 [0: 0]\n"
                               "@ 0x40001001 0x40002001\n  t*: 4: 4000 [0: 0]\n  t7: 4: 4000 [0: 0]\n" MAPS;

static void test_addresses_are_those_of_the_libraries(void **state)
{
    (void)state;
    static const char *const texts[] = {gperftools, jemalloc};
    for (size_t i = 0; i < 2; i++) {
        struct profile profile;
        import_text(texts[i], &profile);
        assert_sample(&profile, &profile.threads.data[0].samples, 0, "0x2000;0x1000", 0, i ? 6416 : 300);
        assert_int_equal(profile.threads.data[0].samples.length, 1);
        assert_int_equal(profile.meta.events.length, i ? 1 : 3);
        assert_string_equal(profile_text(&profile, profile.libs.data[0].path), "/nonexistent/program");
        assert_int_equal(profile.meta.symbolicated, 0);
        assert_warns(&profile, "no build IDs");
        profile_destroy(&profile);
    }
}

static void test_every_truncation_opens_or_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {go_heap, gperftools, jemalloc};
    size_t refused = 0;
    for (size_t i = 0; i < 3; i++)
        for (size_t size = 14; size < strlen(texts[i]); size++) {
            struct profile profile = {0};
            struct error err = {""};
            if (import_bytes(texts[i], size, &profile, &err) == 0)
                profile_destroy(&profile);
            else {
                assert_non_null(strstr(err.text, "text profile of pprof"));
                refused++;
            }
        }
    assert_true(refused > 100);
}

static void test_damage_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_refused("heap profile: 1: 2 [3: 4]\n", "the first line has no totals");
    assert_refused("heap profile: 1: 2 [3: 4] @ heap/8\n\nhello\n", "line 3 is not a sample");
    assert_refused("goroutine profile: total 5\n5 @ 0x1 ?\n", "the stack in line 2 has an invalid address");
    assert_refused("heap_v2/1024\n t*: 1: 2 [0: 0]\n@ 0x1\n t*: 1\n", "line 4 is not a sample");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_of_go_is_scaled_by_its_rate),
        cmocka_unit_test(test_counts_and_contentions_have_their_units),
        cmocka_unit_test(test_addresses_are_those_of_the_libraries),
        cmocka_unit_test(test_every_truncation_opens_or_is_refused),
        cmocka_unit_test(test_damage_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
