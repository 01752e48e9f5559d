/* Library ids have the form that symbol servers expect. */
#include "symbol/library_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const unsigned char build_id[20] = {0x98, 0x4b, 0x76, 0x6f, 0x1c, 0xb5, 0x69, 0x9c, 0x3b, 0x1b,
                                           0x77, 0xb5, 0x92, 0x98, 0x3c, 0x22, 0xe9, 0xd1, 0x97, 0xad};

static void test_breakpad_id_swaps_the_first_three_fields(void **unused)
{
    (void)unused;
    char id[BREAKPAD_ID_SIZE];
    write_breakpad_id(build_id, sizeof(build_id), id);
    assert_string_equal(id, "6F764B98B51C9C693B1B77B592983C220");
}

static void test_a_short_build_id_is_padded_with_zeros(void **unused)
{
    (void)unused;
    char id[BREAKPAD_ID_SIZE];
    write_breakpad_id(build_id, 4, id);
    assert_string_equal(id, "6F764B980000000000000000000000000");
}

static void test_code_id_is_the_whole_build_id(void **unused)
{
    (void)unused;
    char id[CODE_ID_SIZE];
    write_code_id(build_id, sizeof(build_id), id);
    assert_string_equal(id, "984b766f1cb5699c3b1b77b592983c22e9d197ad");
    write_code_id(NULL, 0, id);
    assert_string_equal(id, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breakpad_id_swaps_the_first_three_fields),
        cmocka_unit_test(test_a_short_build_id_is_padded_with_zeros),
        cmocka_unit_test(test_code_id_is_the_whole_build_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
