/* JSON tokens are the same for all splits of the text; invalid JSON is rejected at its first wrong byte. */
#include "base/json.h"
#include "base/json_write.h"
#include "support/memory_sink.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* The tokens of a text in short: brackets, quoted texts, numbers. Ends in "!" and the place if it failed. */
static void describe(const char *text, size_t size, size_t piece, struct memory *out)
{
    struct json json;
    json_init(&json);
    size_t fed = 0;
    for (;;) {
        enum json_type type = json_next(&json);
        char note[64] = "";
        if (type == JSON_MORE && fed == size) {
            json_end_input(&json);
        } else if (type == JSON_MORE) {
            size_t part = size - fed < piece ? size - fed : piece;
            json_feed(&json, text + fed, part);
            fed += part;
        } else if (type == JSON_END) {
            break;
        } else if (type == JSON_FAILED) {
            memory_write(out, note, (size_t)sprintf(note, "!%llu", (unsigned long long)json.offset), NULL);
            break;
        } else if (type == JSON_KEY || type == JSON_STRING) {
            memory_write(out, type == JSON_KEY ? "k'" : "s'", 2, NULL);
            memory_write(out, json.text, json.length, NULL);
            memory_write(out, "'", 1, NULL);
        } else if (type == JSON_NUMBER) {
            memory_write(out, note, (size_t)sprintf(note, "%.17g ", json.number), NULL);
        } else {
            static const char signs[] = {
                [JSON_OBJECT_OPEN] = '{', [JSON_OBJECT_CLOSE] = '}', [JSON_ARRAY_OPEN] = '[', [JSON_ARRAY_CLOSE] = ']',
                [JSON_TRUE] = 't',        [JSON_FALSE] = 'f',        [JSON_NULL] = 'n'};
            memory_write(out, &signs[type], 1, NULL);
        }
    }
    json_destroy(&json);
}

static void assert_tokens(const char *text, const char *expected)
{
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
        struct memory out = {0};
        memory_write(&out, "", 0, NULL);
        describe(text, strlen(text), piece, &out);
        assert_string_equal(out.data, expected);
        array_free(&out);
    }
}

static void test_tokens_do_not_depend_on_the_cuts(void **state)
{
    (void)state;
    assert_tokens(" {\"a\" : [1, -2.5e3, true,false , null,\"x\"], \"b\":{}} ", "{k'a'[1 -2500 tfns'x']k'b'{}}");
    assert_tokens("[]", "[]");
    assert_tokens("12", "12 ");
    assert_tokens("\"\"", "s''");
    assert_tokens("[[[{\"a\":[]}]]]", "[[[{k'a'[]}]]]");
}

static void test_strings_are_decoded(void **state)
{
    (void)state;
    assert_tokens("\"a\\n\\\"\\\\\\/\\u0041\"", "s'a\n\"\\/A'");
    assert_tokens("\"\\u00e9\\u20ac\\ud83d\\ude00\"", "s'\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80'");
    assert_tokens("\"long enough for eight bytes at once, with \xc3\xa9\"",
                  "s'long enough for eight bytes at once, with \xc3\xa9'");
}

static void test_half_surrogates_and_wrong_utf8_become_replacement_characters(void **state)
{
    (void)state;
    assert_tokens("\"\\ud83d\"", "s'\xef\xbf\xbd'");
    assert_tokens("\"\\ude00x\"", "s'\xef\xbf\xbdx'");
    assert_tokens("\"\\ud83d\\u0041\"", "s'\xef\xbf\xbd\x41'");
    assert_tokens("\"\xff\"", "s'\xef\xbf\xbd'");
    assert_tokens("\"\xc0\xaf\"", "s'\xef\xbf\xbd\xef\xbf\xbd'");                 /* overlong */
    assert_tokens("\"\xed\xa0\x80\"", "s'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd'"); /* a surrogate */
    assert_tokens("\"\xe2\x82\"", "s'\xef\xbf\xbd\xef\xbf\xbd'");                 /* cut short */
}

