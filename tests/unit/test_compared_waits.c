/*
 * Waits of comparisons: names without the parts that differ between runs, and the sums and intervals of rows.
 */
#include "support/wait_profile.h"

#include "profile/compare.h"
#include "tree/compared_waits.h"
#include "tree/wait_names.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RUNS = 3 };

/* ms: waits for one lock of wait_profile.h by reader, writer and, for the other lock, by writer */
static const double usual_locks[] = {40, 29.5, 30, 4};

static struct error err;

static void assert_general(const char *name, const char *wanted)
{
    char general[64];
    strip_wait_name(name, general, sizeof(general));
    assert_string_equal(general, wanted);
}

static void test_names_lose_numbers_of_one_run(void **state)
{
    (void)state;
    assert_general("read pipe:[77]", "read pipe");
    assert_general("poll socket:[1263238] unix", "poll socket unix");
    assert_general("mutex 0x7f00deadbeef", "mutex");
    assert_general("thread reader (501)", "thread reader");
    assert_general("recv socket:[5] tcp 127.0.0.1:41234 -> 127.0.0.1:80", "recv socket tcp 127.0.0.1 -> 127.0.0.1:80");
    assert_general("recv socket:[5] tcp [::1]:8080 -> [::1]:60999", "recv socket tcp [::1]:8080 -> [::1]");
}

static void test_names_keep_what_a_program_chose(void **state)
{
    (void)state;
    assert_general("mutex cache_mutex", "mutex cache_mutex");
    assert_general("condition variable pool+104", "condition variable pool+104");
    assert_general("read anon_inode:[eventpoll]", "read anon_inode:[eventpoll]");
    assert_general("disk: read /data/2026:41234", "disk: read /data/2026:41234");
    assert_general("worker-3", "worker-3");
    assert_general("(not running)", "(not running)");
    assert_general("accept socket:[5] tcp 0.0.0.0:8080, listening", "accept socket tcp 0.0.0.0:8080, listening");
}

static void test_long_names_are_cut_off(void **state)
{
    char general[6];
    (void)state;
    strip_wait_name("mutex 0x10 cache", general, sizeof(general));
    assert_string_equal(general, "mutex");
    strip_wait_name("sleeping", general, sizeof(general));
    assert_string_equal(general, "sleep");
}

/* A profile of wait_profile.h, and one more thread that waits `count` times for `ms` for a lock of its own. */
static void make_run(struct profile *profile, const char *lock, int count, double ms)
{
    struct wait_stacks stacks = wait_profile_make(profile);
    uint32_t stack = wait_profile_call(profile, stacks.store, lock, REASON_LOCK);
    struct thread *thread = wait_profile_thread(profile, "worker (1)", 0);
    for (int i = 0; i < count; i++)
        wait_profile_wait(thread, stack, i * ms, i * ms + ms, 0);
}

/* Compares runs with `count[side]` waits of `ms[side][run]`. */
static struct engine *compare_runs(int runs, const int count[PROFILE_SIDES], const double ms[PROFILE_SIDES][MOST_RUNS],
                                   double scale)
{
    struct profile profiles[PROFILE_SIDES * MOST_RUNS], compared = {0};
    struct compare_input inputs[PROFILE_SIDES * MOST_RUNS];
    size_t length = 0;
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int run = 0; run < runs; run++, length++) {
            make_run(&profiles[length], side == SIDE_BASE ? "lock 0x7f01" : "lock 0x5502", count[side], ms[side][run]);
            inputs[length] = (struct compare_input){.profile = &profiles[length],
                                                    .name = "run",
                                                    .side = (enum profile_side)side,
                                                    .from = -INFINITY,
                                                    .to = INFINITY};
        }
    assert_int_equal(profile_compare(&compared, inputs, length, 0, &err), 0);
    compared.meta.comparison.scale = scale;
    for (size_t i = 0; i < length; i++)
        profile_destroy(&profiles[i]);
    struct engine *engine = engine_new(&compared, &err);
    assert_non_null(engine);
    return engine;
}

static void find(struct compared_waits *waits, struct engine *engine, enum wait_grouping grouping)
{
    uint32_t threads[64];
    struct tree_query query = {.threads = threads, .range = whole_time, .search = ""};
    for (; query.thread_count < engine_get_profile(engine)->threads.length; query.thread_count++)
        threads[query.thread_count] = (uint32_t)query.thread_count;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(compared_waits_find(waits, engine, grouping, &err), 0);
}

static const struct compared_wait *row_of(const struct compared_waits *waits, const char *name)
{
    const struct compared_wait *row = NULL;
    for (size_t i = 0; i < waits->list.length; i++)
        if (strcmp(strings_text(&waits->names, waits->list.data[i].name), name) == 0) {
            assert_null(row);
            row = &waits->list.data[i];
        }
    assert_non_null(row);
    return row;
}

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static double sum_of_powers(int power, int count, double ms)
{
    double sum = count * pow(ms, power);
    for (size_t i = 0; i < sizeof(usual_locks) / sizeof(*usual_locks); i++)
        sum += pow(usual_locks[i], power);
    return sum;
}

