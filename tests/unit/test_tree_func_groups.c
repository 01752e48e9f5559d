/* Groups of functions by namespace, directory and terms. */
#include "tree/func_groups.h"

#include "profile/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Returns the group of a func with this name and source file, in the library "lib.so". */
static const char *find_group(const char *name, const char *file, enum func_grouping by, const char *terms)
{
    static char group[128];
    struct profile profile;
    struct interner interner;
    struct func_groups groups = {{0}, {{0}}};
    struct error err;
    profile_init(&profile);
    interner_init(&interner, &profile);
    struct func_row func = {.name = strings_add_z(&profile.strings, name),
                            .resource = intern_library_resource(&interner, strings_add_z(&profile.strings, "lib.so")),
                            .source = file ? intern_source_file(&interner, strings_add_z(&profile.strings, file))
                                           : PROFILE_NONE};
    uint32_t index = intern_func(&interner, &func);
    assert_int_equal(func_groups_find(&groups, &profile, by, terms, &err), 0);
    snprintf(group, sizeof(group), "%s", strings_text(&groups.names, groups.of_func.data[index]));
    func_groups_destroy(&groups);
    interner_destroy(&interner);
    profile_destroy(&profile);
    return group;
}

#define NAMESPACE(name) find_group(name, NULL, FUNCS_BY_NAMESPACE, NULL)

static void test_functions_have_the_outermost_namespace(void **unused)
{
    (void)unused;
    assert_string_equal(NAMESPACE("void std::vector<int>::push_back(int const&)"), "std");
    assert_string_equal(NAMESPACE("<&mut serde_json::de::Reader<R> as std::io::Read>::read"), "serde_json");
    assert_string_equal(NAMESPACE("(anonymous namespace)::ui::draw()"), "ui");
    assert_string_equal(NAMESPACE("net/http.(*conn).serve"), "net/http");
    assert_string_equal(NAMESPACE("net/http.serverHandler.ServeHTTP"), "net/http");
    assert_string_equal(NAMESPACE("main.work"), "main");
    assert_string_equal(NAMESPACE("void java.util.HashMap.resize(int)"), "java.util");
    assert_string_equal(NAMESPACE("work"), "[lib.so]");
    assert_string_equal(NAMESPACE("work(std::string)"), "[lib.so]");
    assert_string_equal(NAMESPACE("work.isra.0"), "[lib.so]");
}

static void test_a_name_has_any_number_of_operators(void **unused)
{
    (void)unused;
    enum { OPERATORS = 1 << 20 };
    static char name[OPERATORS + 16];
    memset(name, '&', OPERATORS);
    snprintf(name + OPERATORS, 16, "std::swap");
    assert_string_equal(NAMESPACE(name), "std");
}

static void test_functions_have_the_directory_of_their_source(void **unused)
{
    (void)unused;
    assert_string_equal(find_group("a", "/src/net/tcp.c", FUNCS_BY_DIRECTORY, NULL), "/src/net");
    assert_string_equal(find_group("a", NULL, FUNCS_BY_DIRECTORY, NULL), "[lib.so]");
}

static void test_functions_have_the_first_term_that_matches(void **unused)
{
    (void)unused;
    assert_string_equal(find_group("net::send", NULL, FUNCS_BY_TERM, "disk,net::,/send$/"), "net::");
    assert_string_equal(find_group("resend", NULL, FUNCS_BY_TERM, "\"send\",net::,/send$/"), "/send$/");
    assert_string_equal(find_group("send", NULL, FUNCS_BY_TERM, "disk,net::,-send"), "(other)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_have_the_outermost_namespace),
        cmocka_unit_test(test_a_name_has_any_number_of_operators),
        cmocka_unit_test(test_functions_have_the_directory_of_their_source),
        cmocka_unit_test(test_functions_have_the_first_term_that_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
