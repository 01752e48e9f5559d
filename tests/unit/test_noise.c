/*
 * Whether a change is more than noise. Recordings are drawn here from a model: a program that spends its time in a few
 * functions, in phases that last longer than a block, and is sampled at random. tests/bench/bench_noise does the same
 * with a real recording.
 */
#include "tree/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { FUNCS = 12, RUNS = 10, BLOCKS = 150, PAIRS = 200 };

struct random {
    uint64_t state;
};

static double uniform(struct random *random)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random->state >> 11) / 9007199254740992.0;
}

static double normal(struct random *random)
{
    return sqrt(-2 * log(1 - uniform(random))) * cos(6.283185307179586 * uniform(random));
}

/* ---- Student's distribution ---- */

static void test_chances_are_those_of_tables(void **state)
{
    (void)state;
    static const struct {
        double t, degrees, chance;
    } known[] = {{12.706, 1, 0.05}, {4.303, 2, 0.05},  {2.228, 10, 0.05}, {2.101, 18, 0.05},  {1.960, 1e6, 0.05},
                 {63.657, 1, 0.01}, {3.169, 10, 0.01}, {0, 5, 1},         {2.576, 1e6, 0.01}, {4.587, 10, 0.001}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        assert_true(fabs(compute_student_chance(known[i].t, known[i].degrees) - known[i].chance) < 1e-4);
    assert_true(compute_student_chance(INFINITY, 3) == 0);
}

/* ---- runs ---- */

static struct change_estimate of_runs(const double *base, size_t base_count, const double *new, size_t new_count)
{
    const struct noise_units a = {base, base_count, true, 0}, b = {new, new_count, true, 0};
    return estimate_change(&a, &b);
}

/* Welch's own example has other sizes and variances on both sides; the figures are those of R's t.test(). */
static void test_intervals_of_runs_are_welch_s(void **state)
{
    (void)state;
    const double base[] = {10, 12, 11, 13, 9}, new[] = {14, 18, 12, 16};
    struct change_estimate change = of_runs(base, 5, new, 4);
    assert_true(fabs(change.base - 11) < 1e-12 && fabs(change.new - 15) < 1e-12);
    assert_true(change.low > 0 && fabs((change.low + change.high) / 2 - 4) < 1e-9);
    double error = sqrt(2.5 / 5 + (20.0 / 3) / 4),
           degrees = pow(2.5 / 5 + (20.0 / 3) / 4, 2) / (pow(2.5 / 5, 2) / 4 + pow((20.0 / 3) / 4, 2) / 3);
    assert_true(fabs(change.chance - compute_student_chance(4 / error, degrees)) < 1e-12);
    assert_true(fabs(compute_student_chance((change.high - 4) / error, degrees) - 0.05) < 1e-6);
}

static void test_equal_runs_have_not_changed(void **state)
{
    (void)state;
    const double values[] = {5, 5, 5};
    struct change_estimate change = of_runs(values, 3, values, 3), *list[] = {&change};
    struct error err;
    assert_int_equal(judge_changes(list, 1, &err), 0);
    assert_true(change.is_noise && change.chance == 1);
}

static void test_a_difference_below_one_sample_is_noise(void **state)
{
    (void)state;
    const double base[] = {5, 5, 5, 5}, new[] = {5.4, 5.4, 5.4, 5.4};
    const struct noise_units a = {base, 4, true, 1}, b = {new, 4, true, 1};
    assert_true(estimate_change(&a, &b).chance > 0.05);
}

/* ---- all together ---- */

enum { MANY = 50 };

/* Of the functions, `changed` have this chance; the others are spread as chance spreads them. Returns how many are
 * called changed. */
static size_t judge(double chance_of_all, double chance, size_t changed, bool *is_all_changed)
{
    struct change_estimate all = {.chance = chance_of_all}, changes[MANY];
    struct error err;
    size_t found = 0;
    for (size_t i = 0; i < MANY; i++)
        changes[i] =
            (struct change_estimate){.chance = i < changed ? chance : (double)(i - changed + 1) / (MANY - changed + 1)};
    assert_int_equal(judge_function_changes(&all, changes, MANY, &err), 0);
    for (size_t i = 0; i < MANY; i++)
        found += !changes[i].is_noise;
    *is_all_changed = !all.is_noise;
    return found;
}

static void test_many_functions_do_not_hide_the_total(void **state)
{
    (void)state;
    bool is_all_changed;
    assert_int_equal(judge(0.02, 1, 0, &is_all_changed), 0);
    assert_true(is_all_changed);
    judge(0.03, 1, 0, &is_all_changed);
    assert_false(is_all_changed);
}

static void test_where_much_changes_less_is_chance(void **state)
{
    (void)state;
    bool is_all_changed;
    assert_int_equal(judge(1, 0.01, 1, &is_all_changed), 0);
    assert_int_equal(judge(1, 0.01, 30, &is_all_changed), 30);
    assert_int_equal(judge(1, 0.0004, 1, &is_all_changed), 1);
}

static void test_a_total_without_functions_is_judged_alone(void **state)
{
    (void)state;
    struct change_estimate all = {.chance = 0.04};
    struct error err;
    assert_int_equal(judge_function_changes(&all, NULL, 0, &err), 0);
    assert_false(all.is_noise);
}

/* ---- A/A comparisons ---- */

/* What a run counts of each function: the sum of its blocks, of which phases last for several. */
static void draw_run(struct random *random, double blocks[FUNCS][BLOCKS], double sums[FUNCS], double slower)
{
    double phase[FUNCS];
    for (int f = 0; f < FUNCS; f++)
        sums[f] = phase[f] = 0;
    for (int b = 0; b < BLOCKS; b++)
        for (int f = 0; f < FUNCS; f++) {
            phase[f] = 0.3 * phase[f] + 0.1 * normal(random);
            double mean = (f == 0 ? 40.0 * slower : 40.0 / (1 + f)) * exp(phase[f]);
            double value = fmax(0, floor(mean + sqrt(mean) * normal(random) + 0.5));
            blocks[f][b] = value;
            sums[f] += value;
        }
}

struct side {
    double runs[FUNCS][RUNS], blocks[FUNCS][BLOCKS];
};

static void draw_side(struct random *random, struct side *side, double slower)
{
    double sums[FUNCS];
    for (int run = 0; run < RUNS; run++) {
        draw_run(random, side->blocks, sums, slower);
        for (int f = 0; f < FUNCS; f++)
            side->runs[f][run] = sums[f];
    }
}

static struct change_estimate estimate(const double *base_runs, const double *new_runs, const double *base_blocks,
                                       const double *new_blocks, bool are_runs)
{
    const struct noise_units a = {are_runs ? base_runs : base_blocks, are_runs ? RUNS : BLOCKS, are_runs, 1};
    const struct noise_units b = {are_runs ? new_runs : new_blocks, are_runs ? RUNS : BLOCKS, are_runs, 1};
    return estimate_change(&a, &b);
}

/* Whether anything is called changed, and whether the first function is. */
static void compare(const struct side *base, const struct side *new, bool are_runs, bool *any, bool *first)
{
    struct change_estimate changes[FUNCS], all;
    struct side sums[2] = {{.runs = {{0}}}, {.runs = {{0}}}};
    struct error err;
    for (int side = 0; side < 2; side++)
        for (int f = 0; f < FUNCS; f++) {
            for (int i = 0; i < RUNS; i++)
                sums[side].runs[0][i] += (side ? new : base)->runs[f][i];
            for (int i = 0; i < BLOCKS; i++)
                sums[side].blocks[0][i] += (side ? new : base)->blocks[f][i];
        }
    all = estimate(sums[0].runs[0], sums[1].runs[0], sums[0].blocks[0], sums[1].blocks[0], are_runs);
    for (int f = 0; f < FUNCS; f++)
        changes[f] = estimate(base->runs[f], new->runs[f], base->blocks[f], new->blocks[f], are_runs);
    assert_int_equal(judge_function_changes(&all, changes, FUNCS, &err), 0);
    *any = !all.is_noise;
    *first = !changes[0].is_noise;
    for (int f = 0; f < FUNCS; f++)
        *any |= !changes[f].is_noise;
}

static int count_changed(double slower, bool are_runs, bool of_first)
{
    struct random random = {42};
    static struct side base, new;
    int count = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
        bool any, first;
        draw_side(&random, &base, 1);
        draw_side(&random, &new, slower);
        compare(&base, &new, are_runs, &any, &first);
        count += of_first ? first : any;
    }
    return count;
}

