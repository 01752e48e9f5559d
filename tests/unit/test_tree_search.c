/*
 * Which funcs a search finds: terms, blanks, case, and names longer than the 16 bytes that are looked at together.
 */
#include "random_profile.h"
#include "tree/search.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Whether a search finds a func of this name that has no library and no file. */
static bool finds(const char *name, const char *text)
{
    struct profile profile;
    struct search search;
    struct error err;
    profile_init(&profile);
    profile_add_func(&profile, strings_add_z(&profile.strings, name), PROFILE_NONE);
    assert_int_equal(search_init(&search, &profile, text, strlen(text), &err), 0);
    bool found = search.func_mask[0] != 0;
    search_destroy(&search);
    profile_destroy(&profile);
    return found;
}

static bool slow_contains(const char *name, const char *term)
{
    size_t length = strlen(term);
    for (size_t at = 0; at + length <= strlen(name); at++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)name[at + i]) == tolower((unsigned char)term[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

static void test_a_term_is_found_wherever_it_is(void **state)
{
    (void)state;
    static const char alphabet[] = "abAB@`[{";
    struct random random = {7};
    for (int round = 0; round < 20000; round++) {
        char name[100], term[20];
        size_t name_length = random_below(&random, 90), term_length = 1 + random_below(&random, 8);
        for (size_t i = 0; i < name_length; i++)
            name[i] = alphabet[random_below(&random, round % 2 ? 4 : 8)];
        name[name_length] = '\0';
        /* Half of the terms are cut from the name, the others are mostly not in it. */
        for (size_t i = 0; i < term_length; i++)
            term[i] = alphabet[random_below(&random, 8)];
        term[term_length] = '\0';
        if (random_below(&random, 2) && name_length >= term_length)
            memcpy(term, name + random_below(&random, (uint32_t)(name_length - term_length + 1)), term_length);
        assert_int_equal(finds(name, term), slow_contains(name, term));
    }
}

static void test_letters_match_in_either_case_and_signs_only_themselves(void **state)
{
    (void)state;
    assert_true(finds("std::vector<Foo>::push_back(Foo const&)", "VECTOR<foo>"));
    assert_true(finds("operator@", "@"));
    assert_false(finds("operator`", "@"));
    assert_false(finds("a[0]", "{"));
    assert_true(finds("gr\xc3\xbc\xc3\x9f"
                      "e",
                      "\xc3\xbc"));
    assert_false(finds("gr\xc3\xbc\xc3\x9f"
                       "e",
                       "\xc3\x9c"));
}

static void test_blanks_around_terms_do_not_count(void **state)
{
    (void)state;
    assert_true(finds("memcpy", "  memcpy\t"));
    assert_true(finds("operator new", "operator new"));
    assert_false(finds("operatornew", "operator new"));
    assert_false(finds("memcpy", " , ,"));
}

static bool keeps(const struct profile *profile, const struct call_nodes *nodes, uint32_t stack, const char *text)
{
    struct search search;
    struct error err;
    uint8_t kept[8];
    assert_int_equal(search_init(&search, profile, text, strlen(text), &err), 0);
    assert_int_equal(search_nodes(&search, nodes, kept, &err), 0);
    search_destroy(&search);
    return kept[nodes->of_stack[stack]];
}

static void test_all_terms_must_match_somewhere_on_the_stack(void **state)
{
    (void)state;
    struct profile profile;
    struct stack_view stacks;
    struct call_nodes nodes;
    struct error err;
    profile_init(&profile);
    uint32_t main_func = profile_add_func(&profile, strings_add_z(&profile.strings, "main"), PROFILE_NONE);
    uint32_t leaf_func = profile_add_func(&profile, strings_add_z(&profile.strings, "leaf"), PROFILE_NONE);
    uint32_t root = profile_add_stack(&profile, PROFILE_NONE, profile_add_frame(&profile, main_func, PROFILE_NONE, -1));
    uint32_t leaf = profile_add_stack(&profile, root, profile_add_frame(&profile, leaf_func, PROFILE_NONE, -1));
    assert_int_equal(stack_view_init(&stacks, &profile, &err), 0);
    assert_int_equal(call_nodes_init(&nodes, &stacks, &err), 0);
    assert_true(keeps(&profile, &nodes, leaf, "main,leaf"));
    assert_true(keeps(&profile, &nodes, leaf, "leaf, MAIN"));
    assert_true(keeps(&profile, &nodes, root, "main"));
    assert_false(keeps(&profile, &nodes, root, "main,leaf"));
    assert_false(keeps(&profile, &nodes, leaf, "main,other"));
    assert_true(keeps(&profile, &nodes, root, ",,"));
    assert_true(keeps(&profile, &nodes, leaf, "m,a,i,n,l,e,a,f,m,a,i,n,l,e,a,f"));
    call_nodes_destroy(&nodes);
    stack_view_destroy(&stacks);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_term_is_found_wherever_it_is),
        cmocka_unit_test(test_letters_match_in_either_case_and_signs_only_themselves),
        cmocka_unit_test(test_blanks_around_terms_do_not_count),
        cmocka_unit_test(test_all_terms_must_match_somewhere_on_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
