/* The instants of the ptrace sampler: on used CPUs, at the requested rate, at random, and never while the sampler is
 * awake. */
#include "os/clock.h"
#include "sample/sampling_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/timerfd.h>

#include <cmocka.h>

static const uint64_t interval = 1000000; /* ns */

static struct cpu_pin pin;
static struct sampling_clock sampling;
static struct error err;

static int set_up(void **state)
{
    (void)state;
    cpu_pin_init(&pin);
    assert_int_equal(sampling_clock_init(&sampling, &pin, interval, &err), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cpu_pin_release(&pin);
    sampling_clock_destroy(&sampling);
    return 0;
}

/* The n-th CPU where this thread may run; UINT32_MAX if there are not as many. */
static uint32_t allowed_cpu(unsigned n)
{
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &pin.allowed) && !n--)
            return cpu;
    return UINT32_MAX;
}

/* In 64 intervals the threads of a CPU use this part of its time. */
static void use(uint32_t cpu, double share)
{
    assert_int_equal(sampling_clock_add_cpu_time(&sampling, cpu, (uint64_t)(share * 64 * (double)interval), &err), 0);
}

/* Goes to sleep and wakes at the next instant. False if there is none. */
static bool next(struct sampling_instant *instant)
{
    sampling_clock_arm(&sampling, UINT64_MAX, false);
    if (!sampling.mean)
        return false;
    *instant = sampling_clock_check_instant(&sampling, sampling.instant);
    return true;
}

static void test_no_instants_where_nothing_runs(void **state)
{
    (void)state;
    struct sampling_instant instant;
    assert_false(next(&instant));
    use(allowed_cpu(0), 0);
    sampling_clock_tick(&sampling, 64);
    assert_false(next(&instant));
}

static void test_a_cpu_in_use_is_visited_at_the_rate(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct sampling_instant instant;
    uint64_t first = 0;
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    for (int i = 0; i <= COUNT; i++) {
        assert_true(next(&instant));
        assert_true(instant.is_hit);
        assert_int_equal(instant.cpu, allowed_cpu(0));
        first = i ? first : instant.time;
    }
    double mean = (double)(instant.time - first) / COUNT;
    assert_true(mean > 0.96 * (double)interval && mean < 1.04 * (double)interval);
}

/* Whatever a thread does right after an instant is as likely to be hit by the next as anything else: after any time
 * without an instant the same part of them, 1 - 1/e, comes within the mean distance. */
static void test_the_last_instant_does_not_say_when_the_next_one_comes(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static const double without[] = {0, 0.1, 0.5, 1};
    double later[4] = {0}, within[4] = {0};
    struct sampling_instant instant;
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    assert_true(next(&instant));
    for (int i = 0; i < COUNT; i++) {
        uint64_t last = instant.time;
        assert_true(next(&instant));
        double distance = (double)(instant.time - last) / (double)interval;
        for (size_t k = 0; k < 4; k++) {
            later[k] += distance > without[k];
            within[k] += distance > without[k] && distance <= without[k] + 1;
        }
    }
    for (size_t k = 0; k < 4; k++)
        assert_true(within[k] > 0.6 * later[k] && within[k] < 0.665 * later[k]);
}

static void test_a_cpu_in_little_use_is_visited_less_often(void **state)
{
    (void)state;
    struct sampling_instant instant;
    use(allowed_cpu(0), 0.001);
    sampling_clock_tick(&sampling, 64);
    assert_true(next(&instant));
    assert_int_equal(sampling.mean, 8 * interval);
}

static void test_cpus_take_turns_and_each_has_its_rate(void **state)
{
    (void)state;
    enum { COUNT = 800 };
    struct sampling_instant instant;
    unsigned second = 0, moves = 0;
    uint32_t before = UINT32_MAX;
    if (allowed_cpu(1) == UINT32_MAX)
        skip();
    use(allowed_cpu(0), 0.5);
    use(allowed_cpu(1), 0.5);
    sampling_clock_tick(&sampling, 64);
    for (int i = 0; i < COUNT; i++) {
        assert_true(next(&instant));
        second += instant.cpu == allowed_cpu(1);
        moves += instant.cpu != before;
        before = instant.cpu;
    }
    assert_int_equal(sampling.mean, interval / 2);
    assert_int_equal(second, COUNT / 2);
    assert_true(moves <= COUNT / 4 + 1);
}

