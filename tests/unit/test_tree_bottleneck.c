/*
 * The sentence about what threads wait for most.
 */
#include "support/wait_profile.h"

#include "tree/bottleneck.h"
#include "tree/findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct error err;

/* How the thread "holder" ends the wait of one more thread for lock a, 50 ms. */
struct release {
    const char *waker, *in;     /* NULL: unknown; `in`: the function */
    int sleep, waits, runnable; /* ms in which "holder" sleeps, then waits for lock b, and then is runnable, before it
                                   runs store(), of 100 */
};

static uint32_t find_stack_of(const struct profile *profile, const char *function)
{
    for (uint32_t i = 0; i < profile->stacks.length; i++)
        if (strcmp(profile_text(profile, profile->funcs.name[profile->frames.func[profile->stacks.frame[i]]]),
                   function) == 0)
            return i;
    return PROFILE_NONE;
}

static uint32_t find_func(const struct engine *engine, const char *name)
{
    const struct profile *profile = engine_get_profile(engine);
    uint32_t stack = find_stack_of(profile, name);
    return stack == PROFILE_NONE ? PROFILE_NONE : profile->frames.func[profile->stacks.frame[stack]];
}

/* The threads of wait_profile.h, whose waits for locks have this reason, "holder" and, with a release, "waiter". */
static struct engine *make_threads(const char *reason, const struct release *release)
{
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    int sleep = release ? release->sleep : 0, waited = sleep + (release ? release->waits : 0);
    int begin = waited + (release ? release->runnable : 0);
    profile.categories.data[WAIT_IDLE].subcategories.data[REASON_LOCK] = strings_add_z(&profile.strings, reason);
    struct thread *holder = wait_profile_thread(&profile, "holder", 0);
    if (sleep)
        wait_profile_wait(holder, stacks.sleep, 0, sleep, 0);
    if (waited > sleep)
        wait_profile_wait(holder, stacks.store_lock_b, sleep, waited, 0);
    if (begin > waited)
        wait_profile_wait(holder, wait_profile_call(&profile, stacks.store, "runnable", REASON_RUNNABLE), waited, begin,
                          0);
    uint32_t unlock = wait_profile_call(&profile, stacks.store, "unlock", -1);
    for (int time = begin + 1; time <= 100; time++)
        wait_profile_run(holder, time > 45 ? unlock : stacks.store, time, 1);
    if (release) {
        struct thread *waiter = wait_profile_thread(&profile, "waiter", 0);
        assert_true(samples_give_waker(&waiter->samples));
        wait_profile_run(waiter, stacks.lookup, 1, 1);
        wait_profile_wait(waiter, stacks.lookup_lock_a, 1, 51, 0);
        waiter->samples.waker[waiter->samples.length - 1] = strings_add_z(&profile.strings, release->waker);
        if (release->in)
            waiter->samples.waker_stack[waiter->samples.length - 1] = find_stack_of(&profile, release->in);
    }
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    return engine;
}

/* The object of the critical path of the first thread; NULL: no path. */
static const char *path_object;

