/* The lanes of CPUs: shares of threads per pixel, the slice at a time, and the migration before it. */
#include "support/wait_profile.h"
#include "tree/cpu_lanes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add_slice(struct thread *thread, uint32_t cpu, double start, double end, double off_cpu)
{
    struct slice_table *slices = &thread->slices;
    size_t row = slices->length++;
    slices->cpu = realloc(slices->cpu, slices->length * sizeof(*slices->cpu));
    slices->start = realloc(slices->start, slices->length * sizeof(*slices->start));
    slices->end = realloc(slices->end, slices->length * sizeof(*slices->end));
    slices->off_cpu = realloc(slices->off_cpu, slices->length * sizeof(*slices->off_cpu));
    slices->cpu[row] = cpu;
    slices->start[row] = start;
    slices->end[row] = end;
    slices->off_cpu[row] = off_cpu;
}

/* Thread 0 moves from CPU 0 to CPU 7. Thread 1 is on CPU 7 for half of 40 ms. */
static struct engine *known_engine(void)
{
    struct profile profile;
    struct error err;
    wait_profile_make(&profile);
    add_slice(&profile.threads.data[0], 0, 0, 10, 0);
    add_slice(&profile.threads.data[0], 7, 15, 20, 0);
    add_slice(&profile.threads.data[1], 7, 20, 60, 20);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    return engine;
}

static void test_pixels_have_the_shares_of_threads(void **state)
{
    (void)state;
    static const uint32_t cpus[] = {7, 3, 0};
    static const struct state_row wanted[] = {{0, STATE_THERE}, {0, 1},           {0, 0},
                                              {1, STATE_THERE}, {2, STATE_THERE}, {2, 0}};
    static const float shares[][2] = {{1, 1}, {0.25F, 0.25F}, {0.125F, 0}, {1, 1}, {1, 1}, {0.25F, 0}};
    struct engine *engine = known_engine();
    struct state_lanes lanes = {0};
    struct cpu_numbers found = {0};
    struct error err;
    assert_int_equal(list_profile_cpus(engine_get_profile(engine), &found, &err), 0);
    assert_int_equal(found.length, 2);
    assert_int_equal(found.data[1], 7);
    assert_int_equal(engine_compute_cpu_lanes(engine, cpus, 3, (struct time_range){0, 80}, 2, &lanes, &err), 0);
    assert_int_equal(lanes.rows.length, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_memory_equal(&lanes.rows.data[i], &wanted[i], sizeof(*wanted));
        for (size_t x = 0; x < 2; x++)
            assert_true(lanes.shares.data[2 * i + x] == shares[i][x]);
    }
    state_lanes_destroy(&lanes);
    array_free(&found);
    engine_free(engine);
}

static void test_more_threads_than_rows_share_the_last_row(void **state)
{
    (void)state;
    enum { THREADS = LANE_THREADS + 3 };
    static const uint32_t cpu = 0;
    struct profile profile;
    struct state_lanes lanes = {0};
    struct error err;
    wait_profile_make(&profile);
    while (profile.threads.length < THREADS)
        wait_profile_thread(&profile, "more", 0);
    for (uint32_t i = 0; i < THREADS; i++)
        add_slice(&profile.threads.data[i], 0, i < LANE_THREADS ? 2 * i : 80 + i, i < LANE_THREADS ? 2 * i + 2 : 81 + i,
                  0);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    assert_int_equal(engine_compute_cpu_lanes(engine, &cpu, 1, (struct time_range){0, 100}, 1, &lanes, &err), 0);
    assert_int_equal(lanes.rows.length, LANE_THREADS + 2);
    assert_int_equal(lanes.rows.data[LANE_THREADS + 1].state, LANE_OTHERS);
    assert_true(fabs(lanes.shares.data[LANE_THREADS + 1] - 0.03) < 1e-6);
    state_lanes_destroy(&lanes);
    engine_free(engine);
}

static void test_a_time_has_its_slice_and_the_cpu_before(void **state)
{
    (void)state;
    struct engine *engine = known_engine();
    struct cpu_place place;
    struct error err;
    assert_int_equal(engine_find_cpu_slice(engine, 7, 16, &place, &err), 0);
    assert_true(place.thread == 0 && place.start == 15 && place.end == 20 && place.off_cpu == 0);
    assert_true(place.previous_cpu == 0 && place.previous_end == 10);
    assert_int_equal(engine_find_cpu_slice(engine, 7, 59, &place, &err), 0);
    assert_true(place.thread == 1 && place.off_cpu == 20 && place.previous_cpu == PROFILE_NONE);
    assert_int_equal(engine_find_cpu_slice(engine, 7, 5, &place, &err), 0);
    assert_true(place.thread == PROFILE_NONE && isinf(place.start) && place.end == 15);
    assert_int_equal(engine_find_cpu_slice(engine, 0, 10, &place, &err), 0);
    assert_true(place.thread == PROFILE_NONE && place.start == 10 && isinf(place.end));
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels_have_the_shares_of_threads),
        cmocka_unit_test(test_more_threads_than_rows_share_the_last_row),
        cmocka_unit_test(test_a_time_has_its_slice_and_the_cpu_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
