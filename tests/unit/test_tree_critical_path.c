/*
 * The critical path: on profiles whose path is known, and on random ones, where it tiles the range.
 */
#include "random_profile.h"

#include "support/wait_profile.h"
#include "tree/path_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { FIRST = 3, PROFILES = 3000, LONG_ROWS = 500000 }; /* wait_profile_make() has three threads */

/* A profile with further threads A, B and C, whose numbers are 103, 104 and 105. */
enum { A = FIRST, B, C };

struct scene {
    struct profile profile;
    struct wait_stacks stacks;
    struct critical_path path;
};

static void begin(struct scene *scene)
{
    *scene = (struct scene){0};
    scene->stacks = wait_profile_make(&scene->profile);
}

static struct thread *add_thread(struct scene *scene, const char *name, double start)
{
    struct thread *thread = wait_profile_thread(&scene->profile, name, start);
    assert_true(samples_give_waker(&thread->samples));
    return thread;
}

/* Runs with the CPU time of one ms per row. */
static void run(struct thread *thread, uint32_t stack, double from, double to)
{
    for (double time = from + 1; time <= to; time++)
        wait_profile_run(thread, stack, time, 1);
}

static void wait_for(struct scene *scene, struct thread *thread, uint32_t stack, double from, double to,
                     const char *waker)
{
    wait_profile_wait(thread, stack, from, to, 0);
    if (waker)
        thread->samples.waker[thread->samples.length - 1] = strings_add_z(&scene->profile.strings, waker);
}

static void find(struct scene *scene, uint32_t thread, double from, double to)
{
    struct error err;
    assert_int_equal(critical_path_find(&scene->path, &scene->profile, thread, (struct time_range){from, to}, &err), 0);
}

static void check_tiles(const struct critical_path *path, double from, double to)
{
    double time = from;
    for (size_t i = 0; i < path->length; i++) {
        assert_true(path->data[i].from == time);
        assert_true(path->data[i].to > time);
        time = path->data[i].to;
    }
    assert_true(time == to);
}

static double sum_of(const struct critical_path *path, uint32_t thread, enum path_state state)
{
    double sum = 0;
    for (size_t i = 0; i < path->length; i++)
        if (path->data[i].thread == thread && path->data[i].state == state)
            sum += path->data[i].to - path->data[i].from;
    return sum;
}

static void end(struct scene *scene)
{
    array_free(&scene->path);
    profile_destroy(&scene->profile);
}

/* ---- known paths ---- */

static void test_a_chain_of_waits_leads_to_its_last_thread(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    run(a, scene.stacks.main, 0, 10);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 60, "b (104)");
    run(a, scene.stacks.work, 60, 100);
    struct thread *b = add_thread(&scene, "b", 0);
    run(b, scene.stacks.main, 0, 5);
    wait_for(&scene, b, scene.stacks.store_lock_b, 5, 40, "c (105)");
    run(b, scene.stacks.store, 40, 100);
    run(add_thread(&scene, "c", 0), scene.stacks.lookup, 0, 100);
    find(&scene, A, 0, 100);
    check_tiles(&scene.path, 0, 100);
    assert_true(sum_of(&scene.path, A, PATH_RUNS) == 40);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 20);
    assert_true(sum_of(&scene.path, C, PATH_RUNS) == 40);
    assert_int_equal(scene.path.data[4].waiter, PROFILE_NONE); /* c runs before b waits */
    const struct path_segment *in_c = &scene.path.data[5];
    assert_true(in_c->from == 5);
    assert_int_equal(in_c->waiter, B);
    assert_int_equal(in_c->waited_for, scene.stacks.store_lock_b);
    assert_int_equal(in_c->stack, scene.stacks.lookup);
    find(&scene, A, 45, 70);
    check_tiles(&scene.path, 45, 70);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 15);
    end(&scene);
}

/* Unseen waits have a weight of 0. Without a waker, their time is unseen. */
static void test_an_unseen_wait_leads_to_its_waker(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 0, 60, "b (104)");
    a->samples.weight[a->samples.length - 1] = 0;
    run(a, scene.stacks.work, 60, 100);
    struct thread *b = add_thread(&scene, "b", 0);
    wait_for(&scene, b, scene.stacks.store_lock_b, 0, 20, NULL);
    b->samples.weight[b->samples.length - 1] = 0;
    run(b, scene.stacks.store, 20, 100);
    find(&scene, A, 0, 100);
    check_tiles(&scene.path, 0, 100);
    assert_true(sum_of(&scene.path, A, PATH_RUNS) == 40);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 40);
    assert_true(sum_of(&scene.path, B, PATH_UNSEEN) == 20);
    end(&scene);
}

