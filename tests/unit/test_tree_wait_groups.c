/*
 * Groups of waits: on a profile with known waits, and against a slow reference that adds up the gaps of random profiles
 * one by one.
 */
#include "slow_tree_check.h"

#include "support/wait_profile.h"
#include "tree/noise.h"
#include "tree/wait_groups.h"

enum { PROFILES = 1500, MOST_KEYS = 256 };

/* ---- a known profile ---- */

enum { MAIN, READER, WRITER };

static struct engine *known_engine(struct wait_stacks *stacks)
{
    struct profile profile;
    struct error err;
    *stacks = wait_profile_make(&profile);
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    return engine;
}

static void ask_known(struct engine *engine, struct time_range range, const char *search)
{
    const uint32_t threads[] = {MAIN, READER, WRITER};
    const struct tree_query query = {.threads = threads,
                                     .thread_count = 3,
                                     .range = range,
                                     .search = search,
                                     .search_length = strlen(search),
                                     .weight = WEIGH_OFF_CPU_TIME};
    struct error err;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
}

static const char *name_of(const struct engine *engine, uint32_t func)
{
    return func == PROFILE_NONE
               ? ""
               : profile_text(engine_get_profile(engine), engine_get_profile(engine)->funcs.name[func]);
}

static void test_two_waiters_on_one_lock_are_one_object(void **state)
{
    struct wait_stacks stacks;
    struct engine *engine = known_engine(&stacks);
    struct wait_groups groups = {0};
    struct node_path path = {0};
    struct error err;
    (void)state;
    ask_known(engine, whole_time, "");
    assert_int_equal(engine_group_waits(engine, WAITS_BY_OBJECT, &groups, &err), 0);
    assert_string_equal(name_of(engine, groups.list.data[0].func), "lock 0x1000");
    const struct wait_group *lock = &groups.list.data[0];
    assert_true(lock->total == 40 + 29.5 + 30);
    assert_int_equal(lock->count, 3);
    assert_true(lock->longest == 40 && lock->from == 10.25 && lock->to == 50.25);
    assert_int_equal(lock->thread, READER);
    assert_int_equal(lock->reason, REASON_LOCK);
    assert_int_equal(lock->threads, 2);
    assert_true(lock->first == 10.25);
    assert_int_equal(lock->first_thread, READER);
    assert_true(lock->percentile_99 <= 40 && lock->percentile_99 > 40 / 1.03);
    assert_true(lock->total_error == 0 && lock->count_error == 0);
    assert_string_equal(name_of(engine, lock->own_func), "lookup");
    assert_true(append_call_path(engine, lock->node, &path));
    assert_int_equal(path.length, 4);
    assert_string_equal(name_of(engine, path.data[0]), "main");
    assert_string_equal(name_of(engine, path.data[2]), "lookup");
    assert_true(groups.totals.there == 100 + 100 + 80);
    assert_true(groups.totals.runnable == 8.5);
    array_free(&path);
    wait_groups_destroy(&groups);
    engine_free(engine);
}

static void test_waits_are_clipped_to_the_range(void **state)
{
    struct wait_stacks stacks;
    struct engine *engine = known_engine(&stacks);
    struct wait_groups groups = {0};
    struct error err;
    (void)state;
    ask_known(engine, (struct time_range){20, 30}, "lock");
    assert_int_equal(engine_group_waits(engine, WAITS_BY_REASON, &groups, &err), 0);
    assert_int_equal(groups.list.length, 1);
    const struct wait_group *locks = &groups.list.data[0];
    assert_int_equal(locks->key, REASON_LOCK);
    assert_true(locks->total == 10 + 9); /* the writer's first sample is at 21 ms */
    assert_int_equal(locks->count, 2);
    assert_true(locks->longest == 10 && locks->from == 10.25 && locks->to == 50.25);
    assert_true(groups.totals.there == 30);
    wait_groups_destroy(&groups);
    engine_free(engine);
}

/* Returns an engine with a query of the off-CPU time of the thread that follows those of wait_profile_make(). */
static struct engine *query_added_thread(struct profile *profile)
{
    static const uint32_t threads[] = {3};
    struct error err;
    struct engine *engine = engine_new(profile, &err);
    assert_non_null(engine);
    const struct tree_query query = {
        .threads = threads, .thread_count = 1, .range = whole_time, .search = "", .weight = WEIGH_OFF_CPU_TIME};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    return engine;
}

struct known_errors {
    double total[2], count[2], count_of_thread;
};

