/* Tests of characters in UTF-8. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_every_character_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x110000; code++) {
        char bytes[4];
        if (code >= 0xd800 && code < 0xe000)
            continue;
        size_t length = utf8_put(bytes, code);
        assert_int_equal(utf8_measure_character(bytes, bytes + length), length);
        assert_int_equal(utf8_decode(bytes, length), code);
    }
}

static void test_what_cannot_be_seen_or_moves_others_is_not_visible(void **state)
{
    (void)state;
    static const uint32_t hidden[] = {0,      '\t',   '\n',   0x1f,   0x7f,    0x9f,    0xad,   0x61c,
                                      0x200b, 0x200f, 0x34f,  0x180b, 0xfe0f,  0xe0100, 0x2028, 0x202e,
                                      0x2060, 0x2066, 0x2069, 0xfeff, 0xe0001, 0xe0020, 0xe007f};
    static const uint32_t visible[] = {' ',    '~',    0xa0,   0xac,   0xae,   0xe4,    0x3b1,   0x200a,
                                       0x2010, 0x2027, 0x202f, 0x2065, 0x4e2d, 0x1f600, 0xe0080, 0x10ffff};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
        assert_false(utf8_is_visible(hidden[i]));
    for (size_t i = 0; i < sizeof(visible) / sizeof(*visible); i++)
        assert_true(utf8_is_visible(visible[i]));
}

static void test_a_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80"; /* 1, 2, 3 and 4 bytes */
    static const int wanted[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (int most = 0; most < (int)(sizeof(wanted) / sizeof(*wanted)); most++)
        assert_int_equal(utf8_cut(text, most), wanted[most]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_character_is_read_as_it_was_written),
        cmocka_unit_test(test_a_text_is_cut_between_characters),
        cmocka_unit_test(test_what_cannot_be_seen_or_moves_others_is_not_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