static void test_a_range_that_ends_in_a_wait_follows_its_waker(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 60, "b (104)");
    run(add_thread(&scene, "b", 0), scene.stacks.store, 0, 100);
    find(&scene, A, 20, 40);
    check_tiles(&scene.path, 20, 40);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 20);
    end(&scene);
}

static void test_a_waker_that_waits_at_the_end_of_the_range_is_followed_to_its_own_waker(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 60, "b (104)");
    struct thread *b = add_thread(&scene, "b", 0);
    run(b, scene.stacks.store, 0, 30);
    wait_for(&scene, b, scene.stacks.store_lock_b, 30, 50, "c (105)");
    run(b, scene.stacks.store, 50, 60);
    run(add_thread(&scene, "c", 0), scene.stacks.lookup, 0, 100);
    find(&scene, A, 35, 40);
    check_tiles(&scene.path, 35, 40);
    assert_true(sum_of(&scene.path, C, PATH_RUNS) == 5);
    end(&scene);
}

static void test_a_waker_that_sleeps_before_the_woken_thread_runs_leaves_it_runnable(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    run(a, scene.stacks.main, 0, 10);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 60, "b (104)");
    struct thread *b = add_thread(&scene, "b", 0);
    run(b, scene.stacks.store, 0, 55);
    wait_for(&scene, b, scene.stacks.sleep, 55, 90, "interrupt");
    find(&scene, A, 0, 60);
    check_tiles(&scene.path, 0, 60);
    assert_true(sum_of(&scene.path, A, PATH_RUNNABLE) == 5);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 55);
    end(&scene);
}

static void test_a_wait_that_no_recorded_thread_ended_is_on_the_path(void **state)
{
    static const char *const wakers[] = {NULL,         "interrupt", "Xorg (77), not recorded",
                                         "gone (999)", "a (103)",   "asleep (104)"};
    (void)state;
    for (size_t i = 0; i < sizeof(wakers) / sizeof(*wakers); i++) {
        struct scene scene;
        begin(&scene);
        struct thread *a = add_thread(&scene, "a", 0);
        run(a, scene.stacks.main, 0, 10);
        wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 60, wakers[i]);
        struct thread *b = add_thread(&scene, "asleep", 0);
        wait_for(&scene, b, scene.stacks.sleep, 5, 90, "interrupt");
        find(&scene, A, 0, 60);
        check_tiles(&scene.path, 0, 60);
        assert_true(sum_of(&scene.path, A, PATH_WAITS) == 50);
        const struct path_segment *wait = &scene.path.data[scene.path.length - 1];
        assert_int_equal(wait->stack, scene.stacks.lookup_lock_a);
        assert_string_equal(profile_text(&scene.profile, wait->waker), wakers[i] ? wakers[i] : "");
        end(&scene);
    }
}

static void test_preemptions_are_runnable_time(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    run(a, scene.stacks.main, 0, 10);
    wait_for(&scene, a, scene.stacks.lookup_runnable, 10, 30, NULL);
    run(a, scene.stacks.main, 30, 40);
    find(&scene, A, 0, 40);
    assert_true(sum_of(&scene.path, A, PATH_RUNNABLE) == 20);
    end(&scene);
}

static void test_short_waits_between_rows_are_a_state_of_their_own(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_profile_run(a, scene.stacks.main, 10, 4);
    find(&scene, A, 0, 10);
    check_tiles(&scene.path, 0, 10);
    assert_true(sum_of(&scene.path, A, PATH_RUNS) == 4);
    assert_true(sum_of(&scene.path, A, PATH_UNSEEN) == 6);
    end(&scene);
}

static void test_a_thread_that_starts_in_the_range_leads_to_its_creator(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    run(a, scene.stacks.main, 0, 31); /* creates b at 30 ms, and waits for its end */
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 31, 62, "b (104)");
    struct thread *b = add_thread(&scene, "b", 30);
    run(b, scene.stacks.store, 30, 60);
    b->end = 60;
    find(&scene, A, 0, 62);
    check_tiles(&scene.path, 0, 62);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 30);
    assert_true(sum_of(&scene.path, A, PATH_RUNS) == 30);
    assert_true(sum_of(&scene.path, A, PATH_WAITS) == 2); /* the process of b still ended */
    scene.profile.threads.data[A].is_main = true;
    find(&scene, B, 0, 60); /* nobody waits for b here, which a thread of its process created */
    check_tiles(&scene.path, 0, 60);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 30);
    assert_true(sum_of(&scene.path, A, PATH_RUNS) == 30);
    end(&scene);
}

