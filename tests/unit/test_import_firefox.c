/* Profiles of Firefox that break the rules of their format, or are older than its version numbers. */
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

/* Each column in turn has one element more. */
static void test_columns_end_with_their_table(void **state)
{
    (void)state;
    static const char format[] =
        "{\"meta\":{\"preprocessedProfileVersion\":60,\"interval\":1,\"startTime\":0},\"libs\":[],"
        "\"shared\":{\"stringArray\":[\"main\",\"mark\"],"
        "\"stackTable\":{\"frame\":[0%s],\"prefix\":[null%s],\"length\":1},"
        "\"frameTable\":{\"func\":[0%s],\"line\":[7%s],\"length\":1},\"funcTable\":{\"name\":[0%s],\"length\":1}},"
        "\"counters\":[{\"name\":\"c\",\"pid\":\"1\",\"mainThreadIndex\":0,"
        "\"samples\":{\"time\":[1%s],\"count\":[5%s],\"length\":1}}],"
        "\"threads\":[{\"name\":\"t\",\"pid\":\"1\",\"tid\":1,"
        "\"samples\":{\"stack\":[0%s],\"time\":[1%s],\"weight\":[3%s],\"length\":1},"
        "\"markers\":{\"name\":[1%s],\"startTime\":[1%s],\"endTime\":[2%s],\"phase\":[1%s],\"category\":[null%s],"
        "\"data\":[null%s],\"length\":1}}]}";
    enum { PLACES = 16 };
    for (int place = 0; place <= PLACES; place++) {
        char text[4096];
        const char *at[PLACES];
        struct profile profile;
        for (int i = 0; i < PLACES; i++)
            at[i] = i == place ? ",9" : "";
        snprintf(text, sizeof(text), format, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8], at[9],
                 at[10], at[11], at[12], at[13], at[14], at[15]);
        import_text(text, &profile);
        const struct thread *thread = &profile.threads.data[0];
        assert_int_equal(thread->samples.length, 1);
        assert_sample(&profile, &thread->samples, 0, "main", 1, 3);
        assert_int_equal(thread->markers.length, 1);
        assert_int_equal(profile.stacks.length, 1);
        assert_int_equal(profile.frames.line[0], 7);
        assert_int_equal(profile.counters.data[0].length, 1);
        profile_destroy(&profile);
    }
}

/* Columns that are shorter lack rows. */
static void test_columns_have_all_rows_of_their_table(void **state)
{
    (void)state;
    assert_refused(
        "{\"meta\":{\"preprocessedProfileVersion\":60,\"interval\":1,\"startTime\":0},\"libs\":[],"
        "\"shared\":{\"stringArray\":[\"main\"],\"stackTable\":{\"frame\":[0],\"prefix\":[null],\"length\":1},"
        "\"frameTable\":{\"func\":[0],\"length\":1},\"funcTable\":{\"name\":[0],\"length\":1}},"
        "\"threads\":[{\"name\":\"t\",\"pid\":\"1\",\"tid\":1,\"samples\":{\"stack\":[0,0],\"time\":[1,2],"
        "\"weight\":[3],\"length\":2}}]}",
        "threads[0].samples.weight has 1 entries, but its table has 2 rows");
}

#define OLD_META "\"meta\":{\"version\":3,\"interval\":1,\"startTime\":1000}"
#define OLD_THREAD                                                                                                     \
    "{\"name\":\"GeckoMain\",\"libs\":[],\"frameTable\":{\"length\":2,\"func\":[0,1],\"address\":[-1,-1]},"            \
    "\"funcTable\":{\"length\":2,\"name\":[0,1],\"resource\":[-1,-1]},\"resourceTable\":{\"length\":0,\"name\":[]},"   \
    "\"stackTable\":{\"length\":2,\"prefix\":[null,0],\"frame\":[0,1]},\"stringArray\":[\"(root)\",\"work\"],"         \
    "\"samples\":{\"length\":2,\"stack\":[1,0],\"time\":[0,1]},"                                                       \
    "\"markers\":{\"length\":1,\"name\":[1],\"time\":[1],\"data\":[null]}}"

static void test_columns_without_a_version_are_a_processed_profile(void **state)
{
    (void)state;
    static const char *const texts[] = {"{" OLD_META ",\"threads\":[" OLD_THREAD "]}",
                                        "{\"threads\":[" OLD_THREAD "]," OLD_META "}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct profile profile;
        import_text(texts[i], &profile);
        assert_int_equal(profile.meta.version, 1);
        const struct sample_table *samples = &profile.threads.data[0].samples;
        assert_int_equal(samples->length, 2);
        assert_string_equal(stack_text(&profile, samples->stack[0]), "(root);work");
        assert_int_equal(profile.threads.data[0].markers.length, 1);
        profile_destroy(&profile);
    }
}

static void test_lists_of_samples_are_refused(void **state)
{
    (void)state;
    assert_refused("{" OLD_META ",\"threads\":[{\"name\":\"GeckoMain\",\"samples\":[{\"name\":\"(root)\"}]}]}",
                   "prof reads Gecko profiles of version 3 and later");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_end_with_their_table),
        cmocka_unit_test(test_columns_have_all_rows_of_their_table),
        cmocka_unit_test(test_columns_without_a_version_are_a_processed_profile),
        cmocka_unit_test(test_lists_of_samples_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