static void test_locks_with_addresses_are_one_row(void **state)
{
    static const int count[] = {10, 10};
    static const double ms[PROFILE_SIDES][MOST_RUNS] = {{1}, {3}};
    struct compared_waits waits = {0};
    (void)state;
    struct engine *engine = compare_runs(1, count, ms, 1);
    find(&waits, engine, WAITS_BY_OBJECT);
    const struct compared_wait *lock = row_of(&waits, "lock");
    assert_ptr_equal(lock, &waits.list.data[0]);
    assert_near(lock->ms[SIDE_BASE], 103.5 + 10);
    assert_near(lock->ms[SIDE_NEW], 103.5 + 30);
    assert_near(lock->count[SIDE_BASE], 14);
    assert_near(lock->count[SIDE_NEW], 14);
    assert_string_equal(get_wait_reason_name(engine, lock->reason), "Lock");
    assert_near(lock->longest[SIDE_NEW].ms, 40);
    assert_int_equal(engine_get_profile(engine)->threads.data[lock->longest[SIDE_NEW].thread].side, SIDE_NEW);
    assert_near(row_of(&waits, "sleep")->ms[SIDE_NEW], row_of(&waits, "sleep")->ms[SIDE_BASE]);
    assert_near(waits.all.new - waits.all.base, 20);
    assert_false(waits.are_runs);
    compared_waits_destroy(&waits);
    find(&waits, engine, WAITS_BY_THREAD);
    const struct compared_wait *worker = row_of(&waits, "worker");
    assert_ptr_equal(worker, &waits.list.data[0]); /* the others wait longer, but have not changed */
    assert_near(worker->ms[SIDE_NEW], 30);
    compared_waits_destroy(&waits);
    engine_free(engine);
}

/* The thread "worker" waits from 0 to 30 ms, once. */
static void test_a_range_has_its_part_of_a_wait(void **state)
{
    static const struct time_range ranges[PROFILE_SIDES] = {{0, 10}, {10, 35}};
    struct profile profiles[PROFILE_SIDES], compared = {0};
    struct compare_input inputs[PROFILE_SIDES];
    struct compared_waits waits = {0};
    (void)state;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        make_run(&profiles[side], "lock 0x10", 1, 30);
        inputs[side] = (struct compare_input){.profile = &profiles[side],
                                              .name = "run",
                                              .side = (enum profile_side)side,
                                              .from = ranges[side].from,
                                              .to = ranges[side].to};
    }
    assert_int_equal(profile_compare(&compared, inputs, PROFILE_SIDES, 0, &err), 0);
    struct engine *engine = engine_new(&compared, &err);
    assert_non_null(engine);
    find(&waits, engine, WAITS_BY_THREAD);
    assert_near(row_of(&waits, "worker")->ms[SIDE_BASE], 10);
    assert_near(row_of(&waits, "worker")->ms[SIDE_NEW], 20);
    compared_waits_destroy(&waits);
    engine_free(engine);
}

static void test_one_run_has_the_interval_of_its_waits(void **state)
{
    static const int count[] = {10, 20};
    static const double ms[PROFILE_SIDES][MOST_RUNS] = {{1}, {3}};
    struct compared_waits waits = {0};
    struct side_noise sides[PROFILE_SIDES];
    (void)state;
    struct engine *engine = compare_runs(1, count, ms, 0.5);
    find(&waits, engine, WAITS_BY_OBJECT);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        double squares = sum_of_powers(2, count[side], ms[side][0]), factor = side == SIDE_NEW ? 0.5 : 1;
        double degrees = squares * squares / sum_of_powers(4, count[side], ms[side][0]) - 1;
        sides[side] = (struct side_noise){factor * sum_of_powers(1, count[side], ms[side][0]),
                                          factor * factor * squares, degrees};
    }
    struct change_estimate wanted = estimate_change_between(sides[SIDE_BASE], sides[SIDE_NEW]);
    const struct compared_wait *lock = row_of(&waits, "lock");
    const struct change_estimate *change = get_wait_change(&waits, lock);
    assert_non_null(change);
    assert_near(lock->ms[SIDE_NEW], (103.5 + 60) / 2);
    assert_near(lock->count[SIDE_NEW], 12);
    assert_near(change->low, wanted.low);
    assert_near(change->high, wanted.high);
    assert_true(change->is_noise);
    compared_waits_destroy(&waits);
    engine_free(engine);
}

static struct engine *make_sampled(int count)
{
    struct profile profile;
    make_run(&profile, "lock 0x10", count, 1);
    struct sample_table *samples = &profile.threads.data[profile.threads.length - 1].samples;
    for (size_t i = 1; i < samples->length; i += 2)
        samples->weight[i] += 4; /* of four unseen waits */
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    return engine;
}