/* Checks the errors of two groups of `waits` waits of this length, ms. The first group has a wait that was not seen. */
static void check_errors(const char *event, int waits, double length, struct known_errors known)
{
    struct profile profile;
    struct wait_groups groups = {0};
    struct error err;
    struct wait_stacks stacks = wait_profile_make(&profile);
    struct thread *thread = wait_profile_thread(&profile, "short", 0);
    for (int i = 1; i <= waits; i++) {
        double from = 2 * length * i;
        wait_profile_wait(thread, i % 2 ? stacks.sleep : stacks.store_lock_b, from, from + length, i > 1 ? length : 0);
        thread->samples.weight[thread->samples.length - 1] = i == 1 ? 2 * length : length;
    }
    struct extra_section section = {0};
    const struct extra_entry entry = {strings_add_z(&profile.strings, "Event"),
                                      strings_add_z(&profile.strings, "string"),
                                      strings_add_z(&profile.strings, event)};
    assert_true(array_push(&section.entries, entry) && array_push(&profile.meta.extra, section));
    struct engine *engine = query_added_thread(&profile);
    assert_int_equal(engine_group_waits(engine, WAITS_BY_OBJECT, &groups, &err), 0);
    assert_int_equal(groups.list.length, 2);
    for (int i = 0; i < 2; i++)
        assert_true(groups.list.data[i].total_error == known.total[i] &&
                    groups.list.data[i].count_error == known.count[i]);
    assert_int_equal(engine_group_waits(engine, WAITS_BY_THREAD, &groups, &err), 0);
    assert_true(groups.list.data[0].count_error == known.count_of_thread);
    wait_groups_destroy(&groups);
    engine_free(engine);
}

/* One value has no variance, but the recorder knows how long the thread waited. */
static void test_a_group_is_wrong_by_the_unseen_waits_of_its_threads_at_most(void **state)
{
    (void)state;
    check_errors("\"cpu-clock\"", 39, 0.5, (struct known_errors){{0.5, 0}, {1, 0}, 1});
    check_errors("\"cpu-clock\"", 4, 10, (struct known_errors){{10, 0}, {1, 0}, 1});
}

static void test_with_ptrace_any_unseen_wait_may_belong_to_another_group(void **state)
{
    (void)state;
    check_errors("\"ptrace\"", 39, 0.5, (struct known_errors){{0.5, 0.1}, {1, 1}, 0.1});
    /* the ends of two waits of 10 ms are inexact by 4 ms each */
    check_errors("\"ptrace\"", 4, 10, (struct known_errors){{10 + 8, 2 + 8}, {1, 1}, 0.1});
}

static void test_a_wait_stands_for_waits_of_its_length(void **state)
{
    struct profile profile;
    struct wait_groups groups = {0};
    struct error err;
    (void)state;
    struct wait_stacks stacks = wait_profile_make(&profile);
    struct thread *thread = wait_profile_thread(&profile, "short", 0);
    for (int i = 0; i < 100; i++) {
        wait_profile_wait(thread, stacks.sleep, i, i + 0.0625, i ? 0.5 : 0);
        thread->samples.weight[thread->samples.length - 1] = i ? 0.625 : 0.0625 * 100;
    }
    struct engine *engine = query_added_thread(&profile);
    assert_int_equal(engine_group_waits(engine, WAITS_BY_OBJECT, &groups, &err), 0);
    const struct wait_group *sleep = &groups.list.data[0];
    assert_true(fabs(sleep->count - (100 + 99 * 10)) < 1e-6);
    assert_true(sleep->longest == 0.0625);
    assert_true(sleep->percentile_99 == 0.0625);
    /* degrees of freedom: (9,900 + 99 * 90)^2 / (9,900^2 + 99 * 90^2) - 1 = 2.57; rounded down to a quarter */
    assert_true(fabs(sleep->count_error - compute_student_limit(0.05, 2.5) * sqrt(9900 + 99 * 90)) < 1e-6);
    assert_true(fabs(sleep->total_error - 0.0625 * sleep->count_error) < 1e-6);
    wait_groups_destroy(&groups);
    engine_free(engine);
}

