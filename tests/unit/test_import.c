/* Files of other tools become profiles with their stacks and weights; errors name the place of the damage. */
#include "file/profile_file.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

static void test_collapsed_stacks_have_their_counts(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_text("main;work;parse 30\nmain;work 10\r\n\n# by hand\nmain;sys_read_[k] 5\n", &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(samples->length, 3);
    assert_sample(&profile, samples, 0, "main;work;parse", 0, 30);
    assert_sample(&profile, samples, 1, "main;work", 30, 10);
    assert_sample(&profile, samples, 2, "main;sys_read", 40, 5);
    assert_string_equal(profile_text(&profile, profile.meta.imported_from), "collapsed stacks");
    assert_non_null(strstr(profile_text(&profile, profile.meta.warning), "no times"));
    profile_destroy(&profile);
}

static void test_a_stack_may_be_empty(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_text("main 2\n 1\n", &profile);
    assert_int_equal(profile.threads.data[0].samples.length, 2);
    assert_int_equal(profile.threads.data[0].samples.stack[1], PROFILE_NONE);
    profile_destroy(&profile);
    assert_refused(" 1\n", "the file is text of an unknown kind, not a profile");
}

static void test_a_line_without_a_count_is_named(void **state)
{
    (void)state;
    char text[80 * 1024] = "main;work 10\n";
    size_t used = strlen(text);
    while (used < 70 * 1024) /* more than what tells what a text is */
        used += (size_t)sprintf(text + used, "main;work;parse 3\n");
    strcpy(text + used, "main;work\n");
    assert_refused(text, "does not end with a count");
    assert_refused("hello world\n", "the file is text of an unknown kind, not a profile");
}

static const char *func_of_leaf(const struct profile *profile, const struct sample_table *samples, size_t row)
{
    uint32_t frame = profile->stacks.frame[samples->stack[row]];
    return profile_text(profile, profile->funcs.name[profile->frames.func[frame]]);
}

static void import_file(const char *name, struct profile *out)
{
    char path[128];
    struct error err = {""};
    snprintf(path, sizeof(path), "tests/data/import/%s", name);
    if (profile_load(path, out, &err) != 0)
        fail_msg("%s", err.text);
}

static void test_perf_script_has_clock_samples_and_events(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_file("small.perf-script", &profile);
    assert_int_equal(profile.threads.length, 2);
    const struct thread *thread = &profile.threads.data[0];
    assert_string_equal(profile_text(&profile, thread->name), "two words");
    assert_string_equal(profile_text(&profile, thread->pid), "100");
    assert_string_equal(profile_text(&profile, thread->tid), "101");
    assert_int_equal(thread->samples.weight_type, WEIGHT_TRACING_MS);
    assert_int_equal(thread->samples.length, 2);
    assert_sample(&profile, &thread->samples, 0, "0x7f00;main;operator()(int);inner", 0, 1);
    assert_sample(&profile, &thread->samples, 1, "main;do_syscall_64", 1.5, 2);
    const struct sample_table *faults = thread_samples(thread, TABLE_EVENTS);
    assert_int_equal(faults->length, 1);
    assert_sample(&profile, faults, 0, "main", 2, 7);
    assert_string_equal(profile_text(&profile, profile.meta.events.data[0].name), "page-faults");
    uint32_t kernel = profile.frames.category[profile.stacks.frame[thread->samples.stack[1]]];
    assert_string_equal(profile_text(&profile, profile.categories.data[kernel].name), "Kernel");
    assert_sample(&profile, &profile.threads.data[1].samples, 0, "alone", 3, 1);
    profile_destroy(&profile);
}

static void test_speedscope_has_sampled_and_evented_profiles(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_file("small.speedscope.json", &profile);
    assert_int_equal(profile.threads.length, 2);
    const struct sample_table *sampled = &profile.threads.data[0].samples;
    assert_int_equal(sampled->weight_type, WEIGHT_TRACING_MS);
    assert_sample(&profile, sampled, 0, "main;work", 0, 20);
    assert_sample(&profile, sampled, 1, "main", 20, 30);
    const struct sample_table *evented = &profile.threads.data[1].samples;
    assert_sample(&profile, evented, 0, "main", 0, 10);
    assert_sample(&profile, evented, 1, "main;work", 10, 15);
    assert_sample(&profile, evented, 2, "main", 25, 5);
    profile_destroy(&profile);
    assert_refused("{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"evented\",\"unit\":\"none\","
                   "\"events\":[{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}",
                   "profiles[0].events[0] closes a frame that is not the innermost open one");
    assert_refused("{\"shared\":{\"frames\":[]},\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[3]]"
                   ",\"weights\":[1]}]}",
                   "profiles[0].samples[0] has a frame that is missing in shared.frames");
}

static void test_a_cpu_profile_weighs_the_time_to_the_next_sample(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_file("small.cpuprofile", &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(samples->length, 4);
    assert_sample(&profile, samples, 0, "outer", 0, 2);
    assert_sample(&profile, samples, 1, "outer;inner", 2, 3);
    assert_sample(&profile, samples, 2, "", 5, 1); /* (idle) */
    assert_sample(&profile, samples, 3, "outer;inner", 6, 4);
    profile_destroy(&profile);
    assert_refused("{\"nodes\":[{\"id\":1,\"children\":[2]},{\"id\":2,\"children\":[1]}],\"samples\":[1],"
                   "\"timeDeltas\":[0]}",
                   "form a cycle");
    assert_refused("{\"nodes\":[{\"id\":1}],\"samples\":[2],\"timeDeltas\":[0]}",
                   "samples[0] refers to a missing node");
}

static void test_trace_events_nest_as_stacks_where_there_are_no_samples(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_file("small.trace.json", &profile); /* whose array does not end */
    const struct thread *thread = &profile.threads.data[0];
    assert_string_equal(profile_text(&profile, thread->name), "worker");
    assert_sample(&profile, &thread->samples, 0, "a", 0, 1);
    assert_sample(&profile, &thread->samples, 1, "a;b", 1, 1);
    assert_sample(&profile, &thread->samples, 2, "a", 2, 3);
    assert_int_equal(thread->samples.stack[3], PROFILE_NONE);
    assert_sample(&profile, &thread->samples, 4, "c", 6, 2);
    assert_int_equal(thread->markers.length, 4);
    profile_destroy(&profile);
}

static void test_trace_events_with_samples_keep_them(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_text("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"task\",\"ts\":1000,\"dur\":100,\"pid\":1,\"tid\":2},"
                "{\"ph\":\"P\",\"name\":\"Profile\",\"id\":\"0x1\",\"pid\":1,\"tid\":2,\"ts\":1000,\"args\":{\"data\":"
                "{\"startTime\":1000}}},{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":\"0x1\",\"pid\":1,\"tid\":3,"
                "\"ts\":2000,\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":"
                "\"(root)\"}},{\"id\":2,\"parent\":1,\"callFrame\":{\"functionName\":\"f\"}}],\"samples\":[2,2]},"
                "\"timeDeltas\":[500,250]}}}]}",
                &profile);
    const struct thread *thread = &profile.threads.data[0];
    assert_string_equal(profile_text(&profile, thread->tid), "2");
    assert_int_equal(thread->markers.length, 1);
    assert_sample(&profile, &thread->samples, 0, "f", 0.5, 0.25);
    profile_destroy(&profile);
}

/* V8 sorts by the time of its clock, of which two samples may come in the other order; DevTools sorts them, too. */
static void test_samples_of_a_trace_are_sorted(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_text("{\"traceEvents\":[{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":\"0x1\",\"pid\":1,\"tid\":3,"
                "\"ts\":2000,\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":2,\"callFrame\":{\"functionName\":"
                "\"f\"}},{\"id\":3,\"callFrame\":{\"functionName\":\"g\"}}],\"samples\":[2,2,3,2]},"
                "\"timeDeltas\":[1000,2000,-500,1500]}}}]}",
                &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(samples->length, 4);
    assert_sample(&profile, samples, 0, "f", 0, 1.5);
    assert_sample(&profile, samples, 1, "g", 1.5, 0.5);
    assert_sample(&profile, samples, 2, "f", 2, 1);
    profile_destroy(&profile);
}

/* As Chrome wrote them before there were chunks: callers name their children. */
static void test_a_trace_may_hold_a_whole_profile(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_text("[{\"ph\":\"I\",\"name\":\"CpuProfile\",\"pid\":1,\"tid\":3,\"ts\":2000,\"args\":{\"data\":{"
                "\"cpuProfile\":{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"children\":[2]},"
                "{\"id\":2,\"callFrame\":{\"functionName\":\"f\"},\"children\":[3]},{\"id\":3,\"callFrame\":{"
                "\"functionName\":\"g\"}}],\"startTime\":1000,\"endTime\":4000,\"samples\":[3,2,1],"
                "\"timeDeltas\":[0,1000,2000]}}}}]",
                &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(samples->length, 3);
    assert_sample(&profile, samples, 0, "f;g", 0, 1);
    assert_sample(&profile, samples, 1, "f", 1, 2);
    profile_destroy(&profile);
}

static void test_pprof_of_go_has_its_sample_types(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_file("go-cpu.pprof", &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(samples->weight_type, WEIGHT_TRACING_MS);
    double total = 0, count = 0;
    for (size_t i = 0; i < samples->length; i++)
        total += samples->weight[i];
    const struct sample_table *counts = thread_samples(&profile.threads.data[0], TABLE_EVENTS);
    for (size_t i = 0; i < counts->length; i++)
        count += counts->weight[i];
    assert_true(fabs(total - 1480) < 1e-6 && count == 148); /* as go tool pprof says: 1.48s */
    assert_string_equal(func_of_leaf(&profile, samples, 0), "main.spin");
    assert_true(profile.meta.interval == 10);
    profile_destroy(&profile);
    import_file("go-heap.pprof", &profile);
    assert_int_equal(profile.threads.data[0].samples.weight_type, WEIGHT_BYTES);
    assert_int_equal(profile.meta.events.length, 3);
    profile_destroy(&profile);
}

static void test_a_gecko_profile_has_addresses_scripts_and_processes(void **state)
{
    (void)state;
    struct profile profile = {0};
    import_file("small.gecko.json", &profile);
    assert_int_equal(profile.threads.length, 2);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_sample(&profile, samples, 0, "(root);0xf;run", 0, 1); /* a caller's address is in its call */
    assert_sample(&profile, samples, 1, "(root);0xf", 1, 1);
    assert_int_equal(samples->stack[2], PROFILE_NONE);
    uint32_t frame = profile.stacks.frame[samples->stack[0]], func = profile.frames.func[frame];
    assert_string_equal(profile_text(&profile, profile.sources.data[profile.funcs.source[func]].filename),
                        "https://example.org/a.js");
    assert_int_equal(profile.funcs.line[func], 3);
    assert_int_equal(profile.frames.line[frame], 5);
    assert_string_equal(profile_text(&profile, profile.libs.data[0].breakpad_id), "67452301AB89EFCD0123456789ABCDEF0");
    assert_int_equal(profile.meta.symbolicated, 0);
    assert_int_equal(profile.threads.data[0].markers.length, 1);
    assert_sample(&profile, &profile.threads.data[1].samples, 0, "tick", 5, 1); /* whose process began 5 ms later */
    profile_destroy(&profile);
}

/* Files of tests/data/import, cut at each byte: a profile or a sentence, and no bad access. */
static void truncate_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "tests/data/import/%s", name);
    FILE *file = fopen(path, "rb");
    char text[16 * 1024];
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof(text), file);
    fclose(file);
    for (size_t cut = 0; cut < size; cut++) {
        char *part = malloc(cut + 1); /* that the sanitizer sees a byte too many */
        assert_non_null(part);
        memcpy(part, text, cut);
        struct profile profile = {0};
        struct error err = {""};
        if (import_bytes(part, cut, &profile, &err) == 0)
            profile_destroy(&profile);
        else
            assert_true(err.text[0]);
        free(part);
    }
}

static void test_files_that_are_cut_anywhere_do_no_harm(void **state)
{
    (void)state;
    truncate_file("small.folded");
    truncate_file("small.perf-script");
    truncate_file("small.speedscope.json");
    truncate_file("small.cpuprofile");
    truncate_file("small.trace.json");
    truncate_file("chunks.trace.json");
    truncate_file("samples.trace.json");
    truncate_file("small.gecko.json");
    truncate_file("go-cpu.pprof");
    truncate_file("go-heap.pprof");
}

static void test_a_part_of_a_profile_that_grows_is_no_profile(void **state)
{
    (void)state;
    static const char rows[] =
        "{\"stackTable\":{\"frame\":[0],\"prefix\":[null],\"length\":1},\"frameTable\":{\"func\":[0],\"length\":1},"
        "\"funcTable\":{\"name\":[0],\"length\":1},\"stringArray\":[\"main\"]}";
    char text[2048];
    struct profile profile = {0};
    for (int from = 0; from < 2; from++) { /* the same, which has no rows before it, and which says that it has */
        snprintf(text, sizeof(text),
                 "{\"meta\":{\"preprocessedProfileVersion\":60,\"interval\":1,\"startTime\":0},\"libs\":[],"
                 "\"threads\":[{\"name\":\"main\",\"pid\":\"1\",\"tid\":1,"
                 "\"samples\":{\"stack\":[%d],\"time\":[1],\"length\":1}}],"
                 "\"addedFrom\":%d,\"addedNext\":\"0-9\",\"added\":[{\"tables\":[{\"stacks\":%d,\"shared\":%s}]}]}",
                 9 * from, from, 9 * from, rows);
        if (from) {
            assert_refused(text, "an update of a live profile");
            continue;
        }
        import_text(text, &profile);
        assert_string_equal(stack_text(&profile, 0), "main");
        profile_destroy(&profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_part_of_a_profile_that_grows_is_no_profile),
        cmocka_unit_test(test_collapsed_stacks_have_their_counts),
        cmocka_unit_test(test_a_stack_may_be_empty),
        cmocka_unit_test(test_a_line_without_a_count_is_named),
        cmocka_unit_test(test_perf_script_has_clock_samples_and_events),
        cmocka_unit_test(test_speedscope_has_sampled_and_evented_profiles),
        cmocka_unit_test(test_a_cpu_profile_weighs_the_time_to_the_next_sample),
        cmocka_unit_test(test_trace_events_nest_as_stacks_where_there_are_no_samples),
        cmocka_unit_test(test_trace_events_with_samples_keep_them),
        cmocka_unit_test(test_samples_of_a_trace_are_sorted),
        cmocka_unit_test(test_a_trace_may_hold_a_whole_profile),
        cmocka_unit_test(test_pprof_of_go_has_its_sample_types),
        cmocka_unit_test(test_a_gecko_profile_has_addresses_scripts_and_processes),
        cmocka_unit_test(test_files_that_are_cut_anywhere_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
