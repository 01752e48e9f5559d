/*
 * Counters: the values of a pixel, a time and a range, against sums and rates computed value by value.
 */
#include "random_profile.h"
#include "tree/timeline_counters.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 3000, MOST = 40, WIDTH = 30 };

struct made {
    struct counter counter;
    double time[MOST], count[MOST];
};

static void make(struct made *made, struct random *random)
{
    double time = random_below(random, 5);
    made->counter = (struct counter){.time = made->time, .count = made->count, .length = random_below(random, MOST)};
    for (size_t i = 0; i < made->counter.length; i++, time += random_below(random, 5) * 0.5) {
        made->time[i] = time;
        made->count[i] = (double)random_below(random, 100) - 40;
    }
}

/* The running sum after sample `last`; the change of the first sample is nothing. */
static double sum_to(const struct counter *counter, size_t last)
{
    double sum = 0;
    for (size_t i = 1; i <= last; i++)
        sum += counter->count[i];
    return sum;
}

/* The largest value that a pixel shows: of every sample that lies in it or reaches into it. */
static double slow_pixel(const struct counter *counter, bool is_rate, double left, double right)
{
    double most = NAN;
    for (size_t i = 0; i < counter->length; i++) {
        bool has_next = i + 1 < counter->length;
        if (is_rate && i == 0)
            continue;
        double start = is_rate ? counter->time[i - 1] : counter->time[i];
        double end = is_rate ? counter->time[i] : has_next ? counter->time[i + 1] : counter->time[i];
        double elapsed = i ? counter->time[i] - counter->time[i - 1] : 0;
        double value = is_rate ? (elapsed > 0 ? counter->count[i] / elapsed : 0) : sum_to(counter, i);
        bool is_point = start == end && start >= left && start < right;
        if (is_point || (start < right && end > left))
            most = fmax(most, value);
    }
    return most;
}

static void test_a_pixel_shows_the_largest_value_in_it(void **state)
{
    (void)state;
    struct random random = {5};
    struct made made;
    for (int round = 0; round < ROUNDS; round++) {
        float values[WIDTH];
        make(&made, &random);
        /* Pixels of a quarter: all times are exact. */
        double from = random_below(&random, 20) * 0.25, to = from + WIDTH * 0.25;
        for (int is_rate = 0; is_rate < 2; is_rate++) {
            draw_counter_graph(&made.counter, is_rate, from, to, values, WIDTH);
            for (uint32_t x = 0; x < WIDTH; x++) {
                double slow = slow_pixel(&made.counter, is_rate, from + x * 0.25, from + (x + 1) * 0.25);
                assert_int_equal(isnan(values[x]), isnan(slow));
                assert_true(isnan(slow) || values[x] == (float)slow);
            }
        }
    }
}

static void test_a_place_shows_the_sample_of_the_graph_there(void **state)
{
    (void)state;
    struct random random = {6};
    struct made made;
    for (int round = 0; round < ROUNDS; round++) {
        make(&made, &random);
        const struct counter *counter = &made.counter;
        double time = random_below(&random, 100) * 0.25;
        size_t before = SIZE_MAX, after = SIZE_MAX;
        for (size_t i = 0; i < counter->length; i++) {
            if (counter->time[i] <= time)
                before = i;
            if (counter->time[i] >= time && after == SIZE_MAX)
                after = i;
        }
        struct counter_value value;
        assert_int_equal(find_counter_value(&value, counter, false, time), before != SIZE_MAX);
        if (before != SIZE_MAX)
            assert_true(value.time == counter->time[before] && value.accumulated == sum_to(counter, before));
        assert_int_equal(find_counter_value(&value, counter, true, time), after != SIZE_MAX && after > 0);
        if (after != SIZE_MAX && after > 0) {
            double elapsed = counter->time[after] - counter->time[after - 1];
            assert_true(value.rate == (elapsed > 0 ? counter->count[after] / elapsed : 0));
            assert_true(value.change == counter->count[after]);
        }
    }
}