/* Finds the bottleneck of a query of threads. */
static void assert_sentence_of(struct engine *engine, size_t first, size_t count, const char *wanted)
{
    static const uint32_t threads[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct bottleneck bottleneck = {0};
    struct bottleneck path = {.object = path_object ? find_func(engine, path_object) : PROFILE_NONE};
    assert_true(!path_object || text_append_z(&path.sentence, "Of 0.100 s, ..."));
    const struct tree_query query = {
        .threads = threads + first, .thread_count = count, .range = {0, 100}, .search = "", .weight = WEIGH_CPU_TIME};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    struct wait_groups groups = {0};
    assert_int_equal(engine_group_bottleneck_waits(engine, &groups, &err), 0);
    assert_int_equal(bottleneck_find_path(&bottleneck, engine, &err), 0);
    assert_true(bottleneck.sentence.length == 0 && bottleneck.object == PROFILE_NONE);
    assert_int_equal(bottleneck_find_object(&bottleneck, engine, &groups, &path, &err), 0);
    wait_groups_destroy(&groups);
    assert_true(text_append(&bottleneck.sentence, "", 1));
    assert_string_equal(bottleneck.sentence.data, wanted);
    assert_int_equal(bottleneck.object == PROFILE_NONE, wanted[0] == '\0');
    bottleneck_destroy(&bottleneck);
    bottleneck_destroy(&path);
}

static void assert_sentence(struct engine *engine, size_t count, const char *wanted)
{
    assert_sentence_of(engine, 0, count, wanted);
}

static void test_threads_that_wait_for_a_mutex_have_a_sentence(void **state)
{
    (void)state;
    struct engine *engine = make_threads("Mutex", NULL);
    assert_sentence(engine, 4, "2 of 4 threads wait 55% of their time for lock 0x1000 in lookup.");
    assert_sentence(engine, 2, "Thread reader waits 70% of its time for lock 0x1000 in lookup.");
    engine_free(engine);
}

static bool is_in_headline; /* the last headline of has_finding_of() has the waits of the threads */

/* Whether a finding about the threads "reader" and "writer" names the waits for an object. */
static bool has_finding_of(struct engine *engine, const char *object)
{
    static const uint32_t threads[] = {1, 2};
    const struct tree_query query = {
        .threads = threads, .thread_count = 2, .range = {0, 100}, .search = "", .weight = WEIGH_CPU_TIME};
    struct findings findings = {0};
    bool has = false;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(findings_find_all(&findings, engine, &err), 0);
    is_in_headline = strstr(findings.headline.data, ", mostly ") != NULL;
    for (size_t i = 0; i < findings.list.length; i++)
        has |= findings.list.data[i].kind == FINDING_WAIT && findings.list.data[i].func == find_func(engine, object);
    findings_destroy(&findings);
    return has;
}

static void test_waits_for_work_are_no_bottleneck(void **state)
{
    static const char *const reasons[] = {"Lock", "Condition variable", "Pipe"};
    (void)state;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
        struct engine *engine = make_threads(reasons[i], NULL);
        assert_sentence(engine, 4, "");
        assert_true(has_finding_of(engine, "lock 0x1000")); /* the threads run for less than a third of the time */
        assert_int_equal(is_in_headline, strcmp(reasons[i], "Lock") == 0);
        engine_free(engine);
    }
}

static void test_threads_that_wait_for_signals_or_clients_are_no_finding(void **state)
{
    static const char *const objects[] = {"sleep", "signal", "accept socket:[1] tcp [::]:80, listening"};
    (void)state;
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        struct profile profile;
        struct wait_stacks stacks = wait_profile_make(&profile);
        uint32_t object = profile.frames.func[profile.stacks.frame[stacks.lookup_lock_a]];
        profile.categories.data[WAIT_IDLE].subcategories.data[REASON_LOCK] = strings_add_z(&profile.strings, "Sleep");
        profile.funcs.name[object] = strings_add_z(&profile.strings, objects[i]);
        struct engine *engine = engine_new(&profile, &err);
        assert_non_null(engine);
        assert_int_equal(has_finding_of(engine, objects[i]), i == 0);
        engine_free(engine);
    }
}

static void test_idle_threads_of_a_runtime_hide_no_bottleneck(void **state)
{
    enum { IDLE_THREADS = 8 };
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    const struct category *idle = &profile.categories.data[WAIT_IDLE];
    (void)state;
    idle->subcategories.data[REASON_LOCK] = strings_add_z(&profile.strings, "Mutex");
    idle->subcategories.data[REASON_SLEEP] = strings_add_z(&profile.strings, "Idle thread");
    for (int i = 0; i < IDLE_THREADS; i++)
        wait_profile_wait(wait_profile_thread(&profile, "idle", 0), stacks.sleep, 0, 100, 0);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    assert_sentence(engine, 3 + IDLE_THREADS, "2 of 11 threads wait 55% of their time for lock 0x1000 in lookup.");
    engine_free(engine);
}