static void test_a_number_that_two_threads_had_is_that_of_the_time(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 40, "b (104)");
    run(add_thread(&scene, "b", 0), scene.stacks.store, 0, 40);
    run(add_thread(&scene, "later", 50), scene.stacks.work, 50, 100);
    scene.profile.threads.data[C].tid = scene.profile.threads.data[B].tid;
    find(&scene, A, 10, 40);
    assert_true(sum_of(&scene.path, B, PATH_RUNS) == 30);
    end(&scene);
}

static void test_threads_that_wake_each_other_at_the_same_time_end_the_walk(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 40, "b (104)");
    struct thread *b = add_thread(&scene, "b", 0);
    wait_for(&scene, b, scene.stacks.store_lock_b, 10, 40, "a (103)");
    find(&scene, A, 0, 40);
    check_tiles(&scene.path, 0, 40);
    assert_true(sum_of(&scene.path, A, PATH_WAITS) == 30);
    end(&scene);
}

/* ---- parts ---- */

static void test_parts_add_up_and_name_thread_function_and_object(void **state)
{
    struct scene scene;
    struct path_parts parts = {0};
    struct text_buffer text = {0};
    struct error err;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    run(a, scene.stacks.main, 0, 10);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 40, "b (104)");
    wait_for(&scene, a, scene.stacks.sleep, 40, 100, "interrupt");
    struct thread *b = add_thread(&scene, "b", 0);
    run(b, scene.stacks.store, 0, 15);
    run(b, scene.stacks.lookup, 15, 100);
    find(&scene, A, 0, 100);
    struct engine *engine = engine_new(&scene.profile, &err);
    assert_non_null(engine);
    assert_int_equal(find_critical_path_parts(engine, &scene.path, A, &parts, &err), 0);
    assert_int_equal(parts.length, 3);
    assert_true(parts.data[0].ms == 60 && parts.data[0].state == PATH_WAITS);
    assert_true(parts.data[1].ms == 30 && parts.data[1].state == PATH_RUNS && parts.data[1].waiter == A);
    assert_int_equal(path_parts_append_sentence(&text, engine, &parts, A, PATH_PARTS_USUAL, &err), 0);
    assert_true(text_append(&text, "", 1));
    assert_string_equal(text.data, "Of 0.100 s, 60.0 ms sleeping in main, "
                                   "30.0 ms CPU time of b in lookup while a waits for lock 0x1000, "
                                   "10.0 ms CPU time of b in store.");
    const uint32_t threads[] = {A};
    const struct tree_query query = {
        .threads = threads, .thread_count = 1, .range = whole_time, .search = "", .weight = WEIGH_TIME};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(engine_weigh_path(engine, &scene.path, &err), 0);
    assert_true(engine_get_timings(engine)->root_total == 100);
    array_free(&text);
    array_free(&parts);
    array_free(&scene.path);
    engine_free(engine);
}

static void test_threads_of_one_name_and_lock_are_one_part(void **state)
{
    struct scene scene;
    struct path_parts parts = {0};
    struct text_buffer text = {0};
    struct error err;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 10, 60, "worker (104)");
    struct thread *worker = add_thread(&scene, "worker", 0);
    wait_for(&scene, worker, scene.stacks.lookup_lock_a, 10, 40, "worker (105)");
    run(worker, scene.stacks.lookup, 40, 100);
    run(add_thread(&scene, "worker", 0), scene.stacks.lookup, 0, 100);
    find(&scene, A, 10, 60);
    struct engine *engine = engine_new(&scene.profile, &err);
    assert_non_null(engine);
    assert_int_equal(find_critical_path_parts(engine, &scene.path, A, &parts, &err), 0);
    assert_int_equal(parts.length, 1);
    assert_true(parts.data[0].ms == 50 && parts.data[0].thread != A && !parts.data[0].is_estimated);
    parts.data[0].state = PATH_WAITS;
    parts.data[0].waiter = parts.data[0].thread;
    assert_int_equal(path_parts_append_sentence(&text, engine, &parts, A, PATH_PARTS_USUAL, &err), 0);
    assert_true(text_append(&text, "", 1));
    assert_string_equal(text.data, "Of 50.0 ms, 50.0 ms in which worker waits in lookup "
                                   "while another worker waits for lock 0x1000.");
    text.length = 0;
    parts.data[0].waiter = PROFILE_NONE;
    assert_int_equal(path_parts_append_sentence(&text, engine, &parts, parts.data[0].thread, PATH_PARTS_USUAL, &err),
                     0);
    const struct profile *profile = engine_get_profile(engine);
    parts.data[0].object = profile->frames.func[profile->stacks.frame[scene.stacks.sleep]];
    assert_int_equal(path_parts_append_sentence(&text, engine, &parts, A, PATH_PARTS_USUAL, &err), 0);
    assert_true(text_append(&text, "", 1));
    assert_string_equal(text.data, "Of 50.0 ms, 50.0 ms waiting in lookup."
                                   "Of 50.0 ms, 50.0 ms in which worker sleeps in lookup.");
    array_free(&text);
    array_free(&parts);
    array_free(&scene.path);
    engine_free(engine);
}

