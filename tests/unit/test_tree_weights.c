/*
 * The weight of samples, and summaries. test_tree.c compares trees by each weight with the slow reference.
 */
#include "slow_tree_check.h"

#include "support/sample_rows.h"
#include "support/wait_profile.h"
#include "tree/quantity.h"
#include "tree/weight_list.h"

enum { PROFILES = 1500 };

static void each_query(void (*check)(struct engine *engine, const struct slow_query *query))
{
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct profile reference;
        struct engine *engine = random_engine(&reference, seed);
        struct random random = {seed};
        struct slow_query query;
        slow_random_query(&query, &reference, &random);
        ask(engine, &query, false);
        check(engine, &query);
        engine_free(engine);
        profile_destroy(&reference);
    }
}

static void check_other_weights(struct engine *engine, const struct slow_query *query)
{
    for (int weight = 0; weight < WEIGH_KINDS; weight++) {
        struct slow_query other = *query;
        struct func_timings asked, expected;
        struct error err;
        other.weight = (enum sample_weight)weight;
        ask(engine, query, false);
        assert_int_equal(engine_list_functions_by_weight(engine, other.weight, TABLE_SAMPLES, &asked, &err), 0);
        ask(engine, &other, false);
        assert_int_equal(engine_list_all_functions(engine, FUNCS_BY_SELF, &expected, &err), 0);
        assert_int_equal(asked.length, expected.length);
        for (size_t i = 0; i < asked.length; i++) {
            assert_int_equal(asked.rows[i].func, expected.rows[i].func);
            assert_true(asked.rows[i].total == expected.rows[i].total && asked.rows[i].self == expected.rows[i].self);
        }
        func_timings_destroy(&asked);
        func_timings_destroy(&expected);
    }
}

static void test_functions_by_another_weight_are_those_of_a_query_with_it(void **state)
{
    (void)state;
    each_query(check_other_weights);
}

static void add_weight(void *context, const struct slow_stack *stack, double weight)
{
    double *sum = context;
    (void)stack;
    *sum += weight;
}

static void check_threads(struct engine *engine, const struct slow_query *query)
{
    struct func_timings threads;
    struct error err;
    assert_int_equal(engine_list_groups(engine, GROUP_THREAD, &threads, &err), 0);
    assert_int_equal(threads.length, query->thread_count);
    for (size_t i = 0; i < threads.length; i++) {
        struct slow_query alone = *query;
        double expected = 0;
        alone.threads[0] = threads.rows[i].func;
        alone.thread_count = 1;
        slow_each_sample(&alone, add_weight, &expected);
        assert_true(threads.rows[i].total == expected);
        assert_true(i == 0 || fabs(threads.rows[i - 1].total) >= fabs(expected));
    }
    func_timings_destroy(&threads);
}

static void test_each_thread_has_what_its_samples_count(void **state)
{
    (void)state;
    each_query(check_threads);
}

static void check_totals_over_time(struct engine *engine, const struct slow_query *query)
{
    enum { RANGES = 9 };
    const struct time_range whole = engine_get_full_range(engine);
    const double length = ceil((whole.to - whole.from) / (RANGES - 2)); /* times are multiples of a fraction */
    const struct time_range first = {whole.from - length, whole.from};
    for (size_t t = 0; t < query->thread_count; t++) {
        double totals[RANGES] = {0};
        engine_add_thread_totals(engine, query->threads[t], first, RANGES, totals);
        for (int i = 0; i < RANGES; i++) {
            struct slow_query part = *query;
            double expected = 0;
            part.threads[0] = query->threads[t];
            part.thread_count = 1;
            part.range.from = fmax(query->range.from, first.from + i * length);
            part.range.to = fmin(query->range.to, first.from + (i + 1) * length);
            if (part.range.from < part.range.to)
                slow_each_sample(&part, add_weight, &expected);
            assert_true(totals[i] == expected);
        }
    }
}

static void test_totals_over_time_are_those_of_each_range(void **state)
{
    (void)state;
    each_query(check_totals_over_time);
}

/* Beside the threads of the query one that there is not, and one that was named before. */
static void check_odd_threads(struct engine *engine, const struct slow_query *query)
{
    struct slow_query odd = *query;
    struct func_timings threads;
    struct error err;
    odd.threads[odd.thread_count++] = (uint32_t)query->profile->threads.length;
    odd.threads[odd.thread_count++] = UINT32_MAX;
    if (query->thread_count)
        odd.threads[odd.thread_count++] = query->threads[0];
    ask(engine, &odd, false);
    assert_int_equal(engine_get_timings(engine)->samples, slow_sample_count(query));
    assert_int_equal(engine_list_groups(engine, GROUP_THREAD, &threads, &err), 0);
    assert_int_equal(threads.length, query->thread_count);
    func_timings_destroy(&threads);
}

