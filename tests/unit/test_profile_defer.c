/*
 * A profile with deferred numbers, read by other threads, equals the one that the reader makes alone, and the same
 * files are rejected.
 */
#include "profile/numbers.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A run of numbers that waits to be read. */
struct waiting {
    size_t number;
    char *text; /* between brackets */
    size_t size;
};

struct helped {
    struct profile_reader *reader;
    uint32_t random;
    size_t least, known, read; /* runs */
    struct number_columns columns;
    ARRAY(struct waiting) waiting;
};

static uint32_t next_random(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*random * below >> 32);
}

/* Keeps the texts of the runs of the last piece. */
static void note_runs(struct helped *helped)
{
    size_t count;
    const struct deferred_column *runs = profile_reader_get_deferred_columns(helped->reader, &count);
    for (; helped->known < count; helped->known++) {
        const struct deferred_column *run = &runs[helped->known];
        char *text = malloc(run->size + 2);
        text[0] = '[';
        memcpy(text + 1, run->text, run->size);
        text[run->size + 1] = ']';
        assert_true(run->size >= helped->least && run->count > 0);
        assert_true(array_push(&helped->waiting, (struct waiting){helped->known, text, run->size + 2}));
    }
}

/* Reads one of those that wait, any; false if it is not the numbers that were counted. */
static bool read_one(struct helped *helped)
{
    size_t chosen = next_random(&helped->random, (uint32_t)helped->waiting.length), count;
    struct waiting waiting = helped->waiting.data[chosen];
    helped->waiting.data[chosen] = helped->waiting.data[--helped->waiting.length];
    struct deferred_column run = profile_reader_get_deferred_columns(helped->reader, &count)[waiting.number];
    const struct column *column = numbers_read(&helped->columns, run.type, waiting.text, waiting.size);
    bool good = column && column->length == run.count;
    if (good) {
        memcpy(profile_reader_get_deferred_elements(helped->reader, waiting.number), column->data,
               run.count * column_get_element_size(run.type));
        assert_null(profile_reader_get_deferred_elements(helped->reader, waiting.number));
        helped->read++;
    }
    free(waiting.text);
    return good;
}

/* Reads a text with pieces, and runs deferred, of random sizes; sometimes nobody is there to read them. */
static bool read_helped(const char *text, size_t size, struct helped *helped, struct profile *out)
{
    struct error err;
    bool good = true;
    uint32_t most = 1 + next_random(&helped->random, 3000);
    for (size_t fed = 0, piece; good && fed < size; fed += piece) {
        piece = 1 + next_random(&helped->random, most);
        piece = piece < size - fed ? piece : size - fed;
        char *copy = malloc(piece); /* so that a look beyond it is seen */
        memcpy(copy, text + fed, piece);
        profile_reader_defer_numbers(helped->reader, next_random(&helped->random, 5) ? helped->least : 0);
        good = profile_reader_feed(helped->reader, copy, piece, &err) == 0;
        note_runs(helped);
        free(copy);
        while (good && helped->waiting.length && next_random(&helped->random, 2))
            good = read_one(helped);
    }
    while (good && helped->waiting.length)
        good = read_one(helped);
    return good && profile_reader_finish(helped->reader, out, &err) == 0;
}

static void helped_destroy(struct helped *helped)
{
    for (size_t i = 0; i < helped->waiting.length; i++)
        free(helped->waiting.data[i].text);
    array_free(&helped->waiting);
    number_columns_destroy(&helped->columns);
    profile_reader_free(helped->reader);
}

/* The runs that others read; 0 also if the file has to be read again. What is made of it must be `expected` (NULL: the
 * reader alone does not accept it). */