static void test_an_object_with_the_name_of_a_place_has_no_other_place(void **state)
{
    (void)state;
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    profile.categories.data[WAIT_IDLE].subcategories.data[REASON_LOCK] = strings_add_z(&profile.strings, "Mutex");
    uint32_t object = profile.frames.func[profile.stacks.frame[stacks.lookup_lock_a]];
    profile.funcs.name[object] = strings_add_z(&profile.strings, "mutex in lookup");
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    assert_sentence(engine, 3, "2 of 3 threads wait 55% of their time for mutex in lookup.");
    engine_free(engine);
}

static void test_locks_of_programs_and_of_the_memory_map_are_locks(void **state)
{
    static const char *const objects[] = {"lock in LockTuple", "memory map"};
    (void)state;
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        char wanted[128];
        struct profile profile;
        struct wait_stacks stacks = wait_profile_make(&profile);
        uint32_t object = profile.frames.func[profile.stacks.frame[stacks.lookup_lock_a]];
        profile.funcs.name[object] = strings_add_z(&profile.strings, objects[i]);
        struct engine *engine = engine_new(&profile, &err);
        assert_non_null(engine);
        snprintf(wanted, sizeof(wanted), "2 of 3 threads wait 55%% of their time for %s in lookup.", objects[i]);
        assert_sentence(engine, 3, wanted);
        engine_free(engine);
    }
}

/* A thread waits for lock a: once for `longest` ms in store(), then five times for 3 ms in lookup(), which may have
 * only an address. */
static void assert_place(double longest, const char *name, const char *wanted)
{
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    profile.categories.data[WAIT_IDLE].subcategories.data[REASON_LOCK] = strings_add_z(&profile.strings, "Mutex");
    profile.funcs.name[profile.frames.func[profile.stacks.frame[stacks.lookup]]] =
        strings_add_z(&profile.strings, name);
    struct thread *thread = wait_profile_thread(&profile, "one", 0);
    wait_profile_wait(thread, stacks.store_lock_a, 1, 1 + longest, 1);
    for (int i = 1; i <= 5; i++)
        wait_profile_wait(thread, stacks.lookup_lock_a, 10 * i + 5, 10 * i + 8, i > 1 ? 7 : 14 - longest);
    wait_profile_run(thread, stacks.main, 100, 42);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    assert_sentence_of(engine, 3, 1, wanted);
    engine_free(engine);
}

static void test_the_place_of_a_sentence_has_more_than_half_of_the_waits(void **state)
{
    (void)state;
    assert_place(5, "lookup", "Thread one waits 20% of its time for lock 0x1000 in lookup.");
    assert_place(5, "0x5e320", "Thread one waits 20% of its time for lock 0x1000 in work.");
    assert_place(14, "lookup", "Thread one waits 29% of its time for lock 0x1000 in lookup.");
    assert_place(1, "lookup", "Thread one waits 16% of its time for lock 0x1000 in lookup.");
}

static void assert_holder(struct release release, const char *wanted)
{
    char sentence[200];
    struct engine *engine = make_threads("Mutex", &release);
    snprintf(sentence, sizeof(sentence), "3 of 5 threads wait 53%% of their time for lock 0x1000 in lookup.%s", wanted);
    assert_sentence(engine, 5, sentence);
    engine_free(engine);
}

static void test_the_function_that_releases_leads_to_what_the_holder_does(void **state)
{
    (void)state;
    assert_holder((struct release){"holder (103)", "store", 0, 0}, " Its holder, thread holder, mostly runs store.");
    assert_holder((struct release){"holder (103)", "main", 40, 0},
                  " Its holder, thread holder, mostly sleeps in main.");
    assert_holder((struct release){"holder (103)", "main", 20, 10}, " Its holder, thread holder, is mostly in store.");
    assert_holder((struct release){"holder (103)", "store", 0, 0, 40},
                  " Its holder, thread holder, is mostly ready to run without a CPU, else runs store.");
    assert_holder((struct release){"holder (103)", "main", 12, 5, 30},
                  " Its holder, thread holder, is mostly ready to run without a CPU, else sleeps in main.");
}

