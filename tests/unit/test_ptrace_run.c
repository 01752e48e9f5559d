/* Switches derived from the scheduler's counts: their times, and sums that equal the counts. */
#include "os/clock.h"
#include "sample/ptrace_run.h"
#include "sample/ptrace_thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;

static struct ptrace_moment moment(uint64_t time, uint64_t cpu, uint64_t ready, uint64_t slices, bool asleep)
{
    return (struct ptrace_moment){
        .time = time * ms, .schedule = {.cpu = cpu * ms, .ready = ready * ms, .slices = slices}, .asleep = asleep};
}

static void assert_switch(const struct ptrace_switch *found, uint64_t time, bool out, bool preempted)
{
    assert_int_equal(found->time, time * ms);
    assert_int_equal(found->out, out);
    assert_int_equal(found->preempted, preempted);
}

static size_t take(struct ptrace_run *run, struct ptrace_moment now, struct ptrace_switch *found)
{
    return ptrace_run_add_moment(run, &now, found);
}

static void test_a_thread_that_falls_asleep_has_run_first(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_run run = {.last = moment(100, 7, 0, 3, false)};
    assert_int_equal(take(&run, moment(110, 9, 0, 3, true), found), 2);
    assert_switch(&found[0], 100, false, false); /* it ran at the first moment */
    assert_switch(&found[1], 102, true, false);
}

static void test_a_wait_goes_on_while_the_thread_is_not_put_on_a_cpu(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_run run = {.last = moment(100, 7, 0, 3, true), .is_reported = true};
    assert_int_equal(take(&run, moment(110, 7, 0, 3, true), found), 0);
    assert_int_equal(take(&run, moment(120, 8, 0, 3, true), found), 0); /* counted late */
    run.stops = 1;
    assert_int_equal(take(&run, moment(130, 10, 0, 4, false), found), 1);
    assert_switch(&found[0], 127, false, false); /* and not lost */
    assert_int_equal(found[0].ended, 1);
    assert_int_equal(run.stops, 0);
}

static void test_waits_between_two_looks_share_the_time(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_run run = {.last = moment(100, 7, 0, 3, true), .is_reported = true};
    struct ptrace_moment now = moment(113, 8, 0, 6, true); /* three waits have ended, and a fourth has begun */
    now.ended = 3;
    assert_int_equal(take(&run, now, found), 4);
    assert_switch(&found[0], 103, false, false);
    assert_switch(&found[1], 103, true, false);
    assert_switch(&found[2], 109, false, false);
    assert_switch(&found[3], 110, true, false);
    assert_int_equal(found[0].ended, 1);
    assert_int_equal(found[2].ended, 2);
    assert_int_equal(found[2].slept_until, 113 * ms); /* their order is unknown: a wait may have ended then */
    run.last = moment(110, 8, 0, 6, false);
    now = moment(120, 9, 0, 9, true);
    now.ended = 2;
    assert_int_equal(take(&run, now, found), 3);
    assert_switch(&found[0], 110, true, false);
    assert_switch(&found[1], 116, false, false);
    assert_int_equal(found[1].ended, 2);
    assert_switch(&found[2], 117, true, false);
    assert_int_equal(found[1].slept_until, 117 * ms);
}

static void test_waits_without_time_are_counted(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_run run = {.last = moment(100, 7, 0, 3, false), .is_reported = true};
    struct ptrace_moment now = moment(110, 9, 8, 6, false);
    now.ended = 2;
    assert_int_equal(take(&run, now, found), 2);
    assert_switch(&found[0], 100, true, true);
    assert_int_equal(found[1].ended, 2);
}

/* The scheduler counts the time up to the stop, in which the thread waits for its CPU. */
static void test_a_thread_that_waits_for_a_cpu_is_not_stopped(void **state)
{
    (void)state;
    struct ptrace_thread *thread = ptrace_thread_new(getpid(), getpid());
    assert_non_null(thread);
    ptrace_thread_begin_stop(thread, monotonic_ns() - 1000 * ms);
    ptrace_thread_skip_runnable(thread, 900 * ms);
    ptrace_thread_end_stop(thread);
    assert_in_range(thread->run.held, 100 * ms, 500 * ms);
    ptrace_thread_begin_stop(thread, monotonic_ns());
    ptrace_thread_skip_runnable(thread, 900 * ms); /* since before the interrupt */
    ptrace_thread_end_stop(thread);
    assert_in_range(thread->run.held, 100 * ms, 500 * ms);
    ptrace_thread_free(thread);
}

static void test_a_thread_that_was_woken_has_waited_for_a_cpu_before_it_ran(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_run run = {.last = moment(100, 7, 0, 3, true), .is_reported = true};
    assert_int_equal(take(&run, moment(141, 8, 30, 4, true), found), 4);
    assert_switch(&found[0], 105, false, false);
    assert_switch(&found[1], 105, true, true);
    assert_switch(&found[2], 135, false, false);
    assert_switch(&found[3], 136, true, false); /* the second wait has half of the blocked time */
}

