/* Heap profiles in JSON: V8's sampled ones, and DHAT's. */
#include "profile/profile.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

#define CALL(name, line) "{\"callFrame\":{\"functionName\":\"" name "\",\"url\":\"/a.js\",\"lineNumber\":" line "}"
#define ROOT             "{\"callFrame\":{\"functionName\":\"(root)\",\"url\":\"\",\"lineNumber\":-1}"

static const char v8[] = "{\"head\":" ROOT ",\"selfSize\":0,\"children\":["
    /* */ CALL("run", "4") ",\"selfSize\":100,\"children\":["
    /* */ CALL("", "9") ",\"selfSize\":50,\"children\":[]}]},"
    /* */ CALL("other", "2") ",\"selfSize\":7}]},\"samples\":[]}";

static void assert_weight(const struct profile *profile, const char *stack, double weight)
{
    const struct sample_table *samples = &profile->threads.data[0].samples;
    double sum = 0;
    for (size_t i = 0; i < samples->length; i++)
        if (strcmp(stack_text(profile, samples->stack[i]), stack) == 0)
            sum += samples->weight[i];
    assert_true(sum == weight);
}

static void test_nodes_of_v8_have_their_own_bytes(void **state)
{
    (void)state;
    struct profile profile;
    import_text(v8, &profile);
    const struct sample_table *samples = &profile.threads.data[0].samples;
    assert_int_equal(samples->weight_type, WEIGHT_BYTES);
    assert_int_equal(samples->length, 3);
    assert_weight(&profile, "run", 100);
    assert_weight(&profile, "run;(anonymous)", 50);
    assert_weight(&profile, "other", 7);
    profile_destroy(&profile);
}

static const char dhat[] = "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,\"pid\":7,"
                           "\"pps\":[{\"tb\":3000,\"tbk\":3,\"gb\":2000,\"gbk\":2,\"eb\":1000,\"ebk\":1,\"fs\":[1,2]},"
                           "{\"tb\":64,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[3,2]}],"
                           "\"ftbl\":[\"[root]\",\"0x109154: leafy(int) (h.c:2)\",\"0x109193: main (src/h.rs:5:7)\","
                           "\"0x4876340: ??? (in /usr/lib/libx.so.4)\"]}";

static void test_points_of_dhat_have_bytes_and_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double sum;
    } events[] = {{"blocks", 4},
                  {"at peak (bytes)", 2000},
                  {"blocks at peak", 2},
                  {"at end (bytes)", 1000},
                  {"blocks at end", 1}};
    struct profile profile;
    import_text(dhat, &profile);
    const struct thread *thread = &profile.threads.data[0];
    assert_string_equal(profile_text(&profile, thread->pid), "7");
    assert_int_equal(thread->samples.weight_type, WEIGHT_BYTES);
    assert_int_equal(thread->samples.length, 2);
    assert_weight(&profile, "main;leafy(int)", 3000);
    assert_weight(&profile, "main;0x4876340", 64);
    assert_int_equal(profile.meta.events.length, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(profile_text(&profile, profile.meta.events.data[i].name), events[i].name);
        assert_true(sum_of_weights(thread_samples(thread, TABLE_EVENTS + i)) == events[i].sum);
    }
    uint32_t outer = profile.stacks.frame[profile.stacks.prefix[thread->samples.stack[0]]];
    assert_int_equal(profile.frames.line[outer], 5);
    assert_int_equal(profile.frames.column[outer], 7);
    profile_destroy(&profile);
}

static void test_units_of_a_program_are_no_bytes(void **state)
{
    (void)state;
    struct profile profile;
    import_text("{\"dhatFileVersion\":2,\"mode\":\"ad-hoc\",\"bklt\":false,\"pid\":7,"
                "\"pps\":[{\"tb\":30,\"tbk\":3,\"fs\":[0]}],\"ftbl\":[\"f (a.rs:1:2)\"]}",
                &profile);
    assert_int_equal(profile.threads.data[0].samples.weight_type, WEIGHT_SAMPLES);
    assert_weight(&profile, "f", 30);
    assert_int_equal(profile.meta.events.length, 1);
    profile_destroy(&profile);
}

static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {v8, dhat};
    for (size_t i = 0; i < 2; i++)
        for (size_t size = 0; size < strlen(texts[i]); size++) {
            struct profile profile = {0};
            struct error err = {""};
            assert_int_not_equal(import_bytes(texts[i], size, &profile, &err), 0);
            assert_true(err.text[0] != '\0');
        }
}

static void test_damage_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refused("{\"head\":{\"callFrame\":{},\"selfSize\":\"x\"}}", "V8 heap profile: a node has no callFrame");
    assert_refused("{\"dhatFileVersion\":3}",
                   "DHAT profile: the file has an unknown dhatFileVersion: prof reads 1 and 2");
    assert_refused("{\"dhatFileVersion\":2,\"pps\":[],\"ftbl\":[7]}", "ftbl[0] is not a string");
    assert_refused("{\"dhatFileVersion\":2,\"pps\":[{\"tb\":1,\"tbk\":1,\"fs\":[9]}],\"ftbl\":[]}",
                   "pps[0] refers to a missing frame of ftbl");
    assert_refused("{\"dhatFileVersion\":2,\"pps\":[{\"tb\":-1,\"tbk\":1,\"fs\":[]}],\"ftbl\":[]}", "pps[0].tb");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_v8_have_their_own_bytes),
        cmocka_unit_test(test_points_of_dhat_have_bytes_and_blocks),
        cmocka_unit_test(test_units_of_a_program_are_no_bytes),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_damage_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