/* a waits in moments without rows, for which one sleep and then two waits for a lock stand. */
static void test_unseen_waits_are_parts_of_the_waits_that_stand_for_them(void **state)
{
    struct scene scene;
    struct path_parts parts = {0};
    struct path_pieces pieces = {0};
    struct error err;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    wait_profile_run(a, scene.stacks.main, 10, 4);
    wait_for(&scene, a, scene.stacks.sleep, 10, 11, "interrupt");
    wait_profile_run(a, scene.stacks.main, 20, 5);
    wait_for(&scene, a, scene.stacks.lookup_lock_a, 20, 21, NULL);
    assert_true(a->samples.weight[a->samples.length - 1] == 5);
    find(&scene, A, 5, 21);
    struct engine *engine = engine_new(&scene.profile, &err);
    assert_non_null(engine);
    assert_int_equal(path_pieces_make(&pieces, engine_get_profile(engine), &scene.path, &err), 0);
    double sum = 0, sleep = 0;
    for (size_t i = 0; i < pieces.length; i++) {
        sum += pieces.data[i].ms;
        sleep +=
            pieces.data[i].state == PATH_WAITS && pieces.data[i].stack == scene.stacks.sleep ? pieces.data[i].ms : 0;
    }
    assert_true(sum == 16);
    assert_true(sleep == 6); /* the wait itself, and what it stands for from 5 to 10 ms */
    assert_int_equal(find_critical_path_parts(engine, &scene.path, A, &parts, &err), 0);
    assert_int_equal(parts.length, 3);
    assert_true(parts.data[0].state == PATH_WAITS && parts.data[0].is_estimated &&
                parts.data[0].object != PROFILE_NONE);
    const uint32_t threads[] = {A};
    const struct tree_query query = {
        .threads = threads, .thread_count = 1, .range = whole_time, .search = "", .weight = WEIGH_TIME};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(engine_weigh_path(engine, &scene.path, &err), 0);
    assert_true(engine_get_timings(engine)->root_total == 16);
    size_t sleeps = 0;
    for (size_t node = 0; node < engine_get_timings(engine)->length; node++)
        sleeps += engine_get_timings(engine)->self[node] == sleep;
    assert_int_equal(sleeps, 1);
    array_free(&pieces);
    array_free(&parts);
    array_free(&scene.path);
    engine_free(engine);
}

static void test_a_row_has_the_function_with_most_of_its_time(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    struct thread *a = add_thread(&scene, "a", 0);
    run(a, scene.stacks.lookup, 0, 20);
    wait_profile_run(a, scene.stacks.store, 30, 10); /* the longest segment */
    run(a, scene.stacks.lookup, 30, 100);
    find(&scene, A, 0, 100);
    assert_int_equal(find_row_end(&scene.profile, &scene.path, 0), scene.path.length);
    assert_int_equal(find_row_segment(&scene.profile, &scene.path, 0, scene.path.length)->stack, scene.stacks.lookup);
    end(&scene);
}

/* ---- names of wakers ---- */

static void test_only_recorded_threads_have_a_number(void **state)
{
    (void)state;
    assert_int_equal(parse_waker_tid("worker-2 (1234)"), 1234);
    assert_int_equal(parse_waker_tid("a (3) (4), in a soft interrupt"), 4);
    assert_int_equal(parse_waker_tid("Xorg (77), not recorded"), PROFILE_NONE);
    assert_int_equal(parse_waker_tid("interrupt"), PROFILE_NONE);
    assert_int_equal(parse_waker_tid("()"), PROFILE_NONE);
    assert_int_equal(parse_waker_tid("77)"), PROFILE_NONE);
    assert_int_equal(parse_waker_tid("a (99999999999)"), PROFILE_NONE);
    assert_int_equal(parse_waker_tid(""), PROFILE_NONE);
}

/* ---- any profile ---- */

