/*
 * The lanes of thread states: the sums of reasons are those of the groups of waits, on a profile with known waits and
 * on random profiles, and pixels add up to the sums.
 */
#include "slow_tree_check.h"

#include "support/wait_profile.h"
#include "tree/state_lanes.h"
#include "tree/wait_groups.h"

enum { PROFILES = 1000, WIDTH = 37, MOST_STATES = 64 };

enum { MAIN, READER, WRITER };

static struct engine *known_engine(void)
{
    struct profile profile;
    struct error err;
    wait_profile_make(&profile);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    return engine;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * (1 + fabs(a) + fabs(b));
}

/* The waits of the threads by reason, as `prof report --waits` has them, against the sums of the states. */
static void check_sums(struct engine *engine, const uint32_t *threads, size_t count, struct time_range range)
{
    const struct tree_query query = {
        .threads = threads, .thread_count = count, .range = range, .weight = WEIGH_OFF_CPU_TIME};
    uint32_t states = count_thread_states(engine_get_profile(engine));
    struct wait_groups groups = {0};
    double sums[MOST_STATES], waited = 0;
    struct error err;
    assert_true(states <= MOST_STATES);
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(engine_group_waits(engine, WAITS_BY_REASON, &groups, &err), 0);
    assert_int_equal(engine_sum_states(engine, threads, count, range, sums, &err), 0);
    bool is_whole = range.from == -INFINITY;
    for (size_t i = 0; i < groups.list.length; i++) {
        const struct wait_group *group = &groups.list.data[i];
        if (group->key != PROFILE_NONE)
            assert_true(is_near(group->total, sums[STATE_REASONS + group->key]));
        waited += group->key != PROFILE_NONE ? group->total : 0;
        /* In a part of a gap without a row, the waits are those after the CPU time. */
        assert_true(group->key != PROFILE_NONE || !is_whole || is_near(group->total, sums[states - 1]));
    }
    for (uint32_t state = STATE_REASONS; state + 1 < states; state++)
        waited -= sums[state];
    assert_true(fabs(waited) < 1e-2);
    wait_groups_destroy(&groups);
}

static void test_sums_are_those_of_the_waits(void **state)
{
    const uint32_t threads[] = {MAIN, READER, WRITER};
    struct engine *engine = known_engine();
    double sums[MOST_STATES];
    struct error err;
    (void)state;
    check_sums(engine, threads, 3, whole_time);
    check_sums(engine, threads, 3, (struct time_range){20, 55.5});
    assert_int_equal(engine_sum_states(engine, &threads[WRITER], 1, whole_time, sums, &err), 0);
    assert_true(sums[STATE_REASONS + REASON_LOCK] == 34);
    assert_true(is_near(sums[STATE_REASONS + REASON_OTHER], 40)); /* 30, and 10 that it stands for */
    assert_true(sums[STATE_RUNNING] == 6);
    /* 10 ms of unseen waits before 90 ms: half of them in the last 5 ms */
    assert_int_equal(engine_sum_states(engine, &threads[WRITER], 1, (struct time_range){85, 90}, sums, &err), 0);
    assert_true(is_near(sums[STATE_REASONS + REASON_OTHER], 5 + 5));
    engine_free(engine);
}

static const float *row_of(const struct state_lanes *lanes, uint32_t lane, uint32_t state)
{
    for (size_t row = 0; row < lanes->rows.length; row++)
        if (lanes->rows.data[row].lane == lane && lanes->rows.data[row].state == state)
            return lanes->shares.data + row * (lanes->shares.length / lanes->rows.length);
    return NULL;
}

static void test_each_pixel_has_the_states_of_its_time(void **state)
{
    /* lanes: reader; main and writer */
    const uint32_t threads[] = {READER, MAIN, WRITER}, ends[] = {1, 3};
    struct engine *engine = known_engine();
    struct state_lanes lanes = {0};
    struct error err;
    (void)state;
    const struct state_lanes_query query = {threads, ends, 2, {0, 100}, 50};
    assert_int_equal(engine_compute_state_lanes(engine, &query, &lanes, &err), 0);
    const float *running = row_of(&lanes, 0, STATE_RUNNING), *lock = row_of(&lanes, 0, STATE_REASONS + REASON_LOCK);
    const float *ready = row_of(&lanes, 0, STATE_REASONS + REASON_RUNNABLE);
    assert_true(running[0] == 1 && running[4] == 1 && running[10] == 0);
    assert_true(lock[5] == 0.875f && lock[10] == 1 && lock[26] == 0);
    assert_true(ready[26] == 1 && ready[29] == 1 && ready[30] == 0);
    /* It stands for 0.5 ms before it, which the thread waited from 51.5 ms on. */
    assert_true(ready[25] == 0.25f);
    double sum = 0;
    for (int x = 0; x < 50; x++)
        sum += 2 * ready[x];
    assert_true(sum == 8.5);
    assert_true(row_of(&lanes, 1, STATE_THERE)[0] == 1 && row_of(&lanes, 1, STATE_THERE)[10] == 2);
    assert_true(row_of(&lanes, 1, STATE_REASONS + REASON_SLEEP)[10] == 1);
    assert_true(row_of(&lanes, 1, STATE_REASONS + REASON_LOCK)[20] == 1);
    assert_null(row_of(&lanes, 1, STATE_REASONS + REASON_DISK));
    state_lanes_destroy(&lanes);
    engine_free(engine);
}