/* Only before its planned time. */
static void test_the_sampler_waits_for_a_pass_on_a_random_cpu(void **state)
{
    (void)state;
    unsigned first = 0;
    for (uint64_t i = 0; i < 200; i++) {
        sampling_clock_plan_pass(&sampling, monotonic_ns() + 1000 * interval + i);
        sampling_clock_arm(&sampling, UINT64_MAX, false);
        assert_true(sampling.is_placed && pin.cpu == sampling.pass_cpu);
        first += pin.cpu == allowed_cpu(0);
    }
    if (allowed_cpu(1) != UINT32_MAX)
        assert_in_range(first, 1, 199);
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    sampling_clock_arm(&sampling, UINT64_MAX, false); /* the instant comes first */
    assert_int_equal(pin.cpu, allowed_cpu(0));
    sampling_clock_plan_pass(&sampling, monotonic_ns());
    sampling_clock_arm(&sampling, UINT64_MAX, false);
    assert_false(sampling.is_placed);
    sampling_clock_plan_pass(&sampling, UINT64_MAX);
    sampling_clock_arm(&sampling, UINT64_MAX, false);
    assert_false(sampling.is_placed);
}

static void test_a_cpu_that_is_not_allowed_is_not_visited(void **state)
{
    (void)state;
    struct sampling_instant instant;
    CPU_CLR(allowed_cpu(0), &pin.allowed);
    uint32_t cpu = 0;
    while (CPU_ISSET(cpu, &pin.allowed))
        cpu++;
    use(cpu, 1);
    sampling_clock_tick(&sampling, 64);
    assert_false(sampling_clock_can_visit(&sampling, cpu));
    assert_false(next(&instant));
}

static void test_an_instant_that_passes_while_the_sampler_is_awake_hits_nobody(void **state)
{
    (void)state;
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    sampling_clock_arm(&sampling, UINT64_MAX, false);
    uint64_t missed = sampling.instant = monotonic_ns();
    sampling_clock_arm(&sampling, UINT64_MAX, false);
    assert_true(sampling.instant > missed);
    assert_false(sampling_clock_check_instant(&sampling, missed).is_hit);
}

static void test_where_threads_stop_soon_a_move_waits(void **state)
{
    (void)state;
    if (allowed_cpu(1) == UINT32_MAX)
        skip();
    assert_true(cpu_pin_move(&pin, allowed_cpu(1)));
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    sampling.instant = monotonic_ns() + 3600 * UINT64_C(1000000000);
    sampling.mean = interval;
    sampling_clock_arm(&sampling, UINT64_MAX, true);
    assert_int_equal(pin.cpu, allowed_cpu(1));
    sampling_clock_arm(&sampling, UINT64_MAX, false);
    assert_int_equal(pin.cpu, allowed_cpu(0));
}

static void test_a_cpu_in_some_use_has_a_part_of_the_rate(void **state)
{
    (void)state;
    struct sampling_instant instant;
    use(allowed_cpu(0), 7.6 / 8 / 16); /* 7 of 8 instants; the full rate begins at a sixteenth of its time */
    sampling_clock_tick(&sampling, 64);
    assert_true(next(&instant));
    assert_int_equal(sampling.mean, interval * 8 / 7);
}

static void test_a_long_time_without_use_leaves_no_load(void **state)
{
    (void)state;
    struct sampling_instant instant;
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    assert_true(next(&instant));
    sampling_clock_tick(&sampling, 1000);
    assert_false(next(&instant));
}