static void test_sums_have_a_number_and_no_longest_wait(void **state)
{
    struct profile profile;
    struct wait_groups groups = {0};
    struct error err;
    (void)state;
    struct wait_stacks stacks = wait_profile_make(&profile);
    uint32_t reason = (uint32_t)profile.categories.data[WAIT_IDLE].subcategories.length;
    assert_true(
        array_push(&profile.categories.data[WAIT_IDLE].subcategories, strings_add_z(&profile.strings, "Not seen")));
    uint32_t sum = wait_profile_call(&profile, PROFILE_NONE, "short waits", (int)reason);
    struct thread *thread = wait_profile_thread(&profile, "short", 0);
    wait_profile_wait(thread, sum, 1, 1.25, 1);
    thread->samples.weight[1] = 25;
    wait_profile_wait(thread, stacks.sleep, 30, 32, 28.75);
    struct engine *engine = query_added_thread(&profile);
    assert_int_equal(engine_group_waits(engine, WAITS_BY_REASON, &groups, &err), 0);
    const struct wait_group *sums = &groups.list.data[0];
    assert_true(sums->squares == sums->total * sums->total);
    assert_int_equal(sums->key, reason);
    assert_true(sums->total == 25 && sums->count == 100 && sums->longest == 0);
    assert_true(isnan(sums->from) && isnan(sums->first) && isnan(sums->percentile_99));
    assert_true(sums->total_error == 0);
    /* 99 waits of 0.25 ms, rounded to steps of 0.01 ms */
    assert_true(fabs(sums->count_error - 1.96 * 99 * 0.01 / 0.25 / sqrt(12)) < 1e-9);
    assert_int_equal(engine_group_waits(engine, WAITS_BY_THREAD, &groups, &err), 0);
    assert_true(groups.list.data[0].count == 101 && groups.list.data[0].longest == 2);
    assert_true(groups.list.data[0].first == 30 && groups.list.data[0].from == 30);
    wait_groups_destroy(&groups);
    engine_free(engine);
}

static void test_preemption_is_told_apart_from_waiting(void **state)
{
    struct wait_stacks stacks;
    struct engine *engine = known_engine(&stacks);
    struct wait_groups groups = {0};
    struct error err;
    (void)state;
    ask_known(engine, (struct time_range){51, 61}, "");
    assert_int_equal(engine_group_waits(engine, WAITS_BY_THREAD, &groups, &err), 0);
    for (size_t i = 0; i < groups.list.length; i++) {
        const struct wait_group *group = &groups.list.data[i];
        assert_true(group->runnable == (group->key == READER ? group->total : 0));
        assert_int_equal(group->reason == REASON_RUNNABLE, group->key == READER);
    }
    wait_groups_destroy(&groups);
    engine_free(engine);
}

static void test_cpu_time_is_that_of_the_tree_where_clocks_differ(void **state)
{
    struct profile profile;
    struct wait_groups groups = {0};
    struct error err;
    (void)state;
    wait_profile_make(&profile);
    struct sample_table *samples = &profile.threads.data[WRITER].samples;
    samples->cpu_delta[samples->length - 3] = 3000; /* us, of an interval of 1 ms */
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    ask_known(engine, whole_time, "");
    assert_int_equal(engine_group_waits(engine, WAITS_BY_THREAD, &groups, &err), 0);
    const double of_main = 1, of_reader = 10 + 0.25 + 1.25 + 10 + 0.5, of_writer = 1 + 1 + 4 + 2;
    assert_true(groups.totals.ran == of_main + of_reader + of_writer);
    assert_true(groups.totals.ran > groups.totals.there - groups.totals.waited);
    wait_groups_destroy(&groups);
    engine_free(engine);
}

/* Each wait is longer than all before, and all 20,000 callers are code of a library. */
static void test_longer_and_longer_waits_in_deep_stacks_take_no_time(void **state)
{
    (void)state;
    enum { DEPTH = 20000, WAITS = 20000 };
    struct profile profile;
    struct wait_stacks stacks = wait_profile_make(&profile);
    struct wait_groups groups = {0};
    struct error err;
    double time = 1;
    uint32_t deep = stacks.lookup;
    for (int i = 0; i < DEPTH; i++)
        deep = wait_profile_call(&profile, deep, "std::f", -1);
    uint32_t wait = wait_profile_call(&profile, deep, "lock 0x9", REASON_LOCK);
    struct thread *thread = wait_profile_thread(&profile, "deep", 0);
    assert_true(samples_give_waker(&thread->samples));
    for (int i = 1; i <= WAITS; i++) {
        wait_profile_run(thread, stacks.lookup, time, 1);
        wait_profile_wait(thread, wait, time, time + i, 0);
        thread->samples.waker_stack[thread->samples.length - 1] = deep;
        time += i + 1;
    }
    uint32_t index = (uint32_t)profile.threads.length - 1;
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    const struct tree_query query = {
        .threads = &index, .thread_count = 1, .range = whole_time, .search = "", .weight = WEIGH_OFF_CPU_TIME};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(engine_group_waits(engine, WAITS_BY_OBJECT, &groups, &err), 0);
    assert_string_equal(name_of(engine, groups.list.data[0].func), "lock 0x9");
    assert_string_equal(name_of(engine, groups.list.data[0].own_func), "lookup");
    assert_string_equal(name_of(engine, groups.list.data[0].waker_func), "lookup");
    assert_true(groups.list.data[0].longest == WAITS);
    wait_groups_destroy(&groups);
    engine_free(engine);
}