static size_t assert_same(const char *text, size_t size, const char *expected, uint32_t seed)
{
    struct helped helped = {.reader = profile_reader_new(), .random = seed, .least = 1};
    helped.least += next_random(&helped.random, 40);
    struct profile profile = {0};
    bool accepted = read_helped(text, size, &helped, &profile);
    if (accepted) {
        if (!expected)
            fail_msg("seed %u: accepted, but not by the reader alone", seed);
        char *actual = text_of_profile(&profile, 0);
        assert_string_equal(actual, expected);
        free(actual);
        profile_destroy(&profile);
    }
    helped_destroy(&helped);
    return accepted ? helped.read : 0;
}

/* What the reader alone makes of a text; NULL if it does not accept it. */
static char *read_alone(const char *text, size_t size)
{
    struct profile profile = {0};
    struct error err;
    if (read_bytes(text, size, SIZE_MAX, &profile, &err) != 0)
        return NULL;
    char *out = text_of_profile(&profile, 0);
    profile_destroy(&profile);
    return out;
}

static const char *const FILES[] = {"minimal.json", "full.json", "version53.json", "samply-0.13.json",
                                    "samply-0.13-markers.json"};
enum { FILE_COUNT = sizeof(FILES) / sizeof(*FILES) };

static void test_numbers_that_others_read_make_the_same_profile(void **state)
{
    (void)state;
    for (size_t file = 0; file < FILE_COUNT; file++) {
        char *text = text_of_file(FILES[file]);
        char *expected = read_alone(text, strlen(text));
        assert_non_null(expected);
        size_t runs = 0;
        for (uint32_t seed = 1; seed <= 100; seed++)
            runs += assert_same(text, strlen(text), expected, seed);
        if (runs < 100)
            fail_msg("%s: only %zu runs were read by others", FILES[file], runs);
        free(expected);
        free(text);
    }
}

static void test_what_is_broken_is_not_accepted_with_help(void **state)
{
    (void)state;
    static const char bytes[] = "0123456789.,,,-e[]{}\": nulx";
    uint32_t random = 7;
    size_t refused = 0;
    for (size_t round = 0; round < 1500; round++) {
        char *text = text_of_file(FILES[round % 3]);
        size_t size = strlen(text);
        for (uint32_t changes = 1 + next_random(&random, 3); changes; changes--)
            text[next_random(&random, (uint32_t)size)] = bytes[next_random(&random, sizeof(bytes) - 1)];
        if (round % 10 == 0)
            size = next_random(&random, (uint32_t)size);
        char *expected = read_alone(text, size);
        refused += !expected;
        assert_same(text, size, expected, (uint32_t)round);
        free(expected);
        free(text);
    }
    assert_in_range(refused, 100, 1400);
}

/* A column of a text with one place changed, all of whose numbers are deferred. */
static bool is_accepted_with_help(const char *from, const char *to)
{
    char *text = text_replace(text_of_file("minimal.json"), from, to);
    struct helped helped = {.reader = profile_reader_new(), .least = 1};
    struct profile profile = {0};
    struct error err;
    profile_reader_defer_numbers(helped.reader, 1);
    bool good = profile_reader_feed(helped.reader, text, strlen(text), &err) == 0;
    note_runs(&helped);
    while (good && helped.waiting.length)
        good = read_one(&helped);
    good = good && profile_reader_finish(helped.reader, &profile, &err) == 0;
    if (good)
        profile_destroy(&profile);
    helped_destroy(&helped);
    free(text);
    return good;
}

static void test_a_column_with_something_else_in_it_is_not_accepted_with_help(void **state)
{
    (void)state;
    static const char column[] = "\"frame\": [0, 1, 2]";
    static const char *const wrong[] = {"0,\"1\",2",      "0,\"]\",2", "0,\"1,2\",2", "0,[1],2", "0,,2",
                                        "0,1 1,2",        "0,{},2",    "0,true,2",    "0,1.5,2", "0,-2,2",
                                        "0,4294967295,2", "0,01,2",    "0,nul,2",     "0,+1,2",  "0,1e,2"};
    assert_true(is_accepted_with_help(column, column));
    assert_true(is_accepted_with_help(column, "\"frame\": [ 0 ,\n1.0, 2e0]"));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char text[64];
        snprintf(text, sizeof(text), "\"frame\": [%s]", wrong[i]);
        if (is_accepted_with_help(column, text))
            fail_msg("%s was accepted", text);
    }
}