/* Whole texts are looked through eight bytes at a time, those that come byte by byte are not. */
static void test_every_byte_means_the_same_at_every_place_of_a_string(void **state)
{
    (void)state;
    enum { LENGTH = 24, FIRST = 2, LAST = LENGTH - 3 };
    for (int byte = 0; byte < 256; byte++)
        for (size_t at = FIRST; at <= LAST; at++) {
            char text[LENGTH + 1] = "[\"abcdefghijklmnopqrst\"]";
            text[at] = (char)byte;
            struct memory whole = {0}, slow = {0};
            describe(text, LENGTH, LENGTH, &whole);
            describe(text, LENGTH, 1, &slow);
            assert_int_equal(whole.length, slow.length);
            assert_memory_equal(whole.data, slow.data, slow.length);
            array_free(&whole);
            array_free(&slow);
        }
}

static void test_what_is_not_json_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_tokens("[1,]", "[1 !3");
    assert_tokens("{\"a\":1,}", "{k'a'1 !7");
    assert_tokens("{\"a\" 1}", "{k'a'!5");
    assert_tokens("[1 2]", "[1 !3");
    assert_tokens("[01]", "[!1");
    assert_tokens("[1.]", "[!1");
    assert_tokens("[.5]", "[!1");
    assert_tokens("[-]", "[!1");
    assert_tokens("[1e]", "[!1");
    assert_tokens("[NaN]", "[!1");
    assert_tokens("[nul]", "[!1");
    assert_tokens("[\"\\x\"]", "[!1");
    assert_tokens("[\"\\u12g4\"]", "[!1");
    assert_tokens("[\"a\tb\"]", "[!3");
    assert_tokens("[1]]", "[1 ]!3");
    assert_tokens("[1}", "[1 !2");
    assert_tokens("{\"a\":1]", "{k'a'1 !6");
    assert_tokens("", "!0");
    assert_tokens("[1", "[1 !2");
    assert_tokens("[\"ab", "[!4");
}

static void test_nesting_is_bounded(void **state)
{
    (void)state;
    char text[JSON_MAX_DEPTH + 2], expected[JSON_MAX_DEPTH + 16];
    memset(text, '[', JSON_MAX_DEPTH + 1);
    text[JSON_MAX_DEPTH + 1] = '\0';
    memset(expected, '[', JSON_MAX_DEPTH);
    sprintf(expected + JSON_MAX_DEPTH, "!%d", JSON_MAX_DEPTH);
    struct memory out = {0};
    describe(text, strlen(text), 64, &out);
    assert_string_equal(out.data, expected);
    array_free(&out);
}

/* Reads an array of numbers, in bulk as far as it goes, and compares with one token at a time. */
static void assert_bulk_equals_tokens(const char *text, size_t piece)
{
    size_t size = strlen(text), fed = 0, bulk_count = 0, count = 0;
    double bulk[160], single[160];
    struct json json;
    enum json_type type;
    json_init(&json);
    json_feed(&json, text, size);
    while ((type = json_next(&json)) > JSON_END || type == JSON_MORE) {
        if (type == JSON_MORE)
            json_end_input(&json);
        else if (type == JSON_NUMBER || type == JSON_NULL)
            single[count++] = type == JSON_NULL ? NAN : json.number;
    }
    assert_int_equal(type, JSON_END);
    json_destroy(&json);

    json_init(&json);
    for (;;) {
        bulk_count += json_read_numbers(&json, bulk + bulk_count, 3);
        type = json_next(&json);
        if (type == JSON_NUMBER || type == JSON_NULL)
            bulk[bulk_count++] = type == JSON_NULL ? NAN : json.number;
        if (type == JSON_MORE && fed == size) {
            json_end_input(&json);
        } else if (type == JSON_MORE) {
            size_t part = size - fed < piece ? size - fed : piece;
            json_feed(&json, text + fed, part);
            fed += part;
        } else if (type <= JSON_END) {
            break;
        }
    }
    assert_int_equal(type, JSON_END);
    json_destroy(&json);
    assert_int_equal(bulk_count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(isnan(single[i]) ? isnan(bulk[i]) : bulk[i] == single[i]);
}

static void test_what_is_kept_of_a_cut_token_is_bounded(void **state)
{
    (void)state;
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    assert_non_null(piece);
    memset(piece, 'a', PIECE);
    struct json json;
    json_init(&json);
    json_feed(&json, "\"", 1);
    enum json_type type = json_next(&json);
    size_t fed = 0;
    for (; type == JSON_MORE && fed < (size_t)2 * JSON_MAX_SPLIT_TOKEN; fed += PIECE) {
        json_feed(&json, piece, PIECE);
        type = json_next(&json);
    }
    assert_int_equal(type, JSON_FAILED);
    assert_int_equal(fed, JSON_MAX_SPLIT_TOKEN + PIECE);
    json_destroy(&json);
    free(piece);
}

static void test_numbers_in_bulk_equal_numbers_one_by_one(void **state)
{
    (void)state;
    const char *text =
        "[1,-2, 3.25 ,null,1e3,-0,0,0.001,123456789012345678,12345678901234567890123,0.1234567890123456789,"
        "99.99999999999999,null,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]";
    for (size_t piece = 1; piece < strlen(text) + 1; piece++)
        assert_bulk_equals_tokens(text, piece);
}

static void test_bulk_reads_numbers_of_every_length(void **state)
{
    (void)state;
    static const char digits[] = "98765432101234567890";
    char text[16384];
    size_t used = 0;
    text[used++] = '[';
    for (int whole = 1; whole <= 20; whole++)
        for (int decimals = 0; decimals <= 20 - whole; decimals += 3)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s%s%.*s", used > 1 ? "," : "", whole,
                                     digits, decimals ? "." : "", decimals, digits + whole);
    used += (size_t)snprintf(text + used, sizeof(text) - used, ",1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]");
    assert_true(used < sizeof(text));
    for (size_t piece = 40; piece < used; piece += 61)
        assert_bulk_equals_tokens(text, piece);
    assert_bulk_equals_tokens(text, used);
}