/* ---- whether waits were recorded ---- */

/* A profile of one thread that never waits; `names_reasons`: "Idle" has the reasons of waits. */
static bool has_waits_without_any(bool names_reasons)
{
    struct profile profile;
    struct error err;
    wait_profile_make(&profile);
    struct category *idle = &profile.categories.data[WAIT_IDLE];
    if (!names_reasons)
        idle->subcategories.length = 1;
    for (size_t t = 0; t < profile.threads.length; t++)
        profile.threads.data[t].samples.length = t == READER ? 10 : 0;
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    bool has_waits = engine_has_waits(engine);
    engine_free(engine);
    return has_waits;
}

static void test_a_recorder_of_waits_is_known_by_its_reasons_where_nobody_waited(void **state)
{
    (void)state;
    assert_true(has_waits_without_any(true));
    assert_false(has_waits_without_any(false));
}

/* ---- the slow reference ---- */

struct slow_group {
    uint64_t key;
    double count, total, longest, uncounted;
};

struct slow_groups {
    struct slow_group groups[MOST_KEYS];
    size_t count;
};

static struct slow_group *slow_add_wait(struct slow_groups *groups, uint64_t key, double ms, double count, double own)
{
    size_t at = 0;
    while (at < groups->count && groups->groups[at].key != key)
        at++;
    assert_true(at < MOST_KEYS);
    if (at == groups->count)
        groups->groups[groups->count++] = (struct slow_group){.key = key};
    struct slow_group *group = &groups->groups[at];
    group->total += ms;
    group->count += count;
    if (own > group->longest)
        group->longest = own;
    return group;
}

static void slow_wait_groups(struct slow_groups *groups, const struct engine *engine, const struct slow_query *query,
                             enum wait_grouping grouping)
{
    const struct profile *profile = query->profile;
    groups->count = 0;
    for (size_t t = 0; t < query->thread_count; t++) {
        uint32_t thread = query->threads[t];
        const struct sample_table *samples = &profile->threads.data[thread].samples;
        for (size_t i = 0; slow_stores_waits(samples) && i <= samples->length; i++) {
            struct slow_stack made;
            bool has_rows = slow_row_for(profile, samples, 0, false) != SIZE_MAX;
            bool is_end = i < samples->length && slow_is_wait_end(profile, samples, i);
            double cpu, gap_ms, own = 0, ms = slow_wait_sum(query, thread, i);
            struct slow_gap gap = slow_gap_of(profile, thread, i);
            slow_gap_sums(&gap, query->range, &cpu, &gap_ms);
            if (is_end)
                own = fmax(0, fmin(samples->time[i], query->range.to) - fmax(samples->time[i - 1], query->range.from));
            ms = has_rows ? ms : gap_ms;
            size_t row = is_end ? i : SIZE_MAX;
            uint32_t stack = is_end ? samples->stack[i] : (uint32_t)profile->stacks.length - 1;
            slow_stack_make(&made, query, stack);
            if (ms == 0 || !made.depth || !slow_matches(query, &made))
                continue;
            uint32_t frame = profile->stacks.frame[stack], node = engine_get_nodes(engine)->of_sample[stack];
            uint32_t waker = row != SIZE_MAX && samples->waker ? samples->waker[row] : PROFILE_NONE;
            const uint64_t keys[] = {profile->frames.subcategory[frame],
                                     profile->frames.func[frame],
                                     engine_get_nodes(engine)->prefix[node],
                                     thread,
                                     waker,
                                     profile->frames.func[frame] | (uint64_t)waker << 32};
            bool is_told = row != SIZE_MAX || grouping == WAITS_BY_THREAD;
            double length = is_end ? samples->time[i] - samples->time[i - 1] : 0;
            double count = (own > 0) + (length > 0 ? (ms - own) / length : 0);
            uint64_t none = grouping == WAITS_BY_OBJECT_AND_WAKER ? UINT64_MAX : PROFILE_NONE;
            struct slow_group *group =
                slow_add_wait(groups, is_told ? keys[grouping] : none, ms, has_rows ? count : 0, own);
            group->uncounted += is_end && length <= 0 ? ms : 0;
        }
    }
    for (size_t i = 0; i < groups->count; i++) {
        struct slow_group *group = &groups->groups[i];
        if (group->uncounted < group->total)
            group->count *= group->total / (group->total - group->uncounted);
    }
}