static void test_threads_that_are_not_there_or_named_twice_add_nothing(void **state)
{
    (void)state;
    each_query(check_odd_threads);
}

static void check_sample_count(struct engine *engine, const struct slow_query *query)
{
    struct slow_query other = *query;
    for (int weight = 0; weight < WEIGH_KINDS; weight++) {
        other.weight = (enum sample_weight)weight;
        ask(engine, &other, false);
        assert_int_equal(engine_get_timings(engine)->samples, slow_sample_count(&other));
    }
}

static void test_samples_are_counted_whatever_they_weigh(void **state)
{
    (void)state;
    each_query(check_sample_count);
}

/* ---- which weights a file has ---- */

static void small_profile(struct profile *profile, double cpu_delta)
{
    profile_init(profile);
    profile->meta.interval = 1;
    profile_add_category(profile, "Other", "grey");
    uint32_t func = profile_add_func(profile, strings_add_z(&profile->strings, "f"), PROFILE_NONE);
    uint32_t stack = profile_add_stack(profile, PROFILE_NONE, profile_add_frame(profile, func, PROFILE_NONE, -1));
    struct sample_table *samples = &profile_add_thread(profile)->samples;
    if (!isnan(cpu_delta))
        assert_true(samples_give_cpu_delta(samples));
    profile->meta.has_cpu_delta = !isnan(cpu_delta);
    for (int i = 0; i < 3; i++) {
        assert_true(samples_add(samples, stack, i * 2));
        if (!isnan(cpu_delta))
            samples->cpu_delta[i] = i == 1 ? cpu_delta : 500;
    }
}

static unsigned held(const struct profile *profile)
{
    unsigned bits = 0;
    for (int weight = 0; weight < WEIGH_KINDS; weight++)
        bits |= (unsigned)profile_has_weight(profile, (enum sample_weight)weight) << weight;
    return bits;
}

static void test_only_weights_that_the_file_has_are_held(void **state)
{
    const unsigned always = 1u << WEIGH_RECORDED | 1u << WEIGH_TIME;
    const unsigned cpu = always | 1u << WEIGH_CPU_TIME | 1u << WEIGH_OFF_CPU_TIME;
    struct profile profile;
    (void)state;
    small_profile(&profile, NAN);
    assert_int_equal(held(&profile), always);
    profile_destroy(&profile);
    small_profile(&profile, 700);
    assert_int_equal(held(&profile), cpu);
    assert_true(samples_give_weight(&profile.threads.data[0].samples));
    assert_int_equal(held(&profile), cpu | 1u << WEIGH_SAMPLES);
    profile_destroy(&profile);
    for (int off = 0; off < 3; off++) {
        small_profile(&profile, 700);
        profile.threads.data[0].samples.cpu_delta[off] = 0;
        assert_int_equal(held(&profile), cpu | 1u << WEIGH_ON_CPU | 1u << WEIGH_OFF_CPU);
        profile_destroy(&profile);
    }
}

/* ---- time ---- */

static double sum_of(const struct profile *profile, enum sample_weight weight, struct time_range range, uint32_t stack)
{
    const uint32_t thread = 0;
    struct stack_weights weights = {0};
    struct error err;
    struct weighing weighing = {&thread, 1, range, weight, TABLE_SAMPLES, NULL, (uint32_t)profile->stacks.length - 1};
    assert_int_equal(stack_weights_sum(&weights, profile, &weighing, &err), 0);
    double sum = weights.of_stack[stack];
    stack_weights_destroy(&weights);
    return sum;
}

/* A thread that was there from 0 to 100 ms, with samples at 10, 11 and 71 ms. */
static void sleepy_profile(struct profile *profile)
{
    small_profile(profile, 700);
    struct thread *thread = &profile->threads.data[0];
    const double times[] = {10, 11, 71};
    memcpy(thread->samples.time, times, sizeof(times));
    for (int i = 0; i < 3; i++)
        thread->samples.cpu_delta[i] = 1000;
    thread->start = 0;
    thread->end = 100;
    profile_add_stack(profile, PROFILE_NONE, 0);
}

enum { RUNS, NOT_RUNNING }; /* its stacks */