static void test_indexes_stop_before_what_is_none(void **state)
{
    (void)state;
    static const char *const others[] = {"-1", "1.5", "4294967295", "99999999999", "1e2", "01", "true", "\"1\"", "nul"};
    const char *rest = ",10000000000000000000000000000000000000]";
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        char text[128];
        uint32_t values[8] = {0};
        struct json json;
        json_init(&json);
        int size = snprintf(text, sizeof(text), "[0, 12345678 ,null,4294967294,%s%s", others[i], rest);
        json_feed(&json, text, (size_t)size);
        assert_int_equal(json_next(&json), JSON_ARRAY_OPEN);
        assert_int_equal(json_read_indexes(&json, 77, values, 8), 4);
        assert_int_equal(values[0], 0);
        assert_int_equal(values[1], 12345678);
        assert_int_equal(values[2], 77);
        assert_int_equal(values[3], 4294967294);
        assert_int_equal(json_read_indexes(&json, 77, values, 8), 0);
        json_destroy(&json);
    }
}

static void test_bulk_stops_before_what_is_no_number(void **state)
{
    (void)state;
    const char *text = "[1,2,\"three\",4,                                            5]                     ";
    double values[8];
    struct json json;
    json_init(&json);
    json_feed(&json, text, strlen(text));
    assert_int_equal(json_next(&json), JSON_ARRAY_OPEN);
    assert_int_equal(json_read_numbers(&json, values, 8), 2);
    assert_int_equal(json_next(&json), JSON_STRING);
    assert_int_equal(json_read_numbers(&json, values, 8), 1);
    assert_true(values[0] == 4);
    json_destroy(&json);
}

static void test_control_characters_are_escaped(void **state)
{
    (void)state;
    struct memory out = {0};
    struct byte_sink sink = memory_sink(&out);
    struct json_writer writer;
    json_writer_init(&writer, &sink, NULL);
    json_open(&writer, '[');
    json_text(&writer, "\0\x01\x1f\n\"\\\x7f", 7);
    json_text_z(&writer, "\xff\xc3\xa9\xe2\x82");
    json_close(&writer, ']');
    assert_int_equal(json_writer_finish(&writer), 0);
    assert_string_equal(
        out.data, "[\"\\u0000\\u0001\\u001f\\n\\\"\\\\\\u007f\",\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"]");
    array_free(&out);
}

