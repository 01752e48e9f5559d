/* Numbers are read as strtod() reads them and written as briefly as they can be read back. */
#include "base/json_number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 200000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Doubles of all sizes: random bits, times with decimals, large and small ratios. */
static double random_double(uint64_t *state, unsigned kind)
{
    uint64_t bits = next_random(state);
    double value;
    switch (kind % 4) {
    case 0:
        memcpy(&value, &bits, sizeof(value));
        return isfinite(value) ? value : 0;
    case 1:
        return (double)(bits % 100000000) / 1000;
    case 2:
        return (double)(int64_t)bits / (double)(UINT64_C(1) << next_random(state) % 63);
    default:
        return (double)(bits % 1000000) * 0.001 + (double)(next_random(state) % 1000) * 1e-6;
    }
}

static void test_every_double_survives_writing_and_reading(void **unused)
{
    (void)unused;
    uint64_t state = 42;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double value = random_double(&state, i);
        char text[NUMBER_MAX + 1];
        char *end = number_put_double(text, value);
        assert_true(end - text <= NUMBER_MAX);
        *end = '\0';
        assert_true(number_parse(text, (size_t)(end - text)) == value);
        assert_true(strtod(text, NULL) == value);
    }
}

static void test_numbers_of_any_length_are_read_as_strtod_reads_them(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char text[64];
        int length =
            snprintf(text, sizeof(text), "%.*g", (int)(next_random(&state) % 25 + 1), random_double(&state, i));
        double expected = strtod(text, NULL);
        if (isfinite(expected)) /* rounding can go beyond the largest double */
            assert_true(number_parse(text, (size_t)length) == expected);
    }
}

static void test_digits_that_are_a_multiple_of_two_to_the_64_are_not_zero(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"18446744073709551616", "-36893488147419103232", "184467440737095516160",
                                        "1.8446744073709551616", "0.0018446744073709551616e3"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_true(number_parse(texts[i], strlen(texts[i])) == strtod(texts[i], NULL));
}

static void test_ties_go_to_the_even_neighbor(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"9007199254740993",        "9007199254740995",       "9007199254740993.0",
                                        "0.500000000000000166533", "1.00000000000000011102", "1.00000000000000033306",
                                        "900719925474099.25",      "4503599627370497.5",     "4503599627370496.5"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_true(number_parse(texts[i], strlen(texts[i])) == strtod(texts[i], NULL));
}

static void test_numbers_beyond_a_double_stay_finite(void **unused)
{
    (void)unused;
    assert_true(isfinite(number_parse("1e400", 5)));
    assert_true(number_parse("-1e400", 6) < -1e308);
    assert_true(number_parse("1e-400", 6) == 0);
    char many[2001];
    memset(many, '9', 2000);
    assert_true(isfinite(number_parse(many, 2000)));
    assert_true(number_parse("0.000000000000000000000000000000000000000000000000001", 53) == 1e-51);
}

static void test_what_follows_a_number_does_not_count(void **unused)
{
    (void)unused;
    assert_true(number_parse("12345", 3) == 123);
    assert_true(number_parse("1.2345", 3) == 1.2);
    assert_true(number_parse("1e345", 3) == 1e3);
}

static const char *double_text(double value)
{
    static char text[NUMBER_MAX + 1];
    *number_put_double(text, value) = '\0';
    return text;
}

static void test_doubles_are_written_briefly(void **unused)
{
    (void)unused;
    assert_string_equal(double_text(0.1), "0.1");
    assert_string_equal(double_text(1.001), "1.001");
    assert_string_equal(double_text(-12.5), "-12.5");
    assert_string_equal(double_text(1767225600000.125), "1767225600000.125");
    assert_string_equal(double_text(0.30000000000000004), "0.30000000000000004");
    assert_string_equal(double_text(1e21), "1e+21");
    assert_string_equal(double_text(1.2345678901234566e-9), "1.2345678901234566e-9");
    assert_string_equal(double_text(0), "0");
    assert_string_equal(double_text(NAN), "null");
    assert_string_equal(double_text(INFINITY), "null");
}

static void test_decimals_lose_their_trailing_zeros(void **unused)
{
    (void)unused;
    static const struct {
        int64_t value;
        unsigned decimals;
        const char *text;
    } cases[] = {{1230, 3, "1.23"},
                 {-5, 1, "-0.5"},
                 {1000, 3, "1"},
                 {7, 3, "0.007"},
                 {0, 6, "0"},
                 {42, 0, "42"},
                 {INT64_MIN, 0, "-9223372036854775808"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[NUMBER_MAX + 1];
        *number_put_decimal(text, cases[i].value, cases[i].decimals) = '\0';
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_double_survives_writing_and_reading),
        cmocka_unit_test(test_numbers_of_any_length_are_read_as_strtod_reads_them),
        cmocka_unit_test(test_digits_that_are_a_multiple_of_two_to_the_64_are_not_zero),
        cmocka_unit_test(test_ties_go_to_the_even_neighbor),
        cmocka_unit_test(test_numbers_beyond_a_double_stay_finite),
        cmocka_unit_test(test_what_follows_a_number_does_not_count),
        cmocka_unit_test(test_doubles_are_written_briefly),
        cmocka_unit_test(test_decimals_lose_their_trailing_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
