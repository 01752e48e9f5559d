/* The text of perf script with any fields, and collapsed stacks that resemble other formats. */
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"
#include "tree/stack_view.h"

#define FRAMES "\t            11d6 hot+0x16 (/opt/app)\n\t            11f0 main+0x10 (/opt/app)\n\n"

/* One sample of main;hot for each of these lines, of the thread "two words" unless it has no name. */
static void test_every_choice_of_fields_has_the_samples(void **state)
{
    (void)state;
    static const struct {
        const char *line, *comm, *tid;
        double weight; /* of two samples: CPU time, or how many they are */
        bool has_times;
    } cases[] = {
        {"two words  47/48 [001]   702.300000:     125000 cpu-clock:pppH: ", "two words", "48", 0.25, true},
        {"two words  48 [001] d... 702.300000:     125000 cpu-clock: ", "two words", "48", 0.25, true},
        {"two words  48   702.300000: cpu-clock: ", "two words", "48", 2, true},
        {"two words  48   702.300000: ", "two words", "48", 2, true},
        {"two words  48   702.300000:     125000 ", "two words", "48", 2, true},
        {"two words 702.300000: cpu-clock: ", "two words", "0", 2, true},
        {"two words [001] 702.300000: cpu-clock: ", "two words", "0", 2, true},
        {"   48   702.300000: cpu-clock: ", "all samples", "48", 2, true},
        {"  702.300000: ", "all samples", "0", 2, true},
        {"two words  47/48 [001]     125000 cpu-clock: ", "two words", "48", 0.25, false},
        {"two words  48 cpu-clock: ", "two words", "48", 2, false},
        {"two words  48 [001] cpu-clock: ", "two words", "48", 2, false},
        {"two words  47/48 ", "two words", "48", 2, false},
        {"two words ", "two words", "0", 2, false},
        {"two words cpu-clock: ", "two words", "0", 2, false},
        {"   cpu-clock: ", "all samples", "0", 2, false},
        {"[001] cpu-clock: ", "all samples", "0", 2, false},
        {"", "all samples", "0", 2, false},
        {":-1    -1 [001] 702.300000:     125000 cpu-clock: ", ":-1", "4294967295", 0.25, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[512];
        struct profile profile;
        snprintf(text, sizeof(text), "%s\n" FRAMES "%s\n" FRAMES, cases[i].line, cases[i].line);
        import_text(text, &profile);
        assert_int_equal(profile.threads.length, 1);
        const struct thread *thread = &profile.threads.data[0];
        assert_string_equal(profile_text(&profile, thread->name), cases[i].comm);
        assert_string_equal(profile_text(&profile, thread->tid), cases[i].tid);
        assert_int_equal(thread->samples.length, 2);
        assert_string_equal(stack_text(&profile, thread->samples.stack[1]), "main;hot");
        assert_true(fabs(sum_of_weights(&thread->samples) - cases[i].weight) < 1e-9);
        assert_int_equal(thread->samples.weight_type, cases[i].weight < 1 ? WEIGHT_TRACING_MS : WEIGHT_SAMPLES);
        assert_int_equal(strstr(profile_text(&profile, profile.meta.warning), "no times") == NULL, cases[i].has_times);
        profile_destroy(&profile);
    }
}

static void test_lines_between_the_samples_are_none(void **state)
{
    (void)state;
    struct profile profile;
    import_text(
        "swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffffb8a00000(0xc00e21) @ 0]: x [kernel]_text\n"
        "0x1248 [0x10]: PERF_RECORD_FINISHED_ROUND\n"
        "app   48 [001]   702.100000: PERF_RECORD_COMM exec: app:48/48\n"
        "app   48 [001]   702.300000:     125000 cpu-clock: \n" FRAMES
        "app   48   702.300100: PERF_RECORD_MMAP2 48/48: [0x7f5(0x1000) @ 0 08:01 5 0]: r-xp /lib/libc.so\n"
        "[ perf record: Woken up 1 times to write data ]\n"
        "other   50 [001]   702.400000:     125000 cpu-clock: \n"
        "\t            11d6 hot+0x16 (/opt/app)\n  app.c:12\n"
        "\t            11f0 main+0x10 (inlined)\n"
        " ABI:2    AX:0x1 BX:0xdead    IP:0x11d6\n"
        " 0x11f0/0x11d0/P/-/-/0  0x1200/0x11e0/M/-/-/0\n"
        " ilen: 5 insn: e8 00 00 00 00\n\n"
        "app   48 [001]   702.500000:          7 page-faults: \n" FRAMES,
        &profile);
    assert_int_equal(profile.threads.length, 2);
    const struct thread *app = &profile.threads.data[0], *other = &profile.threads.data[1];
    assert_sample(&profile, &app->samples, 0, "main;hot", 0, 0.125);
    assert_sample(&profile, &other->samples, 0, "main;hot", 100, 0.125);
    assert_sample(&profile, thread_samples(app, TABLE_EVENTS), 0, "main;hot", 200, 7);
    assert_warns(&profile, "prof ignored line 9, which is neither a sample nor a frame.");
    profile_destroy(&profile);
}

static void test_an_inlined_call_is_in_the_library_of_its_caller(void **state)
{
    (void)state;
    struct profile profile;
    import_text("app   48 [001]   702.300000:     125000 cpu-clock: \n"
                "\t            11d6 innermost+0x16 (inlined)\n"
                "\t            11d6 inner+0x16 (inlined)\n"
                "\t            11d6 outer+0x16 (/opt/libouter.so)\n"
                "\t            21d6 main+0x16 (/opt/app)\n\n",
                &profile);
    assert_sample(&profile, &profile.threads.data[0].samples, 0, "main;outer;inner;innermost", 0, 0.125);
    for (uint32_t i = 0; i < profile.funcs.length; i++) {
        struct func_names names = get_func_names(&profile, i);
        assert_string_equal(profile_text(&profile, names.lib),
                            strcmp(profile_text(&profile, names.name), "main") == 0 ? "app" : "libouter.so");
    }
    profile_destroy(&profile);
}

/* Without call chains perf fills up names from the left. */
static void test_samples_may_be_indented(void **state)
{
    (void)state;
    struct profile profile;
    import_text(
        "             app   48 [001]   702.300000:     125000 cpu-clock:              11d6 hot+0x16 (/opt/app)\n"
        "     my long one   49 [001]   702.310000:     125000 cpu-clock:  ffffffff81a2b3c4 do_exit ([kernel.kallsyms])"
        "\n",
        &profile);
    assert_int_equal(profile.threads.length, 2);
    assert_sample(&profile, &profile.threads.data[0].samples, 0, "hot", 0, 0.125);
    assert_sample(&profile, &profile.threads.data[1].samples, 0, "do_exit", 10, 0.125);
    assert_string_equal(profile_text(&profile, profile.threads.data[1].name), "my long one");
    profile_destroy(&profile);
}

static void test_records_alone_are_no_samples(void **state)
{
    (void)state;
    assert_refused("app 48 702.1: PERF_RECORD_COMM: app:48/48\n", "text of perf script: the file has no samples");
}

static void test_collapsed_stacks_may_begin_like_json(void **state)
{
    (void)state;
    static const char *const first[] = {"[unknown]", "{closure}", "{main}", "[[stack]]", "\xef\xbb\xbfmain"};
    for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++) {
        char text[64];
        struct profile profile;
        snprintf(text, sizeof(text), "%s;work 7\nmain 3\n", first[i]);
        import_text(text, &profile);
        const struct sample_table *samples = &profile.threads.data[0].samples;
        assert_int_equal(samples->length, 2);
        snprintf(text, sizeof(text), "%s;work", first[i] + (first[i][0] == '\xef' ? 3 : 0));
        assert_sample(&profile, samples, 0, text, 0, 7);
        profile_destroy(&profile);
    }
    assert_refused("[unknown];work\n", "is a JSON array");
}

