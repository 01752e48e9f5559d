/* The paths of the libraries of funcs, in profiles of very many libraries. */
#include "tree/library_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static uint32_t add_text(struct profile *profile, const char *format, unsigned number)
{
    char text[64];
    return strings_add(&profile->strings, text, (size_t)snprintf(text, sizeof(text), format, number));
}

static void add_library(struct profile *profile, const char *path, unsigned number)
{
    struct library lib = {.name = add_text(profile, "lib%u.so", number), .path = add_text(profile, path, number)};
    assert_true(array_push(&profile->libs, lib));
}

/* One for each library, and a func in it. */
static void add_func(struct profile *profile, unsigned number)
{
    struct resource resource = {.name = add_text(profile, "lib%u.so", number), .host = PROFILE_NONE, .type = 1};
    assert_true(array_push(&profile->resources, resource));
    assert_int_not_equal(profile_add_func(profile, 0, number), PROFILE_NONE);
}

static void assert_path(struct library_paths *paths, const struct profile *profile, uint32_t func, const char *wanted)
{
    struct func_names names = get_func_names(profile, func);
    library_paths_find(paths, profile, &names);
    if (wanted)
        assert_string_equal(strings_text(&profile->strings, names.lib_path), wanted);
    else
        assert_int_equal(names.lib_path, PROFILE_NONE);
}

/* Searching all libraries for each func takes 160,000,000,000 steps here. */
static void test_each_of_many_funcs_has_the_path_of_its_library(void **state)
{
    (void)state;
    enum { COUNT = 400000 };
    struct profile profile;
    struct library_paths paths = {0};
    profile_init(&profile);
    for (unsigned i = 0; i < COUNT; i++) {
        add_library(&profile, "/usr/lib/lib%u.so", i);
        add_func(&profile, i);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        char wanted[64];
        snprintf(wanted, sizeof(wanted), "/usr/lib/lib%u.so", i);
        assert_path(&paths, &profile, i, wanted);
    }
    assert_path(&paths, &profile, COUNT + 7, "/usr/lib/lib7.so"); /* the func that stands for library 7 */
    library_paths_destroy(&paths);
    profile_destroy(&profile);
}

static void test_libraries_that_come_later_are_found(void **state)
{
    (void)state;
    struct profile profile;
    struct library_paths paths = {0};
    profile_init(&profile);
    add_library(&profile, "/a/lib%u.so", 0);
    add_func(&profile, 0);
    add_func(&profile, 1);
    assert_path(&paths, &profile, 0, "/a/lib0.so");
    assert_path(&paths, &profile, 1, NULL);
    add_library(&profile, "/b/lib%u.so", 1);
    add_library(&profile, "/b/lib%u.so", 0); /* of two with one name, the last */
    assert_path(&paths, &profile, 1, "/b/lib1.so");
    assert_path(&paths, &profile, 0, "/b/lib0.so");
    assert_path(&paths, &profile, 5, NULL); /* no func */
    library_paths_destroy(&paths);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_of_many_funcs_has_the_path_of_its_library),
        cmocka_unit_test(test_libraries_that_come_later_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