static void test_comparisons_of_the_same_find_no_change(void **state)
{
    (void)state;
    assert_true(count_changed(1, true, false) <= PAIRS * 5 / 100);
    assert_true(count_changed(1, false, false) <= PAIRS * 5 / 100);
}

static void test_five_percent_more_in_ten_runs_are_found(void **state)
{
    (void)state;
    assert_true(count_changed(1.05, true, true) >= PAIRS * 95 / 100);
}

static void test_twice_the_time_is_found_in_one_run(void **state)
{
    (void)state;
    assert_true(count_changed(2, false, true) >= PAIRS * 95 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chances_are_those_of_tables),
        cmocka_unit_test(test_intervals_of_runs_are_welch_s),
        cmocka_unit_test(test_equal_runs_have_not_changed),
        cmocka_unit_test(test_a_difference_below_one_sample_is_noise),
        cmocka_unit_test(test_many_functions_do_not_hide_the_total),
        cmocka_unit_test(test_where_much_changes_less_is_chance),
        cmocka_unit_test(test_a_total_without_functions_is_judged_alone),
        cmocka_unit_test(test_comparisons_of_the_same_find_no_change),
        cmocka_unit_test(test_five_percent_more_in_ten_runs_are_found),
        cmocka_unit_test(test_twice_the_time_is_found_in_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