static void test_a_wait_is_not_of_the_function_that_ran_next(void **state)
{
    struct profile profile;
    (void)state;
    sleepy_profile(&profile);
    assert_true(sum_of(&profile, WEIGH_OFF_CPU_TIME, whole_time, RUNS) == 0);
    assert_true(sum_of(&profile, WEIGH_TIME, whole_time, RUNS) == 3);
    assert_true(sum_of(&profile, WEIGH_CPU_TIME, whole_time, RUNS) == 3);
    assert_true(sum_of(&profile, WEIGH_CPU_TIME, whole_time, NOT_RUNNING) == 0);
    profile.threads.data[0].samples.cpu_delta[2] = 0; /* but if it was taken while it waited */
    assert_true(sum_of(&profile, WEIGH_OFF_CPU_TIME, whole_time, RUNS) == 60);
    profile_destroy(&profile);
}

static void test_waits_before_the_first_and_after_the_last_sample_count(void **state)
{
    struct profile profile;
    (void)state;
    sleepy_profile(&profile);
    assert_true(sum_of(&profile, WEIGH_OFF_CPU_TIME, whole_time, NOT_RUNNING) == 9 + 59 + 29);
    profile_destroy(&profile);
}

static void test_a_range_has_no_more_time_than_it_is_long(void **state)
{
    struct profile profile;
    (void)state;
    sleepy_profile(&profile);
    for (double from = 0; from < 100; from += 0.5)
        for (double to = from; to <= 100; to += 0.5) {
            struct time_range range = {from, to};
            double cpu = sum_of(&profile, WEIGH_CPU_TIME, range, RUNS);
            double wait = sum_of(&profile, WEIGH_OFF_CPU_TIME, range, NOT_RUNNING);
            assert_true(cpu + wait == to - from);
            assert_true(sum_of(&profile, WEIGH_TIME, range, RUNS) == cpu);
            assert_true(sum_of(&profile, WEIGH_TIME, range, NOT_RUNNING) == wait);
        }
    profile_destroy(&profile);
}

/* ---- recorded waits ---- */

/* What counts for a stack in a range, in one thread. */
static double sum_in(const struct profile *profile, uint32_t thread, enum sample_weight weight, struct time_range range,
                     uint32_t stack)
{
    struct stack_weights weights = {0};
    struct error err;
    const struct weighing weighing = {
        &thread, 1, range, weight, TABLE_SAMPLES, NULL, (uint32_t)profile->stacks.length - 1};
    assert_int_equal(stack_weights_sum(&weights, profile, &weighing, &err), 0);
    double sum = 0;
    for (uint32_t i = 0; i < profile->stacks.length; i++)
        sum += stack == PROFILE_NONE || stack == i ? weights.of_stack[i] : 0;
    stack_weights_destroy(&weights);
    return sum;
}

enum { MAIN, READER, WRITER }; /* threads of wait_profile_make() */

static struct wait_stacks make_waits(struct profile *profile)
{
    struct wait_stacks stacks = wait_profile_make(profile);
    profile_add_stack(profile, PROFILE_NONE, 0); /* for "(not running)" */
    return stacks;
}

static void test_cpu_time_before_a_wait_counts_for_the_sample_after_it(void **state)
{
    struct profile profile;
    struct wait_stacks stacks = make_waits(&profile);
    (void)state;
    assert_true(sum_in(&profile, READER, WEIGH_CPU_TIME, whole_time, stacks.lookup) == 10 + 0.25 + 1.25);
    assert_true(sum_in(&profile, READER, WEIGH_CPU_TIME, whole_time, stacks.lookup_lock_a) == 0);
    /* after the last sample: for that one */
    assert_true(sum_in(&profile, READER, WEIGH_CPU_TIME, whole_time, stacks.work) == 10 + 0.5);
    assert_true(sum_in(&profile, MAIN, WEIGH_CPU_TIME, whole_time, stacks.main) == 1);
    profile_destroy(&profile);
}

static void test_a_wait_counts_for_its_own_stack_and_moments_for_the_next(void **state)
{
    struct profile profile;
    struct wait_stacks stacks = make_waits(&profile);
    uint32_t not_running = (uint32_t)profile.stacks.length - 1;
    (void)state;
    assert_true(sum_in(&profile, READER, WEIGH_OFF_CPU_TIME, whole_time, stacks.lookup_lock_a) == 40 + 29.5);
    assert_true(sum_in(&profile, READER, WEIGH_OFF_CPU_TIME, whole_time, stacks.lookup_runnable) == 0.5 + 8);
    assert_true(sum_in(&profile, READER, WEIGH_OFF_CPU_TIME, whole_time, stacks.lookup) == 0);
    assert_true(sum_in(&profile, WRITER, WEIGH_OFF_CPU_TIME, whole_time, stacks.unknown) == 30 + 10);
    for (uint32_t thread = MAIN; thread <= WRITER; thread++)
        assert_true(sum_in(&profile, thread, WEIGH_TIME, whole_time, not_running) == 0);
    profile_destroy(&profile);
}