#define BEGINS(bytes, part)                                                                                            \
    {                                                                                                                  \
        bytes, sizeof(bytes) - 1, part                                                                                 \
    }

static void test_other_recordings_are_named_with_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *part;
    } files[] = {
        BEGINS("FLR\0\0\2\0\1............", "Java Flight Recorder; 'jfrconv -o collapsed"),
        BEGINS("SIMPLEPERF\1\0.........", "report_sample.py"),
        BEGINS("memray\0\12.............", "memray flamegraph"),
        BEGINS("v 10500 3\nX ./app 1\nI 1000 5f\n", "heaptrack_print -F"),
        BEGINS("\4\10{\14:\fversionf\b1.2", "stackprof --stackcollapse"),
        BEGINS("Attaching 1 probe...\n\n@[\n", "stackcollapse-bpftrace.pl"),
        BEGINS("@cpu[12]: 3\n@cpu[13]: 4\n", "stackcollapse-bpftrace.pl"),
        BEGINS("@: 3\n@name: 4\n", "stackcollapse-bpftrace.pl"),
        BEGINS("2ELIFREP\0\0\0\0\0\0\0\150", "another byte order"),
        BEGINS("goroutine 1 [running]:\n", "debug=1"),
        BEGINS("go 1.22 trace\0\0\0....", "go tool trace"),
        BEGINS("\xc1\x1f\xfc\xc1............", "babeltrace2"),
        BEGINS("tZst............", "Tracy"),
        BEGINS("\n\4\100\1\120\2\n\4\100\3\120\2........", "traceconv json"),
        BEGINS("%PDF-1.4 .......", "PDF"),
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        struct profile profile = {0};
        struct error err = {""};
        assert_int_not_equal(import_bytes(files[i].bytes, files[i].size, &profile, &err), 0);
        if (!strstr(err.text, files[i].part))
            fail_msg("\"%s\" does not say \"%s\"", err.text, files[i].part);
    }
    char etl[512] = {0, 0, 1};
    memcpy(etl + 72, "\2\0\2\xc0", 4);
    struct profile unread = {0};
    struct error etw = {""};
    assert_int_not_equal(import_bytes(etl, sizeof(etl), &unread, &etw), 0);
    assert_non_null(strstr(etw.text, "ETW"));
    char tar[512] = "profile.json";
    memcpy(tar + 257, "ustar", 5);
    struct profile profile = {0};
    struct error err = {""};
    assert_int_not_equal(import_bytes(tar, sizeof(tar), &profile, &err), 0);
    assert_non_null(strstr(err.text, "tar archive"));
}