/* Wakers of random profiles are random strings: gives most of them the name of a thread. */
static void name_wakers(struct random *random, struct profile *profile)
{
    for (size_t t = 0; t < profile->threads.length; t++) {
        struct sample_table *samples = &profile->threads.data[t].samples;
        for (size_t i = 0; samples->waker && i < samples->length; i++) {
            char name[32];
            uint32_t waker = random_below(random, (uint32_t)profile->threads.length);
            snprintf(name, sizeof(name), "x (%s)", profile_text(profile, profile->threads.data[waker].tid));
            if (random_below(random, 5))
                samples->waker[i] = strings_add_z(&profile->strings, name);
        }
    }
}

static void check_pieces(const struct profile *profile, const struct critical_path *path, double length)
{
    struct path_pieces pieces = {0};
    struct error err;
    double sum = 0;
    assert_int_equal(path_pieces_make(&pieces, profile, path, &err), 0);
    for (size_t i = 0; i < pieces.length; i++) {
        assert_true(pieces.data[i].ms > 0);
        assert_true(pieces.data[i].is_estimated || pieces.data[i].state == path->data[pieces.data[i].segment].state);
        sum += pieces.data[i].ms;
    }
    assert_true(fabs(sum - length) < 1e-9 * length);
    array_free(&pieces);
}

static void test_the_path_tiles_the_range_in_any_profile(void **state)
{
    size_t moved = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= PROFILES; seed++) {
        struct profile profile;
        struct random random = {seed};
        struct critical_path path = {0};
        struct error err;
        random_profile(&profile, seed);
        name_wakers(&random, &profile);
        uint32_t thread = random_below(&random, (uint32_t)profile.threads.length);
        double from = random_below(&random, 40) - 10.0, to = from + 1 + random_below(&random, 60);
        assert_int_equal(critical_path_find(&path, &profile, thread, (struct time_range){from, to}, &err), 0);
        check_tiles(&path, from, to);
        for (size_t i = 0; i < path.length; i++)
            moved += path.data[i].thread != thread;
        check_pieces(&profile, &path, to - from);
        array_free(&path);
        profile_destroy(&profile);
    }
    assert_true(moved > PROFILES / 10);
}

static void test_an_empty_range_has_an_empty_path(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    find(&scene, 0, 10, 10);
    assert_int_equal(scene.path.length, 0);
    find(&scene, 99, 0, 10);
    assert_int_equal(scene.path.length, 0);
    end(&scene);
}

/* Takes time in proportion to the rows: a quadratic walk would take minutes. */
static void test_threads_that_wake_each_other_very_often_take_linear_time(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene);
    for (int t = 0; t < 2; t++) {
        struct thread *thread = add_thread(&scene, t ? "b" : "a", 0);
        for (int i = 0; i < LONG_ROWS; i++) {
            double time = 2 * i + t;
            wait_for(&scene, thread, scene.stacks.lookup_lock_a, time, time + 1, t ? "a (103)" : "b (104)");
        }
        thread->end = 2 * LONG_ROWS;
    }
    find(&scene, A, 0, 2 * LONG_ROWS);
    check_tiles(&scene.path, 0, 2 * LONG_ROWS);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_has_the_function_with_most_of_its_time),
        cmocka_unit_test(test_a_chain_of_waits_leads_to_its_last_thread),
        cmocka_unit_test(test_an_unseen_wait_leads_to_its_waker),
        cmocka_unit_test(test_a_range_that_ends_in_a_wait_follows_its_waker),
        cmocka_unit_test(test_a_waker_that_waits_at_the_end_of_the_range_is_followed_to_its_own_waker),
        cmocka_unit_test(test_a_waker_that_sleeps_before_the_woken_thread_runs_leaves_it_runnable),
        cmocka_unit_test(test_a_wait_that_no_recorded_thread_ended_is_on_the_path),
        cmocka_unit_test(test_preemptions_are_runnable_time),
        cmocka_unit_test(test_short_waits_between_rows_are_a_state_of_their_own),
        cmocka_unit_test(test_a_thread_that_starts_in_the_range_leads_to_its_creator),
        cmocka_unit_test(test_a_number_that_two_threads_had_is_that_of_the_time),
        cmocka_unit_test(test_threads_that_wake_each_other_at_the_same_time_end_the_walk),
        cmocka_unit_test(test_parts_add_up_and_name_thread_function_and_object),
        cmocka_unit_test(test_threads_of_one_name_and_lock_are_one_part),
        cmocka_unit_test(test_unseen_waits_are_parts_of_the_waits_that_stand_for_them),
        cmocka_unit_test(test_only_recorded_threads_have_a_number),
        cmocka_unit_test(test_the_path_tiles_the_range_in_any_profile),
        cmocka_unit_test(test_an_empty_range_has_an_empty_path),
        cmocka_unit_test(test_threads_that_wake_each_other_very_often_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