static void test_unseen_waits_widen_the_interval(void **state)
{
    static const int count[PROFILE_SIDES] = {10, 12};
    struct profile profiles[PROFILE_SIDES], compared = {0};
    struct compare_input inputs[PROFILE_SIDES];
    struct side_noise sides[PROFILE_SIDES];
    struct compared_waits waits = {0};
    (void)state;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        static const uint32_t worker[] = {3};
        const struct tree_query query = {.threads = worker, .thread_count = 1, .range = whole_time, .search = ""};
        struct wait_groups groups = {0};
        struct engine *alone = make_sampled(count[side]);
        assert_int_equal(engine_set_query(alone, &query, &err), 0);
        assert_int_equal(engine_group_waits(alone, WAITS_BY_THREAD, &groups, &err), 0);
        double error = groups.list.data[0].total_error / 1.96;
        assert_true(error > 0);
        sides[side] = (struct side_noise){5 * count[side], 5 * count[side] + error * error, 5 * count[side] - 1};
        wait_groups_destroy(&groups);
        engine_return_profile(alone, &profiles[side]);
        inputs[side] = (struct compare_input){&profiles[side], "run", (enum profile_side)side, -INFINITY, INFINITY};
    }
    assert_int_equal(profile_compare(&compared, inputs, PROFILE_SIDES, 0, &err), 0);
    struct engine *engine = engine_new(&compared, &err);
    assert_non_null(engine);
    find(&waits, engine, WAITS_BY_THREAD);
    struct change_estimate wanted = estimate_change_between(sides[SIDE_BASE], sides[SIDE_NEW]);
    assert_near(get_wait_change(&waits, row_of(&waits, "worker"))->high, wanted.high);
    compared_waits_destroy(&waits);
    engine_free(engine);
}

static void test_many_waits_exceed_noise_and_equal_runs_do_not(void **state)
{
    static const int counts[][PROFILE_SIDES] = {{90, 30}, {40, 40}};
    static const double ms[PROFILE_SIDES][MOST_RUNS] = {{1}, {1}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct compared_waits waits = {0};
        struct engine *engine = compare_runs(1, counts[i], ms, 1);
        find(&waits, engine, WAITS_BY_THREAD);
        const struct change_estimate *change = get_wait_change(&waits, row_of(&waits, "worker"));
        assert_non_null(change);
        assert_int_equal(change->is_noise, i == 1);
        assert_true(get_wait_change(&waits, row_of(&waits, "main"))->is_noise);
        compared_waits_destroy(&waits);
        engine_free(engine);
    }
}

static void test_runs_have_the_interval_of_their_totals(void **state)
{
    static const int count[] = {2, 2};
    static const double ms[PROFILE_SIDES][MOST_RUNS] = {{9.5, 10, 10.5}, {29, 30, 31}};
    struct compared_waits waits = {0};
    (void)state;
    struct engine *engine = compare_runs(3, count, ms, 2);
    find(&waits, engine, WAITS_BY_THREAD);
    const struct compared_wait *worker = row_of(&waits, "worker");
    const struct noise_units base = {(double[]){19, 20, 21}, 3, true, 0};
    const struct noise_units new = {(double[]){116, 120, 124}, 3, true, 0};
    struct change_estimate wanted = estimate_change(&base, &new);
    const struct change_estimate *change = get_wait_change(&waits, worker);
    assert_true(waits.are_runs);
    assert_near(worker->ms[SIDE_BASE], 20);
    assert_near(worker->ms[SIDE_NEW], 120);
    assert_near(worker->count[SIDE_BASE], 2);
    assert_near(change->low, wanted.low);
    assert_near(change->high, wanted.high);
    assert_false(change->is_noise);
    compared_waits_destroy(&waits);
    engine_free(engine);
}

static void test_profiles_alone_and_stacks_are_refused(void **state)
{
    static const int count[] = {1, 1};
    static const double ms[PROFILE_SIDES][MOST_RUNS] = {{1}, {1}};
    struct compared_waits waits = {0};
    struct profile profile;
    (void)state;
    struct engine *engine = compare_runs(1, count, ms, 1);
    assert_int_equal(compared_waits_find(&waits, engine, WAITS_BY_STACK, &err), -EINVAL);
    assert_int_equal(compared_waits_find(&waits, engine, WAITS_BY_OBJECT_AND_WAKER, &err), -EINVAL);
    engine_free(engine);
    wait_profile_make(&profile);
    engine = engine_new(&profile, &err);
    assert_non_null(engine);
    assert_int_equal(compared_waits_find(&waits, engine, WAITS_BY_OBJECT, &err), -EINVAL);
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_lose_numbers_of_one_run),
        cmocka_unit_test(test_names_keep_what_a_program_chose),
        cmocka_unit_test(test_long_names_are_cut_off),
        cmocka_unit_test(test_locks_with_addresses_are_one_row),
        cmocka_unit_test(test_a_range_has_its_part_of_a_wait),
        cmocka_unit_test(test_one_run_has_the_interval_of_its_waits),
        cmocka_unit_test(test_unseen_waits_widen_the_interval),
        cmocka_unit_test(test_many_waits_exceed_noise_and_equal_runs_do_not),
        cmocka_unit_test(test_runs_have_the_interval_of_their_totals),
        cmocka_unit_test(test_profiles_alone_and_stacks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