static void test_a_thread_on_its_way_to_the_lock_is_no_holder(void **state)
{
    (void)state;
    assert_holder((struct release){"holder (103)", "unlock", 0, 0}, "");
    assert_holder((struct release){"holder (103)", "lookup", 0, 0}, "");
    assert_holder((struct release){"holder (103)", NULL, 0, 0}, "");
}

/* Two clients wait for 80 of 100 ms in lookup() for a condition variable, which "holder" signals in a function after it
 * has waited in store() for `object`, or run store(). */
static void assert_pool(const char *signals_in, const char *object, const char *wanted)
{
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    profile.categories.data[WAIT_IDLE].subcategories.data[REASON_DISK] =
        strings_add_z(&profile.strings, "Condition variable");
    uint32_t takes = wait_profile_call(&profile, stacks.lookup, "condition variable free", REASON_DISK);
    wait_profile_call(&profile, stacks.main, "thread first (103)", REASON_LOCK);
    struct thread *holder = wait_profile_thread(&profile, "holder", 0);
    if (object)
        wait_profile_wait(holder, wait_profile_call(&profile, stacks.store, object, REASON_NETWORK), 0, 80, 0);
    for (int time = object ? 81 : 1; time <= 100; time++)
        wait_profile_run(holder, stacks.store, time, 1);
    for (int i = 0; i < 2; i++) {
        struct thread *client = wait_profile_thread(&profile, "client", 0);
        assert_true(samples_give_waker(&client->samples));
        wait_profile_run(client, stacks.lookup, 1, 1);
        wait_profile_wait(client, takes, 1, 81, 0);
        client->samples.waker[client->samples.length - 1] = strings_add_z(&profile.strings, "holder (103)");
        client->samples.waker_stack[client->samples.length - 1] = find_stack_of(&profile, signals_in);
    }
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    assert_sentence(engine, 6, wanted);
    engine_free(engine);
}

static void test_a_pool_with_too_few_items_is_a_bottleneck(void **state)
{
    (void)state;
    assert_pool("store", NULL,
                "2 of 6 threads wait 80% of their time for condition variable free in lookup."
                " Thread holder, which ends waits, mostly runs store.");
    assert_pool("store", "socket 10.0.0.1:5432",
                "2 of 6 threads wait 80% of their time for condition variable free in lookup."
                " Thread holder, which ends waits, mostly waits for socket 10.0.0.1:5432 in store.");
}

static void test_a_critical_path_explains_a_pool_unless_it_waits_for_the_end_of_a_thread(void **state)
{
    (void)state;
    path_object = "sleep";
    assert_pool("store", NULL, "");
    path_object = "thread first (103)";
    assert_pool("store", NULL,
                "2 of 6 threads wait 80% of their time for condition variable free in lookup."
                " Thread holder, which ends waits, mostly runs store.");
    path_object = NULL;
}

static void test_workers_without_work_are_no_bottleneck(void **state)
{
    (void)state;
    assert_pool("main", NULL, "");
    assert_pool("store", "epoll", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_that_wait_for_a_mutex_have_a_sentence),
        cmocka_unit_test(test_waits_for_work_are_no_bottleneck),
        cmocka_unit_test(test_threads_that_wait_for_signals_or_clients_are_no_finding),
        cmocka_unit_test(test_idle_threads_of_a_runtime_hide_no_bottleneck),
        cmocka_unit_test(test_an_object_with_the_name_of_a_place_has_no_other_place),
        cmocka_unit_test(test_locks_of_programs_and_of_the_memory_map_are_locks),
        cmocka_unit_test(test_the_place_of_a_sentence_has_more_than_half_of_the_waits),
        cmocka_unit_test(test_the_function_that_releases_leads_to_what_the_holder_does),
        cmocka_unit_test(test_a_thread_on_its_way_to_the_lock_is_no_holder),
        cmocka_unit_test(test_a_pool_with_too_few_items_is_a_bottleneck),
        cmocka_unit_test(test_a_critical_path_explains_a_pool_unless_it_waits_for_the_end_of_a_thread),
        cmocka_unit_test(test_workers_without_work_are_no_bottleneck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