/* A wait stands for unseen waits anywhere before its end, so a range has its own share of their time. */
static void test_ranges_share_the_time_of_the_thread(void **state)
{
    struct profile profile;
    make_waits(&profile);
    (void)state;
    for (uint32_t thread = MAIN; thread <= WRITER; thread++)
        for (double step = 0.75; step < 105; step *= 1.5) {
            double cpu = 0, wait = 0, all = 0;
            for (double from = -5; from < 105; from += step) {
                struct time_range range = {from, from + step};
                double ran = sum_in(&profile, thread, WEIGH_CPU_TIME, range, PROFILE_NONE);
                assert_true(fabs(ran - sum_thread_cpu_time(&profile, thread, range)) < 1e-9);
                cpu += ran;
                wait += sum_in(&profile, thread, WEIGH_OFF_CPU_TIME, range, PROFILE_NONE);
                all += sum_in(&profile, thread, WEIGH_TIME, range, PROFILE_NONE);
            }
            assert_true(fabs(cpu + wait - (thread == WRITER ? 80 : 100)) < 1e-9);
            assert_true(fabs(cpu + wait - all) < 1e-9);
        }
    profile_destroy(&profile);
}

/* The recorder writes weights whose sums say the same. */
static void test_recorded_weights_are_time_of_all(void **state)
{
    struct profile profile;
    struct wait_stacks stacks = make_waits(&profile);
    (void)state;
    assert_true(sum_in(&profile, READER, WEIGH_OFF_CPU, whole_time, PROFILE_NONE) ==
                sum_in(&profile, READER, WEIGH_OFF_CPU_TIME, whole_time, PROFILE_NONE));
    assert_true(sum_in(&profile, READER, WEIGH_ON_CPU, whole_time, stacks.lookup) ==
                sum_in(&profile, READER, WEIGH_CPU_TIME, whole_time, stacks.lookup));
    profile_destroy(&profile);
}

static void test_of_times_each_wait_is_one_sample(void **state)
{
    struct profile profile;
    make_waits(&profile);
    (void)state;
    assert_int_equal(count_weighed_samples(&profile, READER, WEIGH_CPU_TIME, TABLE_SAMPLES, whole_time), 21);
    assert_int_equal(count_weighed_samples(&profile, READER, WEIGH_OFF_CPU_TIME, TABLE_SAMPLES, whole_time), 3);
    assert_int_equal(count_weighed_samples(&profile, READER, WEIGH_TIME, TABLE_SAMPLES, whole_time), 24);
    assert_int_equal(count_weighed_samples(&profile, READER, WEIGH_SAMPLES, TABLE_SAMPLES, whole_time), 21);
    profile_destroy(&profile);
}

/* "id=label(unit) ..." */
static const char *list_text(const struct profile *profile, char text[1024])
{
    struct weight_list list = {0};
    struct error err = {0};
    assert_int_equal(list_weights(&list, profile, &err), 0);
    text[0] = '\0';
    for (size_t i = 0; i < list.length; i++)
        snprintf(text + strlen(text), 1024 - strlen(text), "%s%s=%s(%s)", i ? ", " : "", list.data[i].id,
                 list.data[i].label, list.data[i].unit);
    array_free(&list);
    return text;
}

static void test_weights_are_listed_with_label_and_unit_of_what_was_recorded(void **state)
{
    const struct {
        enum weight_type type;
        const char *list;
    } cases[] = {{WEIGHT_SAMPLES, "recorded=Weighted samples(samples), samples=Samples(samples), time=Time(ms)"},
                 {WEIGHT_TRACING_MS, "recorded=Recorded time(ms), samples=Samples(samples), time=Time(ms)"},
                 {WEIGHT_BYTES, "recorded=Bytes(bytes), samples=Samples(samples), time=Time(ms)"}};
    struct profile profile;
    char text[1024];
    (void)state;
    small_profile(&profile, NAN);
    assert_string_equal(list_text(&profile, text), "recorded=Samples(samples), time=Time(ms)");
    profile.threads.data[0].samples.weight_type = WEIGHT_BYTES;
    assert_string_equal(list_text(&profile, text), "recorded=Bytes(bytes), time=Time(ms)");
    assert_true(samples_give_weight(&profile.threads.data[0].samples));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        profile.threads.data[0].samples.weight_type = cases[i].type;
        assert_string_equal(list_text(&profile, text), cases[i].list);
    }
    profile_destroy(&profile);
    small_profile(&profile, 700);
    profile.threads.data[0].samples.weight_type = WEIGHT_BYTES;
    profile.threads.data[0].samples.cpu_delta[1] = 0;
    assert_string_equal(list_text(&profile, text),
                        "recorded=Bytes(bytes), time=Time(ms), cpu-time=CPU time(ms), off-cpu-time=Off-CPU time(ms), "
                        "on-cpu=On-CPU samples(bytes), off-cpu=Off-CPU samples(bytes)");
    profile_destroy(&profile);
}

