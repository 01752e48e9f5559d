/* callgrind.out: self costs of functions, divided among their direct callers. */
#include "profile/profile.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

#define HEADER "# callgrind format\nversion: 1\npositions: line\nevents: Ir Dr\nsummary: 1300 40\n\n"

/* malloc costs 500 itself; 300 of the inclusive costs of its calls are main's, 200 work's. */
static const char text[] = HEADER "ob=(1) /bin/h\nfl=(1) h.c\nfn=(1) main\n5 100 10\ncfn=(2) work\ncalls=3 2\n+1 900\n"
                                  "cob=(2) /lib/libc.so.6\ncfi=(2) ???\ncfn=(3) malloc\ncalls=1 0\n* 300 5\n\n"
                                  "fn=(2)\n2 600 20\nfi=(3) h.h\n-1 100\nfe=(1)\n"
                                  "cob=(2)\ncfi=(2)\ncfn=(3)\ncalls=2 0\n+2 200 5\n"
                                  "cob=(1)\ncfi=(1)\ncfn=(2)\ncalls=9 2\n+1 5000\n" /* recursion */
                                  "ob=(2)\nfl=(2)\nfn=(3)\n0 501 10\n";

static double weight_of(const struct profile *profile, const struct sample_table *samples, const char *stack)
{
    double sum = 0;
    for (size_t i = 0; i < samples->length; i++)
        if (strcmp(stack_text(profile, samples->stack[i]), stack) == 0)
            sum += samples->weight[i];
    return sum;
}

static void test_self_costs_are_exact_and_divided_among_callers(void **state)
{
    (void)state;
    struct profile profile;
    import_text(text, &profile);
    const struct thread *thread = &profile.threads.data[0];
    assert_true(weight_of(&profile, &thread->samples, "main") == 100);
    assert_true(weight_of(&profile, &thread->samples, "main;work") == 700);
    double of_main = weight_of(&profile, &thread->samples, "main;malloc");
    double of_work = weight_of(&profile, &thread->samples, "work;malloc");
    assert_true(of_main + of_work == 501);
    assert_true(fabs(of_main - 300.6) < 1);
    assert_int_equal(sum_of_weights(&thread->samples), 1301);
    assert_int_equal(profile.meta.events.length, 2);
    assert_string_equal(profile_text(&profile, profile.meta.events.data[0].name), "Dr");
    assert_int_equal(sum_of_weights(thread_samples(thread, TABLE_EVENTS)), 40);
    assert_string_equal(profile_text(&profile, profile.meta.events.data[1].name), "calls");
    assert_true(weight_of(&profile, thread_samples(thread, TABLE_EVENTS + 1), "work;malloc") == 2);
    assert_warns(&profile, "no stacks: each function appears below its direct callers only, and samples are Ir.");
    profile_destroy(&profile);
}

static void test_every_truncation_opens_or_is_refused(void **state)
{
    (void)state;
    size_t refused = 0;
    for (size_t size = 18; size < sizeof(text) - 1; size++) {
        struct profile profile = {0};
        struct error err = {""};
        if (import_bytes(text, size, &profile, &err) == 0)
            profile_destroy(&profile);
        else {
            assert_non_null(strstr(err.text, "callgrind profile"));
            refused++;
        }
    }
    assert_true(refused > 100);
}

static void test_damage_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_refused(HEADER "fn=(9)\n", "line 7 refers to a name that no earlier line defines");
    assert_refused(HEADER "fn=(99999999999) f\n", "line 7 has a name with an id that is too large");
    assert_refused(HEADER "fn=(1) f\n1 2 3 4\n", "line 8 has more costs than events");
    assert_refused(HEADER "fn=(1) f\n1 x\n", "line 8 has a cost that is not a number");
    assert_refused(HEADER "fn=(1) f\nhello\n", "line 8 has neither a cost nor a name");
    assert_refused(HEADER "events: Ir\n", "line 7 has events that differ");
    assert_refused("# callgrind format\nfn=f\n1 2\n", "line 3 has a cost, but no earlier line lists the events");
    assert_refused("# callgrind format\nevents: a b c d e f g h i j k l m n o p q r s t u v w x y\n",
                   "line 2 has more than 24 events");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_costs_are_exact_and_divided_among_callers),
        cmocka_unit_test(test_every_truncation_opens_or_is_refused),
        cmocka_unit_test(test_damage_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
