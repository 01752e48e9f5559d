/* When the samples of a CPU are wanted at once, and when it is enough to read many at a time. */
#include "sample/wakeup_mode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* Samples 1 ms apart, each with such a stack, until the mode is not `fast` any more (or is) or `most` have come.
 * Returns how many there were. */
static unsigned feed_while(struct wakeup_mode *mode, uint64_t *time, enum wakeup_stack stack, bool fast, unsigned most)
{
    unsigned count = 0;
    while (count < most && mode->fast == fast) {
        *time += MS;
        wakeup_mode_add_sample(mode, *time, stack);
        count++;
    }
    return count;
}

static void test_stacks_that_fit_make_it_slow_soon(void **unused)
{
    (void)unused;
    struct wakeup_mode mode;
    uint64_t time = 5000 * MS;
    wakeup_mode_init(&mode, true);
    assert_in_range(feed_while(&mode, &time, WAKEUP_STACK_FITS, true, 1000), 10, 100);
    assert_false(wakeup_mode_add_sample(&mode, time + MS, WAKEUP_STACK_FITS));
}

static void test_a_deep_stack_makes_it_fast_at_once(void **unused)
{
    (void)unused;
    struct wakeup_mode mode;
    wakeup_mode_init(&mode, false);
    assert_false(wakeup_mode_add_sample(&mode, 5000 * MS, WAKEUP_STACK_FITS));
    assert_true(wakeup_mode_add_sample(&mode, 5001 * MS, WAKEUP_STACK_SHORT));
    assert_true(wakeup_mode_add_sample(&mode, 5002 * MS, WAKEUP_STACK_FITS));
}

static void test_it_stays_fast_while_deep_stacks_come_now_and_then(void **unused)
{
    (void)unused;
    struct wakeup_mode mode;
    uint64_t time = 5000 * MS;
    wakeup_mode_init(&mode, true);
    for (int i = 0; i < 2000; i++) {
        time += MS;
        assert_true(wakeup_mode_add_sample(&mode, time, i % 100 ? WAKEUP_STACK_FITS : WAKEUP_STACK_SHORT));
    }
}

/* A program that comes back to deep stacks again and again is better watched all the time. */
static void test_its_hysteresis_grows_each_time_up_to_a_bound(void **unused)
{
    (void)unused;
    struct wakeup_mode mode;
    uint64_t time = 5000 * MS;
    unsigned before = 0, after = 0;
    wakeup_mode_init(&mode, true);
    feed_while(&mode, &time, WAKEUP_STACK_FITS, true, 1000);
    for (int round = 0; round < 10; round++) {
        assert_int_equal(feed_while(&mode, &time, WAKEUP_STACK_SHORT, false, 10), 1);
        before = after;
        after = feed_while(&mode, &time, WAKEUP_STACK_FITS, true, 100000);
        assert_true(after >= before && after < 10000);
    }
    assert_int_equal(after, before);
    assert_true(after > 1000);
}

static void test_when_it_is_always_too_late_it_rests_for_a_while(void **unused)
{
    (void)unused;
    struct wakeup_mode mode;
    uint64_t time = 5000 * MS;
    wakeup_mode_init(&mode, true);
    unsigned late = feed_while(&mode, &time, WAKEUP_STACK_LATE, true, 1000);
    assert_in_range(late, 2, 999);
    unsigned rest = feed_while(&mode, &time, WAKEUP_STACK_LATE, false, 100000);
    assert_in_range(rest, 100, 1000);
}

static void test_one_stack_in_time_forgives_those_that_were_late(void **unused)
{
    (void)unused;
    struct wakeup_mode mode;
    uint64_t time = 5000 * MS;
    wakeup_mode_init(&mode, true);
    for (int i = 0; i < 1000; i++) {
        time += MS;
        assert_true(wakeup_mode_add_sample(&mode, time, i % 20 ? WAKEUP_STACK_LATE : WAKEUP_STACK_SHORT));
    }
}

static void test_lost_samples_slow_it_down(void **unused)
{
    (void)unused;
    struct wakeup_mode mode;
    uint64_t time = 5000 * MS;
    wakeup_mode_init(&mode, true);
    wakeup_mode_add_sample(&mode, time, WAKEUP_STACK_SHORT);
    wakeup_mode_add_loss(&mode, time + MS);
    assert_false(mode.fast);
    assert_false(wakeup_mode_add_sample(&mode, time + 2 * MS, WAKEUP_STACK_SHORT));
    assert_true(wakeup_mode_add_sample(&mode, time + 2000 * MS, WAKEUP_STACK_SHORT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks_that_fit_make_it_slow_soon),
        cmocka_unit_test(test_a_deep_stack_makes_it_fast_at_once),
        cmocka_unit_test(test_it_stays_fast_while_deep_stacks_come_now_and_then),
        cmocka_unit_test(test_its_hysteresis_grows_each_time_up_to_a_bound),
        cmocka_unit_test(test_when_it_is_always_too_late_it_rests_for_a_while),
        cmocka_unit_test(test_one_stack_in_time_forgives_those_that_were_late),
        cmocka_unit_test(test_lost_samples_slow_it_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