/* ns until the timer expires. */
static uint64_t until_expiry(void)
{
    struct itimerspec timer;
    assert_int_equal(timerfd_gettime(sampling.timer_fd, &timer), 0);
    return (uint64_t)timer.it_value.tv_sec * UINT64_C(1000000000) + (uint64_t)timer.it_value.tv_nsec;
}

static void test_the_timer_expires_at_the_instant_or_when_something_else_is_due(void **state)
{
    (void)state;
    const uint64_t second = UINT64_C(1000000000);
    uint64_t now = monotonic_ns();
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    sampling.instant = now + 7200 * second;
    sampling_clock_arm(&sampling, UINT64_MAX, false); /* moves to the CPU */
    assert_true(sampling.armed == sampling.instant);
    assert_in_range(until_expiry() / second, 7000, 7200);
    sampling_clock_arm(&sampling, now + 3600 * second, false);
    assert_true(sampling.armed == now + 3600 * second);
    assert_in_range(until_expiry() / second, 3400, 3600);
}

static void test_a_move_wakes_the_sampler_before_its_instant(void **state)
{
    (void)state;
    if (allowed_cpu(1) == UINT32_MAX)
        skip();
    assert_true(cpu_pin_move(&pin, allowed_cpu(1)));
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    sampling.instant = monotonic_ns() + 3600 * UINT64_C(1000000000);
    sampling_clock_arm(&sampling, UINT64_MAX, true);
    assert_int_equal(pin.cpu, allowed_cpu(1));
    assert_true(sampling.armed < sampling.instant && sampling.armed + interval > sampling.instant);
}

/* A timer expires on the CPU that has set it: after a move it is set again, for the same time. */
static void test_the_timer_moves_with_the_sampler(void **state)
{
    (void)state;
    if (allowed_cpu(1) == UINT32_MAX)
        skip();
    assert_true(cpu_pin_move(&pin, allowed_cpu(1)));
    sampling_clock_arm(&sampling, UINT64_C(1) << 62, false);
    assert_int_equal(sampling.armed_on, allowed_cpu(1));
    assert_int_equal(timerfd_settime(sampling.timer_fd, 0, &(struct itimerspec){0}, NULL), 0);
    sampling_clock_arm(&sampling, UINT64_C(1) << 62, false); /* nothing has changed */
    assert_int_equal(until_expiry(), 0);
    assert_true(cpu_pin_move(&pin, allowed_cpu(0)));
    sampling_clock_arm(&sampling, UINT64_C(1) << 62, false);
    assert_int_equal(sampling.armed_on, allowed_cpu(0));
    assert_true(until_expiry() > 0);
}

/* Even where threads stop soon, no time is left for a move later. */
static void test_a_move_does_not_wait_when_the_instant_is_near(void **state)
{
    (void)state;
    if (allowed_cpu(1) == UINT32_MAX)
        skip();
    use(allowed_cpu(0), 1);
    sampling_clock_tick(&sampling, 64);
    uint64_t near;
    do { /* until the instant does not pass meanwhile */
        assert_true(cpu_pin_move(&pin, allowed_cpu(1)));
        near = sampling.instant = monotonic_ns() + 100000;
        sampling_clock_arm(&sampling, UINT64_MAX, true);
    } while (sampling.instant != near);
    assert_int_equal(pin.cpu, allowed_cpu(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_instants_where_nothing_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cpu_in_use_is_visited_at_the_rate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_last_instant_does_not_say_when_the_next_one_comes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cpu_in_little_use_is_visited_less_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cpus_take_turns_and_each_has_its_rate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_sampler_waits_for_a_pass_on_a_random_cpu, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cpu_that_is_not_allowed_is_not_visited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_instant_that_passes_while_the_sampler_is_awake_hits_nobody, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_where_threads_stop_soon_a_move_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cpu_in_some_use_has_a_part_of_the_rate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_long_time_without_use_leaves_no_load, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_timer_expires_at_the_instant_or_when_something_else_is_due, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_move_wakes_the_sampler_before_its_instant, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_timer_moves_with_the_sampler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_move_does_not_wait_when_the_instant_is_near, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