static void test_a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    static const char trace[] = "\xef\xbb\xbf[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1000}]";
    for (size_t piece = 1; piece < 5; piece++) {
        struct import *import = import_new();
        struct profile profile = {0};
        struct error err = {""};
        for (size_t at = 0; at < sizeof(trace) - 1; at += piece)
            assert_int_equal(
                import_feed(import, trace + at, sizeof(trace) - 1 - at < piece ? sizeof(trace) - 1 - at : piece, &err),
                0);
        assert_int_equal(import_finish(import, &profile, &err), 0);
        assert_sample(&profile, &profile.threads.data[0].samples, 0, "a", 0, 1);
        profile_destroy(&profile);
        import_free(import);
    }
    assert_refused("\xef\xbb", "binary data of an unknown kind");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_choice_of_fields_has_the_samples),
        cmocka_unit_test(test_lines_between_the_samples_are_none),
        cmocka_unit_test(test_an_inlined_call_is_in_the_library_of_its_caller),
        cmocka_unit_test(test_samples_may_be_indented),
        cmocka_unit_test(test_records_alone_are_no_samples),
        cmocka_unit_test(test_collapsed_stacks_may_begin_like_json),
        cmocka_unit_test(test_other_recordings_are_named_with_what_to_do),
        cmocka_unit_test(test_a_byte_order_mark_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