static void test_invisible_characters_are_escaped(void **state)
{
    (void)state;
    struct memory out = {0};
    struct byte_sink sink = memory_sink(&out);
    struct json_writer writer;
    json_writer_init(&writer, &sink, NULL);
    json_open(&writer, '[');
    json_text_z(&writer, "\xc2\x9b[2J"); /* C1 */
    json_text_z(&writer, "a\xe2\x80\xae"
                         "b\xe2\x80\xa8");                    /* right-to-left, line separator */
    json_text_z(&writer, "\xf3\xa0\x81\x81\xf0\x9f\x98\x80"); /* a tag, an emoji */
    json_close(&writer, ']');
    assert_int_equal(json_writer_finish(&writer), 0);
    assert_string_equal(out.data, "[\"\\u009b[2J\",\"a\\u202eb\\u2028\",\"\\udb40\\udc41\xf0\x9f\x98\x80\"]");
    array_free(&out);
}

static void test_rounded_numbers_have_six_decimals(void **state)
{
    (void)state;
    struct memory out = {0};
    struct byte_sink sink = memory_sink(&out);
    struct json_writer writer;
    json_writer_init(&writer, &sink, NULL);
    json_open(&writer, '[');
    json_double(&writer, 0.1 + 0.2);
    writer.rounds = true;
    json_double(&writer, 0.1 + 0.2);
    json_double(&writer, -1e-9);
    json_double(&writer, -1234567.00000051);
    json_double(&writer, 1e300);
    json_double(&writer, NAN);
    json_close(&writer, ']');
    assert_int_equal(json_writer_finish(&writer), 0);
    assert_string_equal(out.data, "[0.30000000000000004,0.3,0,-1234567.000001,1e+300,null]");
    array_free(&out);
}

static void test_hexadecimal_texts_have_no_leading_zeros(void **state)
{
    (void)state;
    struct memory out = {0};
    struct byte_sink sink = memory_sink(&out);
    struct json_writer writer;
    json_writer_init(&writer, &sink, NULL);
    json_open(&writer, '[');
    json_hex(&writer, 0);
    json_hex(&writer, 0x1f0);
    json_hex(&writer, UINT64_MAX);
    json_close(&writer, ']');
    assert_int_equal(json_writer_finish(&writer), 0);
    assert_string_equal(out.data, "[\"0x0\",\"0x1f0\",\"0xffffffffffffffff\"]");
    array_free(&out);
}

static int refuse(void *context, const void *bytes, size_t size, struct error *err)
{
    (void)bytes;
    (void)size;
    ++*(int *)context;
    return error_set(err, 28, "full");
}

static void test_a_sink_that_fails_is_not_asked_again(void **state)
{
    (void)state;
    int calls = 0;
    struct byte_sink sink = {refuse, &calls};
    struct error err = {""};
    struct json_writer writer;
    json_writer_init(&writer, &sink, &err);
    json_open(&writer, '[');
    for (unsigned i = 0; i < 100000; i++)
        json_unsigned(&writer, i);
    assert_int_equal(json_writer_finish(&writer), -28);
    assert_int_equal(calls, 1);
    assert_string_equal(err.text, "full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_do_not_depend_on_the_cuts),
        cmocka_unit_test(test_strings_are_decoded),
        cmocka_unit_test(test_half_surrogates_and_wrong_utf8_become_replacement_characters),
        cmocka_unit_test(test_every_byte_means_the_same_at_every_place_of_a_string),
        cmocka_unit_test(test_what_is_not_json_is_refused_at_its_place),
        cmocka_unit_test(test_nesting_is_bounded),
        cmocka_unit_test(test_what_is_kept_of_a_cut_token_is_bounded),
        cmocka_unit_test(test_numbers_in_bulk_equal_numbers_one_by_one),
        cmocka_unit_test(test_bulk_reads_numbers_of_every_length),
        cmocka_unit_test(test_indexes_stop_before_what_is_none),
        cmocka_unit_test(test_bulk_stops_before_what_is_no_number),
        cmocka_unit_test(test_control_characters_are_escaped),
        cmocka_unit_test(test_invisible_characters_are_escaped),
        cmocka_unit_test(test_rounded_numbers_have_six_decimals),
        cmocka_unit_test(test_hexadecimal_texts_have_no_leading_zeros),
        cmocka_unit_test(test_a_sink_that_fails_is_not_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