static void test_a_thread_without_a_cpu_may_have_been_woken_before_the_last_look(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_run run = {.last = moment(100, 7, 0, 3, true), .is_reported = true};
    assert_int_equal(take(&run, moment(110, 7, 0, 3, true), found), 0); /* woken at 105 */
    struct ptrace_moment now = moment(120, 8, 14, 5, true);
    now.ended = 2;
    assert_int_equal(take(&run, now, found), 6);
    assert_switch(&found[0], 105, false, false);
    assert_switch(&found[2], 105, false, false);
    assert_switch(&found[3], 105, true, true);
    assert_switch(&found[4], 119, false, false);
}

/* After an exec, the counts are those of another thread. */
static void test_fewer_time_slices_than_before_are_no_waits(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_thread *thread = ptrace_thread_new(getpid(), getpid());
    const struct ptrace_moment now = moment(110, 8, 0, 2, false);
    assert_non_null(thread);
    thread->run.last = moment(100, 7, 0, 3, false);
    thread->run.is_reported = true;
    assert_int_equal(ptrace_thread_add_moment(thread, &now.schedule, now.time, false, found), 2);
    assert_int_equal(found[1].ended, 0);
    ptrace_thread_free(thread);
}

static void test_time_in_which_a_thread_could_have_run_is_no_wait(void **state)
{
    (void)state;
    struct ptrace_switch found[PTRACE_RUN_SWITCHES];
    struct ptrace_run run = {.last = moment(100, 7, 0, 3, false), .held = 1 * ms, .is_reported = true};
    assert_int_equal(take(&run, moment(120, 17, 9, 8, false), found), 2);
    assert_switch(&found[0], 100, true, true); /* 9 ms ready, 1 ms stopped by the tracer */
    assert_switch(&found[1], 110, false, false);
    assert_int_equal(take(&run, moment(140, 27, 14, 9, false), found), 4);
    assert_switch(&found[0], 120, true, false); /* asleep for 5 ms, which no look has seen */
    assert_switch(&found[1], 125, false, false);
    assert_int_equal(found[1].slept_until, 140 * ms);
    assert_switch(&found[2], 125, true, true);
    assert_switch(&found[3], 130, false, false);
}

/* A thread does all kinds of things, and is looked at now and then, when it sleeps or has stopped. Some figures are
 * late. */
static void test_sums_are_those_of_the_scheduler(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 200; round++) {
        uint64_t time = 1000, cpu = 50, ready = 20, slices = 1, on = 0, since = time, before = time;
        struct ptrace_run run = {.last = {.time = time, .schedule = {.cpu = cpu, .ready = ready, .slices = slices}}};
        bool is_on = false, is_first = true;
        for (int look = 0; look < 100; look++) {
            struct ptrace_switch found[PTRACE_RUN_SWITCHES];
            for (int part = rand() % 4; part >= 0; part--) {
                uint64_t ran = (uint64_t)rand() % 100, waited = (uint64_t)rand() % 100;
                ready += waited / 2;
                slices += waited != 0;
                cpu += ran;
                time += ran + waited;
            }
            bool is_last = look == 99;
            uint64_t late = is_last ? 0 : (uint64_t)rand() % 2 * 10;
            struct ptrace_moment now = {.time = time,
                                        .schedule = {.cpu = cpu - late, .ready = ready, .slices = slices},
                                        .asleep = !is_last && rand() % 2};
            size_t count = ptrace_run_add_moment(&run, &now, found);
            assert_true(count <= PTRACE_RUN_SWITCHES);
            for (size_t i = 0; i < count; i++) {
                assert_true(found[i].time >= before && found[i].time <= time);
                before = found[i].time;
                assert_true(is_first || found[i].out == is_on);
                if (is_on)
                    on += found[i].time - since;
                is_on = !found[i].out;
                is_first = false;
                since = found[i].time;
            }
        }
        on += is_on ? time - since : 0;
        assert_in_range(on, cpu - 50 - 10, cpu - 50); /* the last look may find no room for what was late */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_that_falls_asleep_has_run_first),
        cmocka_unit_test(test_a_wait_goes_on_while_the_thread_is_not_put_on_a_cpu),
        cmocka_unit_test(test_waits_between_two_looks_share_the_time),
        cmocka_unit_test(test_waits_without_time_are_counted),
        cmocka_unit_test(test_a_thread_that_waits_for_a_cpu_is_not_stopped),
        cmocka_unit_test(test_a_thread_that_was_woken_has_waited_for_a_cpu_before_it_ran),
        cmocka_unit_test(test_a_thread_without_a_cpu_may_have_been_woken_before_the_last_look),
        cmocka_unit_test(test_fewer_time_slices_than_before_are_no_waits),
        cmocka_unit_test(test_time_in_which_a_thread_could_have_run_is_no_wait),
        cmocka_unit_test(test_sums_are_those_of_the_scheduler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
