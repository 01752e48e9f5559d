/*
 * The metadata of a profile as text; and sorting by descending weight.
 */
#include "tree/profile_info.h"
#include "tree/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profile_text.h"

/* The text that an entry of meta.extra with this format and JSON value is shown as. */
static void assert_shown(const char *format, const char *json, const char *wanted)
{
    struct profile profile;
    struct error err;
    struct arena arena = {0};
    struct metadata metadata = {0};
    struct extra_section section = {0};
    profile_init(&profile);
    struct extra_entry entry = {strings_add_z(&profile.strings, "label"), strings_add_z(&profile.strings, format),
                                strings_add_z(&profile.strings, json)};
    assert_true(array_push(&section.entries, entry));
    assert_int_equal(list_section_metadata(&metadata, &arena, &profile, &section, &err), 0);
    assert_int_equal(metadata.length, 1);
    assert_string_equal(metadata.data[0].label, "label");
    assert_string_equal(metadata.data[0].value, wanted);
    array_free(&section.entries);
    array_free(&metadata);
    arena_destroy(&arena);
    profile_destroy(&profile);
}

static void test_values_are_written_as_their_format_asks(void **state)
{
    (void)state;
    assert_shown("integer", "12", "12");
    assert_shown("integer", "123", "123");
    assert_shown("integer", "1234567", "1,234,567");
    assert_shown("integer", "-1234", "-1,234");
    assert_shown("integer", "-123", "-123");
    assert_shown("bytes", "512", "512 B");
    assert_shown("bytes", "1536", "1.5 KiB");
    assert_shown("bytes", "214748364800", "200 GiB");
    assert_shown("percentage", "0.25", "25 %");
    assert_shown("duration", "0.5", "500 µs");
    assert_shown("duration", "12.5", "12.5 ms");
    assert_shown("seconds", "12.5", "12.5 s");
    assert_shown("nanoseconds", "1500", "1.5 µs");
    assert_shown("hexadecimal", "255", "0xff");
    assert_shown("decimal", "0.1", "0.1");
    assert_shown("no such format", "7", "7");
}

static void test_huge_numbers_fit(void **state)
{
    (void)state;
    assert_shown("integer", "1e300", "1e+300");
    assert_shown("duration", "1e300", "1e+297 s");
    assert_shown("hexadecimal", "-1", "-1");
    assert_shown("integer", "1e999", "1.79769e+308");
}

static void test_json_strings_are_decoded(void **state)
{
    (void)state;
    assert_shown("string", "\"plain\"", "plain");
    assert_shown("integer", "\"text where a number was promised\"", "text where a number was promised");
    assert_shown("string", "\"a\\\"b\\\\c\\/d\\n\\t\"", "a\"b\\c/d\n\t");
    assert_shown("string", "\"\\u00e9\\u20ac\\ud83d\\ude00\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_shown("string", "\"\\ud83d half a pair\"", "\xef\xbf\xbd half a pair");
    assert_shown("string", "\"\\u0000\"", "\xef\xbf\xbd");
    assert_shown("string", "null", "");
}

static void test_lists_and_tables_are_written_out(void **state)
{
    (void)state;
    assert_shown("list", "[1,\"two\",true]", "1, two, true");
    assert_shown("list", "[]", "");
    assert_shown("table", "[[\"a\",1],[\"b\",2]]", "a, 1\nb, 2");
    assert_shown("string", "{\"a\":1,\"b\":\"x\"}", "a: 1, b: x");
    assert_shown("unique-string", "1", "unique-string");
    assert_shown("unique-string", "99999", "");
}