static void test_longest_wait_of_a_state_is_found(void **state)
{
    struct engine *engine = known_engine();
    (void)state;
    double time = engine_find_longest_wait(engine, READER, STATE_REASONS + REASON_LOCK, (struct time_range){48, 80});
    assert_true(time == (70.5 + 80) / 2);
    assert_true(isnan(engine_find_longest_wait(engine, READER, STATE_REASONS + REASON_DISK, whole_time)));
    /* Of a wait that contains the range, the middle of the range. */
    time = engine_find_longest_wait(engine, MAIN, STATE_REASONS + REASON_SLEEP, (struct time_range){98.5, 98.75});
    assert_true(time == 98.625);
    engine_free(engine);
}

static void test_longest_wait_of_a_state_may_follow_the_range(void **state)
{
    struct profile profile;
    struct error err;
    (void)state;
    struct wait_stacks stacks = wait_profile_make(&profile);
    struct thread *thread = wait_profile_thread(&profile, "short", 0);
    wait_profile_wait(thread, stacks.sleep, 10, 10.25, 0);
    thread->samples.weight[thread->samples.length - 1] = 5; /* the unseen waits begin at 5.5 ms */
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    double time = engine_find_longest_wait(engine, 3, STATE_REASONS + REASON_SLEEP, (struct time_range){6, 7});
    assert_true(time == (10 + 10.25) / 2);
    engine_free(engine);
}

static void test_lanes_of_many_threads_have_the_same_sums(void **state)
{
    enum { THREADS = 40, PIXELS = 50 };
    uint32_t threads[THREADS], count = THREADS;
    struct engine *engine = known_engine();
    struct state_lanes lanes = {0};
    struct error err;
    double sum = 0;
    (void)state;
    for (int i = 0; i < THREADS; i++)
        threads[i] = READER;
    const struct state_lanes_query query = {threads, &count, 1, {0, 100}, PIXELS};
    assert_int_equal(engine_compute_state_lanes(engine, &query, &lanes, &err), 0);
    const float *running = row_of(&lanes, 0, STATE_RUNNING);
    for (int x = 0; x < PIXELS; x++)
        sum += 2 * running[x];
    assert_true(is_near(sum, THREADS * (10.25 + 1.25 + 10.5)));
    state_lanes_destroy(&lanes);
    engine_free(engine);
}

static void check_pixels(struct engine *engine, const uint32_t *threads, uint32_t count, struct time_range range)
{
    const struct state_lanes_query query = {threads, &count, 1, range, WIDTH};
    struct state_lanes lanes = {0};
    double sums[MOST_STATES], pixel = (range.to - range.from) / WIDTH, waits = 0, all = 0;
    struct error err;
    assert_int_equal(engine_sum_states(engine, threads, count, range, sums, &err), 0);
    assert_int_equal(engine_compute_state_lanes(engine, &query, &lanes, &err), 0);
    for (uint32_t i = 0; i < count_thread_states(engine_get_profile(engine)); i++) {
        const float *shares = row_of(&lanes, 0, i);
        double sum = 0;
        for (int x = 0; shares && x < WIDTH; x++)
            sum += shares[x] * pixel;
        assert_true(sum < sums[i] + 1e-4 * (1 + sums[i]));
        assert_true(i != STATE_RUNNING || fabs(sum - sums[i]) < 1e-4 * (1 + sums[i]));
        waits += i == STATE_RUNNING ? 0 : sum;
        all += i == STATE_RUNNING ? 0 : sums[i];
    }
    const float *there = row_of(&lanes, 0, STATE_THERE), *running = row_of(&lanes, 0, STATE_RUNNING);
    double room = 0;
    for (int x = 0; there && x < WIDTH; x++)
        room += fmax(0, there[x] - (running ? running[x] : 0)) * pixel;
    assert_true(waits <= all + 1e-3 && waits <= room + 1e-3);
    state_lanes_destroy(&lanes);
}

static void test_sums_of_random_profiles(void **state)
{
    size_t checked = 0;
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct time_range full = engine_get_full_range(engine);
        uint32_t threads[64], count = (uint32_t)(reference.threads.length < 64 ? reference.threads.length : 64);
        for (uint32_t i = 0; i < count; i++)
            threads[i] = i;
        double length = full.to - full.from;
        const struct time_range part = {full.from + 0.3 * length, full.from + 0.8 * length};
        check_sums(engine, threads, count, whole_time);
        if (length > 0) {
            check_sums(engine, threads, count, part);
            check_pixels(engine, threads, count, part);
        }
        checked += engine_has_waits(engine);
        engine_free(engine);
        profile_destroy(&reference);
    }
    assert_true(checked > PROFILES / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_the_waits),
        cmocka_unit_test(test_each_pixel_has_the_states_of_its_time),
        cmocka_unit_test(test_longest_wait_of_a_state_is_found),
        cmocka_unit_test(test_longest_wait_of_a_state_may_follow_the_range),
        cmocka_unit_test(test_lanes_of_many_threads_have_the_same_sums),
        cmocka_unit_test(test_sums_of_random_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