static void test_a_column_that_is_there_twice_is_the_last(void **state)
{
    (void)state;
    static const char twice[] = "\"frame\": [2, 2, 2, 2, 2], \"frame\": [0, 1, 2]";
    char *text = text_replace(text_of_file("minimal.json"), "\"frame\": [0, 1, 2]", twice);
    char *expected = read_alone(text, strlen(text));
    assert_non_null(expected);
    for (uint32_t seed = 1; seed < 200; seed++)
        assert_same(text, strlen(text), expected, seed);
    free(expected);
    free(text);
}

static void test_a_profile_is_not_finished_while_numbers_are_missing(void **state)
{
    (void)state;
    char *text = text_of_file("minimal.json");
    struct profile_reader *reader = profile_reader_new();
    struct profile profile = {0};
    struct error err;
    size_t count;
    profile_reader_defer_numbers(reader, 1);
    assert_int_equal(profile_reader_feed(reader, text, strlen(text), &err), 0);
    profile_reader_get_deferred_columns(reader, &count);
    assert_true(count > 10);
    assert_null(profile_reader_get_deferred_elements(reader, count));
    assert_int_not_equal(profile_reader_finish(reader, &profile, &err), 0);
    assert_non_null(strstr(err.text, "lacks some numbers"));
    profile_reader_free(reader);
    free(text);
}

/* Whether a run of `count` elements that are all `element` is read as such. */
static void assert_read(struct number_columns *columns, enum column_type type, const char *element, size_t count,
                        double value)
{
    size_t length = strlen(element), size = 0;
    char *text = malloc(count * (length + 1) + 1);
    for (size_t i = 0; i < count; i++, size += length + 1) {
        text[size] = i ? ',' : '[';
        memcpy(text + size + 1, element, length);
    }
    text[size++] = ']';
    const struct column *column = numbers_read(columns, type, text, size);
    assert_non_null(column);
    assert_int_equal(column->length, count);
    for (size_t i = 0; i < count; i += count - 1)
        assert_true((type == COLUMN_DOUBLE    ? ((const double *)column->data)[i]
                     : type == COLUMN_ADDRESS ? (double)((const int64_t *)column->data)[i]
                     : type == COLUMN_SMALL   ? ((const uint8_t *)column->data)[i]
                                              : ((const uint32_t *)column->data)[i]) == value);
    free(text);
}

static void test_numbers_of_larger_types_are_read_after_those_of_smaller_ones(void **state)
{
    (void)state;
    struct number_columns columns = {0};
    for (size_t count = 100; count <= 100000; count *= 10) {
        assert_read(&columns, COLUMN_SMALL, "7", count, 7);
        assert_read(&columns, COLUMN_INDEX, "12", count, 12);
        assert_read(&columns, COLUMN_POSITION, "13", count, 13);
        assert_read(&columns, COLUMN_ADDRESS, "4096", count, 4096);
        assert_read(&columns, COLUMN_DOUBLE, "0.25", count, 0.25);
    }
    assert_null(numbers_read(&columns, COLUMN_FLAG, "[1]", 3));
    number_columns_destroy(&columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_that_others_read_make_the_same_profile),
        cmocka_unit_test(test_what_is_broken_is_not_accepted_with_help),
        cmocka_unit_test(test_a_column_with_something_else_in_it_is_not_accepted_with_help),
        cmocka_unit_test(test_a_column_that_is_there_twice_is_the_last),
        cmocka_unit_test(test_numbers_of_larger_types_are_read_after_those_of_smaller_ones),
        cmocka_unit_test(test_a_profile_is_not_finished_while_numbers_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