static void test_a_section_has_a_fact_for_each_of_its_entries(void **state)
{
    (void)state;
    static const char *const labels[] = {"Cores", "Threads", "Clock"};
    struct profile profile;
    struct error err;
    struct arena arena = {0};
    struct metadata metadata = {0};
    struct extra_section section = {0};
    profile_init(&profile);
    for (size_t i = 0; i < 3; i++) {
        const char json[] = {(char)('4' + i), '\0'};
        struct extra_entry entry = {strings_add_z(&profile.strings, labels[i]),
                                    strings_add_z(&profile.strings, "integer"), strings_add_z(&profile.strings, json)};
        assert_true(array_push(&section.entries, entry));
    }
    assert_int_equal(list_section_metadata(&metadata, &arena, &profile, &section, &err), 0);
    assert_int_equal(metadata.length, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(metadata.data[i].label, labels[i]);
        assert_int_equal(metadata.data[i].value[0], '4' + (int)i);
    }
    array_free(&section.entries);
    array_free(&metadata);
    arena_destroy(&arena);
    profile_destroy(&profile);
}

static void test_facts_that_are_not_known_are_left_out(void **state)
{
    (void)state;
    struct profile profile;
    struct error err;
    struct arena arena = {0};
    struct metadata metadata = {0};
    profile_init(&profile);
    profile.meta.arguments = strings_add_z(&profile.strings, "./app --fast");
    profile.meta.logical_cpus = 8;
    profile.meta.main_memory = UINT64_C(16) << 30;
    profile.meta.version = 70;
    assert_int_equal(list_profile_metadata(&metadata, &arena, &profile, &err), 0);
    static const struct metadata_entry wanted[] = {
        {"Command", "./app --fast"}, {"Cores", "8"}, {"Memory", "16.0 GiB"}, {"File format", "70"}};
    assert_int_equal(metadata.length, sizeof(wanted) / sizeof(*wanted));
    for (size_t i = 0; i < metadata.length; i++) {
        assert_string_equal(metadata.data[i].label, wanted[i].label);
        assert_string_equal(metadata.data[i].value, wanted[i].value);
    }
    array_free(&metadata);
    arena_destroy(&arena);
    profile_destroy(&profile);
}

static void test_addresses_are_resolved_unless_their_function_is_called_like_one(void **state)
{
    (void)state;
    struct profile profile;
    struct error err;
    char *text = text_of_file("samply-0.13.json");
    assert_int_equal(read_bytes(text, strlen(text), strlen(text), &profile, &err), 0);
    free(text);
    struct address_counts before = count_symbolized_addresses(&profile);
    assert_int_equal(before.resolved, 0);
    assert_true(before.all > 2);
    profile.funcs.name[profile.frames.func[0]] = strings_add_z(&profile.strings, "0xfeed_me");
    struct address_counts named = count_symbolized_addresses(&profile);
    assert_int_equal(named.resolved, 1);
    profile.frames.inline_depth[1] = 1;
    profile.frames.address[2] = -1;
    assert_int_equal(count_symbolized_addresses(&profile).all, before.all - 2);
    profile_destroy(&profile);
}

static void test_equal_weights_stay_in_their_order(void **state)
{
    (void)state;
    srand(1);
    for (size_t length = 0; length < 400; length++) {
        struct order_entry *entries = malloc((length + 1) * sizeof(*entries));
        size_t distinct = 1 + (size_t)rand() % 30;
        for (uint32_t i = 0; i < length; i++)
            entries[i] = (struct order_entry){(double)((size_t)rand() % distinct), i};
        assert_int_equal(order_sort_heaviest_first(entries, length, NULL), 0);
        uint8_t seen[400] = {0};
        for (size_t i = 0; i < length; i++) {
            assert_int_equal(seen[entries[i].index]++, 0);
            if (i == 0)
                continue;
            assert_true(entries[i - 1].magnitude >= entries[i].magnitude);
            if (entries[i - 1].magnitude == entries[i].magnitude)
                assert_true(entries[i - 1].index < entries[i].index);
        }
        free(entries);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_written_as_their_format_asks),
        cmocka_unit_test(test_huge_numbers_fit),
        cmocka_unit_test(test_json_strings_are_decoded),
        cmocka_unit_test(test_lists_and_tables_are_written_out),
        cmocka_unit_test(test_a_section_has_a_fact_for_each_of_its_entries),
        cmocka_unit_test(test_facts_that_are_not_known_are_left_out),
        cmocka_unit_test(test_addresses_are_resolved_unless_their_function_is_called_like_one),
        cmocka_unit_test(test_equal_weights_stay_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