static void test_on_cpu_is_the_default_where_waits_are_recorded(void **state)
{
    struct profile profile;
    char text[1024];
    (void)state;
    wait_profile_make(&profile);
    assert_true(profile_has_waits(&profile));
    assert_string_equal(list_text(&profile, text),
                        "cpu-time=On-CPU(ms), off-cpu-time=Off-CPU(ms), time=Both(ms), samples=Samples(samples)");
    for (size_t i = 0; i < profile.threads.length; i++) /* some other recorder's */
        profile.threads.data[i].samples.weight_type = WEIGHT_SAMPLES;
    assert_false(profile_has_waits(&profile));
    assert_memory_equal(list_text(&profile, text), "recorded=", strlen("recorded="));
    profile_destroy(&profile);
}

static void test_weights_are_found_by_their_id(void **state)
{
    struct profile profile;
    struct weight weight;
    (void)state;
    small_profile(&profile, NAN);
    assert_true(find_weight_by_id(&profile, "off-cpu-time", &weight));
    assert_int_equal(weight.kind, WEIGH_OFF_CPU_TIME);
    assert_false(find_weight_by_id(&profile, "cpu", &weight));
    profile_destroy(&profile);
}

static void test_weights_are_written_in_their_unit(void **state)
{
    const struct {
        double weight;
        const char *unit, *text;
    } cases[] = {{1234567, "samples", "1,234,567"}, {-1.25, "samples", "-1.3"},
                 {1234.56, "ms", "1,234.6"},        {5, "ms", "5.0"},
                 {2048, "bytes", "2.0 KiB"},        {12345, "cache-misses", "12,345"},
                 {1e18, "cache-misses", "1e+18"},   {-1234, "samples", "-1,234"},
                 {641.449999999, "ms", "641.5"}};
    char text[QUANTITY_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        format_weight(text, cases[i].weight, cases[i].unit);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_times_have_the_unit_of_their_size(void **state)
{
    const struct {
        double ms;
        const char *text;
    } cases[] = {{0, "0.0 ms"}, {99.94, "99.9 ms"}, {3123.84, "3.124 s"}, {1204100, "1,204.1 s"}};
    char text[QUANTITY_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        format_time(text, cases[i].ms);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_by_another_weight_are_those_of_a_query_with_it),
        cmocka_unit_test(test_each_thread_has_what_its_samples_count),
        cmocka_unit_test(test_totals_over_time_are_those_of_each_range),
        cmocka_unit_test(test_threads_that_are_not_there_or_named_twice_add_nothing),
        cmocka_unit_test(test_samples_are_counted_whatever_they_weigh),
        cmocka_unit_test(test_only_weights_that_the_file_has_are_held),
        cmocka_unit_test(test_a_wait_is_not_of_the_function_that_ran_next),
        cmocka_unit_test(test_waits_before_the_first_and_after_the_last_sample_count),
        cmocka_unit_test(test_a_range_has_no_more_time_than_it_is_long),
        cmocka_unit_test(test_cpu_time_before_a_wait_counts_for_the_sample_after_it),
        cmocka_unit_test(test_a_wait_counts_for_its_own_stack_and_moments_for_the_next),
        cmocka_unit_test(test_ranges_share_the_time_of_the_thread),
        cmocka_unit_test(test_recorded_weights_are_time_of_all),
        cmocka_unit_test(test_of_times_each_wait_is_one_sample),
        cmocka_unit_test(test_on_cpu_is_the_default_where_waits_are_recorded),
        cmocka_unit_test(test_weights_are_listed_with_label_and_unit_of_what_was_recorded),
        cmocka_unit_test(test_weights_are_found_by_their_id),
        cmocka_unit_test(test_weights_are_written_in_their_unit),
        cmocka_unit_test(test_times_have_the_unit_of_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
