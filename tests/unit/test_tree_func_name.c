/*
 * Names of functions without their arguments.
 */
#include "random_profile.h"
#include "tree/func_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check_bare(const char *name, const char *expected)
{
    char bare[256];
    size_t length = strip_func_name(name, strlen(name), bare);
    bare[length] = '\0';
    assert_string_equal(bare, expected);
}

static void test_names_lose_their_arguments(void **state)
{
    static const char *const names[][2] = {
        {"main", "main"},
        {"worker(int)", "worker"},
        {"std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"},
        {"void std::sort<int*>(int*, int*) [clone .cold]", "std::sort"},
        {"std::vector<int> const& my::make<std::string>(std::string) const", "my::make"},
        {"(anonymous namespace)::parse(std::string)", "(anonymous namespace)::parse"},
        {"void (anonymous namespace)::run<int>(int)", "(anonymous namespace)::run"},
        {"main::{lambda(std::string)#1}::operator()(std::string) const", "main::{lambda#1}::operator()"},
        {"run(int)::{lambda()#2}::operator()() const", "run::{lambda#2}::operator()"},
        {"std::operator<< <char>(std::ostream&)", "std::operator<<"},
        {"std::operator<<(std::ostream&)", "std::operator<<"},
        {"Foo::operator->() const", "Foo::operator->"},
        {"Foo::operator bool() const", "Foo::operator bool"},
        {"operator new(unsigned long)", "operator new"},
        {"std::function<void (int)>::operator()(int) const", "std::function::operator()"},
        {"auto f<(Kind)3>(int) -> std::string", "f"},
        {"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", "<alloc::vec::Vec as core::iter::Extend>::extend"},
        {"core::ptr::drop_in_place<std::io::Error>", "core::ptr::drop_in_place"},
        {"core::ptr::drop_in_place::<std::io::Error>", "core::ptr::drop_in_place::"},
        {"net/http.(*conn).serve", "net/http.(*conn).serve"},
        {"main.main.func1", "main.main.func1"},
        {"get (inlined)", "get (inlined)"},
        {"a<b", "a<b"},
        {"a(b", "a"},
        {"operator", "operator"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        check_bare(names[i][0], names[i][1]);
}

/* The result of any text fits, and a text of open brackets takes linear time. */
static void test_any_text_has_a_name(void **state)
{
    static const char alphabet[] = "aop<>(){}: .-=operator";
    struct random random = {3};
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char name[40], bare[40];
        size_t length = random_below(&random, sizeof(name));
        for (size_t i = 0; i < length; i++)
            name[i] = alphabet[random_below(&random, sizeof(alphabet) - 1)];
        char *exact = malloc(length + 1); /* the sanitizer sees each byte beyond */
        assert_non_null(exact);
        memcpy(exact, name, length);
        assert_true(strip_func_name(exact, length, bare) <= length);
        free(exact);
    }
    enum { LONG = 1 << 21 };
    char *text = malloc(LONG), *bare = malloc(LONG);
    assert_true(text && bare);
    for (size_t i = 0; i < LONG; i++)
        text[i] = i % 2 ? '<' : 'a';
    assert_int_equal(strip_func_name(text, LONG, bare), LONG);
    free(text);
    free(bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_lose_their_arguments),
        cmocka_unit_test(test_any_text_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