static void test_totals_are_the_sums_of_the_range(void **state)
{
    (void)state;
    struct random random = {7};
    struct made made;
    for (int round = 0; round < ROUNDS; round++) {
        make(&made, &random);
        const struct counter *counter = &made.counter;
        double from = random_below(&random, 60) * 0.25, to = from + 0.25 + random_below(&random, 60) * 0.25;
        double total = 0, low = NAN, high = NAN;
        for (size_t i = 0; i < counter->length; i++) {
            bool inside = counter->time[i] > from && counter->time[i] <= to;
            bool reaches = counter->time[i] <= to && (i + 1 == counter->length || counter->time[i + 1] > from);
            if (inside && i > 0)
                total += counter->count[i];
            if (inside || reaches) {
                low = fmin(low, sum_to(counter, i));
                high = fmax(high, sum_to(counter, i));
            }
        }
        double least = NAN, most = NAN, covered = 0, area = 0;
        for (size_t i = 1; i < counter->length; i++) {
            double length = fmin(to, counter->time[i]) - fmax(from, counter->time[i - 1]);
            double elapsed = counter->time[i] - counter->time[i - 1];
            if (counter->time[i] > from && counter->time[i] <= to && elapsed > 0) {
                least = fmin(least, counter->count[i] / elapsed);
                most = fmax(most, counter->count[i] / elapsed);
            }
            covered += fmax(0, length);
            area += fmax(0, length) * sum_to(counter, i - 1);
        }
        struct counter_totals totals;
        sum_counter(&totals, counter, false, from, to);
        assert_true(isnan(least) ? isnan(totals.least) : totals.least == least && totals.most == most);
        assert_true(fabs(totals.covered - covered) < 1e-9);
        assert_true(covered == 0 || fabs(totals.mean - area / covered) < 1e-9);
        assert_true(totals.total == total);
        assert_int_equal(isnan(totals.low), isnan(low));
        assert_true(isnan(low) || (totals.low == low && totals.high == high));
    }
}

static void test_a_counter_says_how_it_is_shown(void **state)
{
    (void)state;
    struct profile profile;
    struct counter_display display;
    profile_init(&profile);
    struct counter counter = {.name = strings_add_z(&profile.strings, "malloc"),
                              .category = strings_add_z(&profile.strings, "Memory"),
                              .json = PROFILE_NONE};
    read_counter_display(&display, &profile, &counter);
    assert_false(display.is_rate);
    assert_string_equal(display.unit, "bytes");
    assert_string_equal(display.label, "malloc");
    counter.json = strings_add_z(&profile.strings,
                                 "{\"graphType\":\"line-rate\",\"tooltipRows\":[{\"type\":\"value\",\"label\":\"no\"}],"
                                 "\"unit\":\"pWh\",\"color\":\"red\",\"label\":\"Power\",\"sortWeight\":3}");
    read_counter_display(&display, &profile, &counter);
    assert_true(display.is_rate && display.sort_weight == 3);
    assert_string_equal(display.unit, "pWh");
    assert_string_equal(display.color, "red");
    assert_string_equal(display.label, "Power");
    counter.json = strings_add_z(&profile.strings, "{\"unit\":\"0123456789012345678901234567890\xc3\xa9 too long\"}");
    read_counter_display(&display, &profile, &counter);
    assert_string_equal(display.unit, "0123456789012345678901234567890");
    assert_false(display.starts_at_zero || display.is_hidden_at_first || display.is_of_system);
    counter.json =
        strings_add_z(&profile.strings, "{\"countUnit\":\"cpu-ms\",\"unit\":\"percent\",\"startsAtZero\":true,"
                                        "\"isHiddenAtFirst\":true,\"isOfSystem\":true}");
    read_counter_display(&display, &profile, &counter);
    assert_true(display.starts_at_zero && display.is_hidden_at_first && display.is_of_system);
    assert_string_equal(display.unit, "cpu-ms");
    counter.category = strings_add_z(&profile.strings, "CPU");
    counter.json = PROFILE_NONE;
    read_counter_display(&display, &profile, &counter);
    assert_string_equal(display.unit, "percent");
    profile.meta.has_cpu_delta = true; /* only then is it known what is counted */
    read_counter_display(&display, &profile, &counter);
    assert_true(display.is_rate);
    assert_string_equal(display.unit, "cpu-us");
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pixel_shows_the_largest_value_in_it),
        cmocka_unit_test(test_a_place_shows_the_sample_of_the_graph_there),
        cmocka_unit_test(test_totals_are_the_sums_of_the_range),
        cmocka_unit_test(test_a_counter_says_how_it_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
