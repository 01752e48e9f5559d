/* Tests of tables of texts. */
#include "base/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_the_same_text_has_the_same_index(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct strings table = {0};
    char text[16];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            snprintf(text, sizeof(text), "text %u", i);
            assert_int_equal(strings_add_z(&table, text), i);
        }
    assert_int_equal(table.entries.length, COUNT);
    assert_string_equal(table.entries.data[7].text, "text 7");
    strings_destroy(&table);
}

static void test_texts_are_told_apart_by_every_byte(void **state)
{
    (void)state;
    struct strings table = {0};
    assert_int_equal(strings_add(&table, "a\0b", 3), 0);
    assert_int_equal(strings_add(&table, "a\0c", 3), 1);
    assert_int_equal(strings_add(&table, "a", 1), 2);
    assert_int_equal(strings_add(&table, "", 0), 3);
    assert_int_equal(strings_add(&table, "a\0c", 3), 1);
    assert_int_equal(table.entries.data[1].length, 3);
    assert_memory_equal(table.entries.data[1].text, "a\0c", 3);
    strings_destroy(&table);
}

static void test_appended_texts_are_not_found(void **state)
{
    (void)state;
    struct strings table = {0};
    assert_int_equal(strings_append(&table, "same", 4), 0);
    assert_int_equal(strings_append(&table, "same", 4), 1);
    assert_int_equal(strings_add_z(&table, "same"), 2);
    assert_int_equal(strings_append(&table, "same", 4), 3);
    assert_int_equal(strings_add_z(&table, "same"), 2);
    for (size_t i = 0; i < table.entries.length; i++)
        assert_string_equal(table.entries.data[i].text, "same");
    strings_destroy(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_text_has_the_same_index),
        cmocka_unit_test(test_texts_are_told_apart_by_every_byte),
        cmocka_unit_test(test_appended_texts_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
