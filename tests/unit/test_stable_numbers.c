/* Numbers of functions in the profiles of a growing recording: assemble/stable_numbers.c. */
#include "assemble/stable_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t add(struct interner *interner, const char *name, const char *library)
{
    struct strings *strings = &interner->profile->strings;
    const struct func_row row = {.name = strings_add_z(strings, name),
                                 .resource = intern_library_resource(interner, strings_add_z(strings, library)),
                                 .source = PROFILE_NONE};
    return intern_func(interner, &row);
}

static void test_functions_found_in_another_order_keep_their_numbers(void **state)
{
    (void)state;
    struct error err = {0};
    struct stable_numbers numbers = {0};
    struct profile first, second;
    struct interner interner;
    profile_init(&first);
    interner_init(&interner, &first);
    assert_int_equal(stable_numbers_add_funcs(&numbers, &interner, &err), 0);
    uint32_t main_func = add(&interner, "main", "program"), read_func = add(&interner, "read", "libc.so.6");
    assert_int_equal(stable_numbers_store_funcs(&numbers, &first, &err), 0);
    interner_destroy(&interner);
    profile_destroy(&first);

    profile_init(&second);
    interner_init(&interner, &second);
    assert_int_equal(stable_numbers_add_funcs(&numbers, &interner, &err), 0);
    assert_int_equal(add(&interner, "write", "libc.so.6"), 2);
    assert_int_equal(add(&interner, "read", "libc.so.6"), read_func);
    assert_int_equal(add(&interner, "read", "program"), 3);
    assert_int_equal(add(&interner, "main", "program"), main_func);
    assert_int_equal(stable_numbers_store_funcs(&numbers, &second, &err), 0);
    assert_int_equal(numbers.funcs.length, 4);
    interner_destroy(&interner);
    profile_destroy(&second);
    stable_numbers_destroy(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions_found_in_another_order_keep_their_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
