/*
 * The waits for one lock, on a profile in which the time that each thread holds the lock is known.
 */
#include "support/wait_profile.h"
#include "tree/object_waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

enum { A = 3, B, C }; /* wait_profile_make() has three threads */

static struct engine *engine_of(struct profile *profile, struct time_range range)
{
    static const uint32_t threads[] = {A, B, C, A};
    struct error err;
    struct engine *engine = engine_new(profile, &err);
    const struct tree_query query = {
        .threads = threads, .thread_count = 4, .range = range, .search = "", .weight = WEIGH_CPU_TIME};
    assert_non_null(engine);
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    return engine;
}

/* Thread A runs in store() and releases a lock at 40 ms, for which B waits since 10 ms, and C since 20 ms. B releases
 * the lock at 60 ms. */
static struct engine *known_engine(struct time_range range)
{
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    uint32_t idle = find_idle_category(&profile);
    profile.categories.data[idle].subcategories.data[REASON_LOCK] = strings_add_z(&profile.strings, "Mutex");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"worker", "worker", "other"};
        struct thread *thread = wait_profile_thread(&profile, names[i], 0);
        assert_true(samples_give_waker(&thread->samples));
    }
    struct thread *threads = profile.threads.data;
    for (int time = 1; time <= 100; time++)
        wait_profile_run(&threads[A], stacks.store, time, 1);
    wait_profile_wait(&threads[B], stacks.lookup_lock_a, 10, 40, 10);
    wait_profile_run(&threads[B], stacks.lookup, 100, 60);
    wait_profile_wait(&threads[C], stacks.lookup_lock_a, 20, 60, 20);
    wait_profile_run(&threads[C], stacks.lookup, 100, 40);
    threads[B].samples.waker[1] = strings_add_z(&profile.strings, "worker (103)");
    threads[B].samples.waker_stack[1] = stacks.store;
    threads[C].samples.waker[1] = strings_add_z(&profile.strings, "worker (104)");
    threads[C].samples.waker_stack[1] = stacks.store;
    return engine_of(&profile, range);
}

static uint32_t object_of(const struct engine *engine, const char *name)
{
    const struct profile *profile = engine_get_profile(engine);
    for (uint32_t func = 0; func < profile->funcs.length; func++)
        if (strcmp(profile_text(profile, profile->funcs.name[func]), name) == 0)
            return func;
    return PROFILE_NONE;
}

static const char *name_of(const struct engine *engine, uint32_t func)
{
    return func == PROFILE_NONE
               ? ""
               : profile_text(engine_get_profile(engine), engine_get_profile(engine)->funcs.name[func]);
}

static void test_rows_have_the_waiting_and_the_holding_functions(void **state)
{
    struct engine *engine = known_engine(whole_time);
    struct object_waits waits = {0};
    struct error err;
    (void)state;
    assert_int_equal(object_waits_find(&waits, engine, object_of(engine, "lock 0x1000"), &err), 0);
    assert_true(waits.total == 30 + 40 && waits.count == 2 && waits.longest == 40);
    assert_int_equal(waits.reason, REASON_LOCK);
    assert_false(waits.is_estimated);
    assert_int_equal(waits.waiters.length, 1);
    const struct site_waits *row = &waits.waiters.data[0];
    assert_string_equal(name_of(engine, row->site.place.func), "lookup");
    assert_string_equal(name_of(engine, row->site.callers[0]), "work");
    assert_true(row->threads == 2 && row->thread == C && row->from == 20 && row->to == 60);
    assert_true(isnan(row->held));
    assert_int_equal(waits.wakers.length, 1); /* two threads of one name */
    row = &waits.wakers.data[0];
    assert_string_equal(name_of(engine, row->site.place.func), "store");
    assert_true(row->threads == 2 && row->total == 70);
    assert_true(row->held == (30 + 20) / 2.0); /* since 10 ms, when B begins to wait; since 40 ms */
    object_waits_destroy(&waits);
    engine_free(engine);
}

static void test_steps_have_the_number_of_waiting_threads(void **state)
{
    struct engine *engine = known_engine((struct time_range){0, 60});
    struct object_waits waits = {0};
    struct error err;
    (void)state;
    assert_int_equal(object_waits_find(&waits, engine, object_of(engine, "lock 0x1000"), &err), 0);
    for (int i = 0; i < OBJECT_WAITS_STEPS; i++) /* of 1 ms */
        assert_true(fabs(waits.waiting[i] - (i >= 10 && i < 40) - (i >= 20)) < 1e-9);
    object_waits_destroy(&waits);
    engine_free(engine);
}

static void test_steps_have_at_most_the_threads_that_wait(void **state)
{
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    struct thread *thread = wait_profile_thread(&profile, "one", 0);
    struct object_waits waits = {0};
    struct error err;
    (void)state;
    wait_profile_wait(thread, stacks.lookup_lock_a, 80, 90, 20);
    thread->samples.weight[1] += 10; /* unseen waits, of which some may be after 90 ms in the estimate */
    wait_profile_wait(thread, stacks.lookup_lock_a, 90, 100, 0);
    thread->samples.weight[3] += 20;
    struct engine *engine = engine_new(&profile, &err);
    const uint32_t number = 3;
    const struct tree_query query = {
        .threads = &number, .thread_count = 1, .range = whole_time, .search = "", .weight = WEIGH_CPU_TIME};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(object_waits_find(&waits, engine, object_of(engine, "lock 0x1000"), &err), 0);
    assert_true(waits.total > 45 && waits.waiting[58] == 1);
    object_waits_destroy(&waits);
    engine_free(engine);
}