static void add_weight(void *context, const struct slow_stack *stack, double weight)
{
    (void)stack;
    *(double *)context += weight;
}

/* The CPU time of a query, as its call tree adds it up. */
static double slow_ran(const struct slow_query *query)
{
    struct slow_query on_cpu = *query;
    double sum = 0;
    on_cpu.weight = WEIGH_CPU_TIME;
    slow_each_sample(&on_cpu, add_weight, &sum);
    return sum;
}

static void check_groups(struct engine *engine, const struct slow_query *query, enum wait_grouping grouping)
{
    static struct slow_groups slow;
    struct wait_groups groups = {0};
    struct error err;
    double sum = 0;
    slow_wait_groups(&slow, engine, query, grouping);
    assert_int_equal(engine_group_waits(engine, grouping, &groups, &err), 0);
    assert_int_equal(groups.list.length, slow.count);
    for (size_t i = 0; i < groups.list.length; i++) {
        const struct wait_group *group = &groups.list.data[i];
        size_t at = 0;
        bool is_pair = grouping == WAITS_BY_OBJECT_AND_WAKER;
        uint64_t key = group->key | (uint64_t)(is_pair ? group->waker : 0) << 32;
        while (at < slow.count && slow.groups[at].key != key)
            at++;
        assert_true(at < slow.count);
        assert_true(fabs(group->total - slow.groups[at].total) < 1e-9);
        assert_true(fabs(group->count - slow.groups[at].count) <= 1e-9 * fmax(1, group->count));
        assert_true(group->longest == slow.groups[at].longest);
        if (grouping == WAITS_BY_WAKER && group->count)
            assert_int_equal(group->waker, group->key);
        assert_true(i == 0 || groups.list.data[i - 1].total >= group->total);
        sum += group->total;
    }
    assert_true(fabs(groups.totals.waited - sum) < 1e-9);
    assert_true(groups.totals.ran == slow_ran(query));
    wait_groups_destroy(&groups);
}

static void test_groups_add_up_the_waits_of_the_query(void **state)
{
    size_t checked = 0;
    (void)state;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct random random = {seed * 3 + 1};
        struct slow_query query;
        slow_random_query(&query, &reference, &random);
        query.weight = WEIGH_OFF_CPU_TIME;
        ask(engine, &query, false);
        for (int grouping = 0; grouping < WAIT_GROUPINGS; grouping++)
            check_groups(engine, &query, (enum wait_grouping)grouping);
        struct wait_groups groups = {0};
        struct error err;
        assert_int_equal(engine_group_waits(engine, WAITS_BY_OBJECT, &groups, &err), 0);
        checked += groups.list.length > 0;
        wait_groups_destroy(&groups);
        engine_free(engine);
        profile_destroy(&reference);
    }
    assert_true(checked > PROFILES / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_waiters_on_one_lock_are_one_object),
        cmocka_unit_test(test_waits_are_clipped_to_the_range),
        cmocka_unit_test(test_a_group_is_wrong_by_the_unseen_waits_of_its_threads_at_most),
        cmocka_unit_test(test_with_ptrace_any_unseen_wait_may_belong_to_another_group),
        cmocka_unit_test(test_a_wait_stands_for_waits_of_its_length),
        cmocka_unit_test(test_sums_have_a_number_and_no_longest_wait),
        cmocka_unit_test(test_preemption_is_told_apart_from_waiting),
        cmocka_unit_test(test_cpu_time_is_that_of_the_tree_where_clocks_differ),
        cmocka_unit_test(test_longer_and_longer_waits_in_deep_stacks_take_no_time),
        cmocka_unit_test(test_a_recorder_of_waits_is_known_by_its_reasons_where_nobody_waited),
        cmocka_unit_test(test_groups_add_up_the_waits_of_the_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
