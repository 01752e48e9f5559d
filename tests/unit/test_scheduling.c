/* The recorder thread gets real-time priority and returns to its old policy; it moves to the CPU of deep stacks, and
 * only there. */
#include "os/scheduling.h"
#include "sample/cpu_pin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static cpu_set_t now_allowed(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    return set;
}

static uint32_t first_cpu(const cpu_set_t *set)
{
    uint32_t cpu = 0;
    while (!CPU_ISSET(cpu, set))
        cpu++;
    return cpu;
}

/* Of a thread that stays on that CPU. */
static void see_deep_stacks(struct cpu_pin *pin, uint32_t cpu, unsigned count, uint64_t *time)
{
    for (unsigned i = 0; i < count; i++) {
        *time += MS;
        cpu_pin_count_deep_stack(pin, cpu, 1000 + cpu, *time);
        cpu_pin_choose(pin, *time);
    }
}

static void assert_runs_on(uint32_t cpu)
{
    cpu_set_t set = now_allowed();
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET(cpu, &set));
}

static void test_deep_stacks_of_one_cpu_pin_to_it_and_their_end_releases(void **state)
{
    (void)state;
    struct cpu_pin pin;
    uint64_t time = 1000 * MS;
    cpu_set_t before = now_allowed();
    cpu_pin_init(&pin);
    see_deep_stacks(&pin, first_cpu(&before), 10, &time);
    assert_runs_on(first_cpu(&before));
    cpu_pin_choose(&pin, time + 100 * MS);
    assert_runs_on(first_cpu(&before));
    cpu_pin_choose(&pin, time + 1000 * MS);
    cpu_set_t after = now_allowed();
    assert_true(CPU_EQUAL(&before, &after));
}

static void test_deep_stacks_of_two_cpus_in_turns_move_nothing(void **state)
{
    (void)state;
    struct cpu_pin pin;
    uint64_t time = 1000 * MS;
    cpu_set_t before = now_allowed();
    if (CPU_COUNT(&before) < 2)
        skip();
    cpu_set_t others = before;
    uint32_t one = first_cpu(&before);
    CPU_CLR(one, &others);
    uint32_t other = first_cpu(&others);
    cpu_pin_init(&pin);
    for (unsigned i = 0; i < 20; i++)
        see_deep_stacks(&pin, i % 2 ? one : other, 1, &time);
    cpu_set_t during = now_allowed();
    assert_true(CPU_EQUAL(&before, &during));
    see_deep_stacks(&pin, other, 10, &time);
    for (unsigned i = 0; i < 20; i++)
        see_deep_stacks(&pin, i % 2 ? one : other, 1, &time);
    assert_runs_on(other);
    see_deep_stacks(&pin, one, 10, &time);
    assert_runs_on(one);
    cpu_pin_release(&pin);
    cpu_set_t after = now_allowed();
    assert_true(CPU_EQUAL(&before, &after));
}

static void test_a_thread_that_moves_is_followed_at_once(void **state)
{
    (void)state;
    struct cpu_pin pin;
    uint64_t time = 1000 * MS;
    cpu_set_t before = now_allowed();
    if (CPU_COUNT(&before) < 2)
        skip();
    cpu_set_t others = before;
    uint32_t one = first_cpu(&before);
    CPU_CLR(one, &others);
    uint32_t other = first_cpu(&others), moving = 1000 + one;
    cpu_pin_init(&pin);
    see_deep_stacks(&pin, one, 10, &time);
    assert_runs_on(one);
    cpu_pin_count_deep_stack(&pin, other, moving + CPU_SETSIZE, time += MS); /* another thread */
    cpu_pin_choose(&pin, time);
    assert_runs_on(one);
    cpu_pin_count_deep_stack(&pin, other, moving, time += MS);
    cpu_pin_choose(&pin, time);
    assert_runs_on(other);
    cpu_pin_count_deep_stack(&pin, one, moving, time += MS);
    cpu_pin_choose(&pin, time);
    assert_runs_on(one);
    cpu_pin_release(&pin);
}

static void test_a_cpu_that_is_not_there_is_not_taken(void **state)
{
    (void)state;
    struct cpu_pin pin;
    uint64_t time = 1000 * MS;
    cpu_set_t before = now_allowed();
    cpu_pin_init(&pin);
    see_deep_stacks(&pin, CPU_SETSIZE - 1, 10, &time);
    see_deep_stacks(&pin, UINT32_MAX, 10, &time);
    cpu_set_t after = now_allowed();
    assert_true(CPU_EQUAL(&before, &after));
}

static void test_a_cpu_that_the_user_has_taken_away_is_not_taken_back(void **state)
{
    (void)state;
    struct cpu_pin pin;
    uint64_t time = 1000 * MS;
    cpu_set_t before = now_allowed(), others = before;
    if (CPU_COUNT(&before) < 2)
        skip();
    CPU_CLR(first_cpu(&before), &others);
    assert_int_equal(sched_setaffinity(0, sizeof(others), &others), 0);
    cpu_pin_init(&pin);
    see_deep_stacks(&pin, first_cpu(&before), 10, &time);
    cpu_set_t after = now_allowed();
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_true(CPU_EQUAL(&others, &after));
}

static void test_policy_is_restored_as_it_was(void **state)
{
    (void)state;
    struct scheduling_policy before;
    static const struct sched_param none = {.sched_priority = 0};
    int nice_before = getpriority(PRIO_PROCESS, 0) + 3;
    assert_int_equal(setpriority(PRIO_PROCESS, 0, nice_before), 0);
    assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    bool is_realtime = scheduling_raise(&before);
    assert_int_equal(sched_getscheduler(0), is_realtime ? SCHED_FIFO : SCHED_OTHER);
    scheduling_restore(&before);
    assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
    assert_int_equal(before.size, 0); /* nothing is left to restore */
    /* back to a nice value that is worse than the raised one needs no right */
    assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_before);
    sched_setscheduler(0, SCHED_OTHER, &none);
}

static void test_real_time_policy_is_left_alone(void **state)
{
    (void)state;
    struct scheduling_policy before;
    if (sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 2}) != 0)
        skip();
    scheduling_raise(&before);
    int raised = sched_getscheduler(0);
    scheduling_restore(&before);
    int restored = sched_getscheduler(0);
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    assert_int_equal(raised, SCHED_RR);
    assert_int_equal(restored, SCHED_RR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_is_restored_as_it_was),
        cmocka_unit_test(test_real_time_policy_is_left_alone),
        cmocka_unit_test(test_deep_stacks_of_one_cpu_pin_to_it_and_their_end_releases),
        cmocka_unit_test(test_deep_stacks_of_two_cpus_in_turns_move_nothing),
        cmocka_unit_test(test_a_thread_that_moves_is_followed_at_once),
        cmocka_unit_test(test_a_cpu_that_is_not_there_is_not_taken),
        cmocka_unit_test(test_a_cpu_that_the_user_has_taken_away_is_not_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