static void test_parts_have_the_work_of_the_holder(void **state)
{
    struct engine *engine = known_engine(whole_time);
    struct object_waits waits = {0};
    struct error err;
    (void)state;
    assert_int_equal(object_waits_find(&waits, engine, object_of(engine, "lock 0x1000"), &err), 0);
    assert_string_equal(name_of(engine, waits.meanwhile.data[0].func), "store");
    assert_true(waits.meanwhile.data[0].ms == 30 + 20 + 20); /* A for 30 and 20 ms, then B in lookup() */
    object_waits_destroy(&waits);
    engine_free(engine);
}

static void test_the_name_of_a_waker_ends_before_its_number(void **state)
{
    (void)state;
    assert_int_equal(measure_waker_name("worker-2 (1234)"), strlen("worker-2"));
    assert_int_equal(measure_waker_name("a (3) (4), in a soft interrupt"), strlen("a (3)"));
    assert_int_equal(measure_waker_name("interrupt"), strlen("interrupt"));
    assert_int_equal(measure_waker_name("Xorg (77), not recorded"), strlen("Xorg (77), not recorded"));
}

/* The base has one run with a wait of 10 ms, the new side two runs with waits of 30 and 50 ms. Each of these waits
 * stands for another of its length. In each run, the thread is runnable for 5 ms. */
static void test_the_waits_of_a_side_of_a_comparison_are_the_mean_of_its_runs(void **state)
{
    static const double means[] = {[SIDE_BASE] = 10, [SIDE_NEW] = 40}, lengths[] = {10, 30, 50};
    static const enum compared sides[] = {[SIDE_BASE] = COMPARED_BASE, [SIDE_NEW] = COMPARED_NEW};
    static const uint32_t threads[] = {A, B, C};
    struct profile profile;
    struct error err;
    (void)state;
    struct wait_stacks stacks = wait_profile_make(&profile);
    profile.meta.comparison = (struct profile_comparison){.runs = {1, 2}, .scale = 1, .scaled_by = PROFILE_NONE};
    for (uint8_t i = 0; i < 3; i++) {
        struct thread *thread = wait_profile_thread(&profile, "worker", 0);
        assert_true(samples_give_waker(&thread->samples));
        thread->side = i > 0 ? SIDE_NEW : SIDE_BASE;
        thread->run = i > 1;
        wait_profile_wait(thread, stacks.lookup_lock_a, 0, lengths[i], 0);
        thread->samples.weight[1] = 2 * lengths[i];
        thread->samples.waker[1] = strings_add_z(&profile.strings, "interrupt");
        wait_profile_wait(thread, stacks.lookup_runnable, 90, 95, 0);
        thread->samples.weight[3] = 5;
        wait_profile_run(thread, stacks.lookup, 100, 1);
    }
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        struct object_waits waits = {0}, only_waiters = {0};
        struct wait_groups groups = {0};
        const struct tree_query query = {.threads = threads,
                                         .thread_count = 3,
                                         .range = whole_time,
                                         .search = "",
                                         .weight = WEIGH_CPU_TIME,
                                         .compared = sides[side]};
        assert_int_equal(engine_set_query(engine, &query, &err), 0);
        uint32_t lock = object_of(engine, "lock 0x1000");
        assert_int_equal(object_waits_find(&waits, engine, lock, &err), 0);
        assert_int_equal(object_waits_find_waiters(&only_waiters, engine, lock, &err), 0);
        const struct site_waits *rows[] = {waits.waiters.data, waits.wakers.data, only_waiters.waiters.data};
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
            assert_true(fabs(rows[i]->total - 2 * means[side]) < 1e-6 && fabs(rows[i]->count - 2) < 1e-6);
        assert_true(fabs(waits.total - 2 * means[side]) < 1e-6 && fabs(waits.count - 2) < 1e-6);
        assert_true(fabs(waits.there - 100) < 1e-6 && fabs(waits.waiting[0] - 1) < 1e-6);
        object_waits_destroy(&waits);
        object_waits_destroy(&only_waiters);
        assert_int_equal(engine_group_waits(engine, WAITS_BY_OBJECT, &groups, &err), 0);
        const struct wait_group *group = &groups.list.data[0], *runnable = &groups.list.data[1];
        const struct wait_totals *totals = &groups.totals;
        assert_true(fabs(group->total - 2 * means[side]) < 1e-6 && fabs(group->total_error - means[side]) < 1e-6);
        assert_true(fabs(group->count - 2) < 1e-6 && fabs(group->count_error - 1) < 1e-6);
        assert_true(fabs(group->there - 100) < 1e-6 && fabs(runnable->runnable - 5) < 1e-6);
        assert_true(fabs(totals->waited - 2 * means[side] - 5) < 1e-6 && fabs(totals->runnable - 5) < 1e-6);
        assert_true(fabs(totals->there - 100) < 1e-6 && fabs(totals->count - 3) < 1e-6);
        wait_groups_destroy(&groups);
    }
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_waits_of_a_side_of_a_comparison_are_the_mean_of_its_runs),
        cmocka_unit_test(test_rows_have_the_waiting_and_the_holding_functions),
        cmocka_unit_test(test_steps_have_the_number_of_waiting_threads),
        cmocka_unit_test(test_steps_have_at_most_the_threads_that_wait),
        cmocka_unit_test(test_parts_have_the_work_of_the_holder),
        cmocka_unit_test(test_the_name_of_a_waker_ends_before_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
