/*
 * The funcs that a search finds: terms, blanks, case, and names longer than the 16 bytes that are compared at once;
 * quotes, fields, exclusions; and regular expressions, compared with those of the C library.
 */
#include "random_profile.h"
#include "tree/search_filter.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
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
    uint8_t matching[8];
    assert_int_equal(search_init(&search, profile, text, strlen(text), &err), 0);
    assert_int_equal(search_mark_matching_nodes(&search, nodes, matching, &err), 0);
    search_destroy(&search);
    return matching[nodes->of_stack[stack]];
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

/* ---- the syntax of terms ---- */

/* Whether a search keeps a stack of one func that is in libm.so and in /src/math/sin.c. */
static bool keeps_sin(const char *name, const char *text)
{
    struct profile profile;
    struct stack_view stacks;
    struct call_nodes nodes;
    struct error err;
    profile_init(&profile);
    struct resource resource = {strings_add_z(&profile.strings, "libm.so"), PROFILE_NONE, 1};
    struct source source = {.filename = strings_add_z(&profile.strings, "/src/math/sin.c")};
    assert_true(array_push(&profile.resources, resource) && array_push(&profile.sources, source));
    uint32_t func = profile_add_func(&profile, strings_add_z(&profile.strings, name), 0);
    profile.funcs.source[func] = 0;
    uint32_t stack = profile_add_stack(&profile, PROFILE_NONE, profile_add_frame(&profile, func, PROFILE_NONE, -1));
    assert_int_equal(stack_view_init(&stacks, &profile, &err), 0);
    assert_int_equal(call_nodes_init(&nodes, &stacks, &err), 0);
    bool kept = keeps(&profile, &nodes, stack, text);
    call_nodes_destroy(&nodes);
    stack_view_destroy(&stacks);
    profile_destroy(&profile);
    return kept;
}

static void test_quoted_terms_are_the_whole_name(void **state)
{
    (void)state;
    assert_true(keeps_sin("map<int, int>::at", "\"map<int, int>::at\""));
    assert_true(keeps_sin("map<int, int>::at", " \"MAP<int, int>::at\" , libm"));
    assert_false(keeps_sin("map<int, int>::at", "\"map<int, int>\""));
    assert_true(keeps_sin("sine", "\"libm.so\""));
    assert_true(keeps_sin("sine", "\"sin.c\""));
    assert_true(keeps_sin("sine", "\"/src/math/sin.c\""));
    assert_false(keeps_sin("sine", "\"math/sin.c\""));
    assert_true(keeps_sin("operator\"\" _km", "\"\" _km")); /* not closed: as it is written */
}

static void test_fields_look_in_libraries_or_files_alone(void **state)
{
    (void)state;
    assert_true(keeps_sin("sine", "lib:LIBM"));
    assert_false(keeps_sin("libm_init", "lib:init"));
    assert_true(keeps_sin("sine", "file:math"));
    assert_false(keeps_sin("math", "lib:math"));
    assert_true(keeps_sin("sine", "file:\"sin.c\",lib:/^libm/"));
    assert_true(keeps_sin("lib::sine", "lib::s"));
    assert_true(keeps_sin("sine lib:", "lib:"));
}

static void test_arguments_match_only_on_request(void **state)
{
    (void)state;
    assert_false(finds("parse(std::string)", "std::"));
    assert_false(finds("fill<std::string>(int)", "std::"));
    assert_false(finds("std::string* make<int>(int)", "/^std::/"));
    assert_true(finds("void std::sort<int*>(int*)", "/^std::sort$/"));
    assert_true(finds("std::vector<int>::push_back(int)", "vector::push"));
    assert_true(finds("parse(std::string)", "args:std::"));
    assert_true(finds("parse(std::string)", "parse(std"));
    assert_true(finds("parse(std::string)", "/parse\\(std/"));
    assert_true(finds("fill<std::string>(int)", "l<std"));
    assert_true(finds("parse(std::string)", "\"parse(std::string)\""));
    assert_true(keeps_sin("sine(std::string)", "-std::"));
    assert_false(keeps_sin("sine(std::string)", "-args:std::"));
}

static void test_excluded_terms_must_match_nothing(void **state)
{
    (void)state;
    assert_false(keeps_sin("sine", "-sine"));
    assert_false(keeps_sin("sine", "sine,-lib:libm"));
    assert_true(keeps_sin("sine", "sine, -cosine"));
    assert_true(keeps_sin("sine", "-\"sin\",-/^ine/"));
    assert_true(keeps_sin("a-b", "-"));
    assert_true(keeps_sin("a-b", "a-b"));
}

static void test_commas_in_expressions_do_not_separate(void **state)
{
    (void)state;
    assert_true(keeps_sin("f(int, char)", "args:/int,\\s*char/"));
    assert_false(keeps_sin("f(int)", "args:/int,\\s*char/"));
    assert_true(keeps_sin("a/b,c/d", "/b,c/")); /* a slash in a name, and an expression all the same */
    assert_true(keeps_sin("a/,c", "/a\\/,c/")); /* a slash behind a backslash is not the end */
    assert_false(keeps_sin("a,c", "/a\\/,c/"));
    assert_true(keeps_sin("x", "/src/math")); /* the beginning of a path */
    assert_true(keeps_sin("x", "/src/math,libm"));
    assert_true(keeps_sin("a/(/b", "/(/")); /* no expression: as it is written */
    assert_false(keeps_sin("what (", "/(/"));
}

/* ---- expressions ---- */

static void random_expression(struct random *random, char *out, size_t size, int depth)
{
    static const char *const atoms[] = {"a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "\\.", "\\w", "\\s", "B"};
    static const char *const repeats[] = {"", "", "", "*", "+", "?"};
    out[0] = '\0';
    for (uint32_t parts = 1 + random_below(random, 3); parts; parts--) {
        char part[200] = "";
        if (depth && random_below(random, 3) == 0) {
            char inner[150];
            random_expression(random, inner, sizeof(inner), depth - 1);
            snprintf(part, sizeof(part), "(%s)%s", inner, repeats[random_below(random, 6)]);
        } else {
            snprintf(part, sizeof(part), "%s%s", atoms[random_below(random, 11)], repeats[random_below(random, 6)]);
        }
        if (strlen(out) + strlen(part) + 2 > size)
            return;
        strcat(out, part);
        if (parts > 1 && random_below(random, 4) == 0)
            strcat(out, "|");
    }
}

static void test_expressions_match_as_those_of_the_c_library(void **state)
{
    (void)state;
    struct random random = {11};
    for (int round = 0; round < 20000; round++) {
        char inner[150], expression[160], text[24];
        random_expression(&random, inner, sizeof(inner), 3);
        snprintf(expression, sizeof(expression), "%s%s%s", random_below(&random, 3) ? "" : "^", inner,
                 random_below(&random, 3) ? "" : "$");
        regex_t reference;
        struct pattern pattern;
        struct error err;
        assert_int_equal(regcomp(&reference, expression, REG_EXTENDED | REG_ICASE | REG_NOSUB), 0);
        assert_int_equal(pattern_init(&pattern, expression, strlen(expression), &err), 0);
        for (int i = 0; i < 5; i++) {
            size_t length = random_below(&random, 12);
            for (size_t k = 0; k < length; k++)
                text[k] = "abcABC. d"[random_below(&random, 9)];
            text[length] = '\0';
            assert_int_equal(pattern_matches(&pattern, text, length), regexec(&reference, text, 0, NULL, 0) == 0);
        }
        pattern_destroy(&pattern);
        regfree(&reference);
    }
}

static bool is_expression(const char *text)
{
    struct pattern pattern;
    struct error err;
    int code = pattern_init(&pattern, text, strlen(text), &err);
    pattern_destroy(&pattern);
    assert_true(code == 0 || code == -EINVAL);
    return code == 0;
}

static void test_what_is_no_expression_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"(",   ")",   "a)", "[a",    "[",     "[^", "*",
                                        "a|*", "(+)", "\\", "[z-a]", "a(b|c", "["};
    static const char *const right[] = {"",     "|",   "a|",      "()",  "[]a]",  "[^]a]",
                                        "[a-]", "a**", "(?:ab)+", "\\(", "[\\]]", "x{2}"};
    char nested[400];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_false(is_expression(wrong[i]));
    for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
        assert_true(is_expression(right[i]));
    memset(nested, '(', 200);
    memset(nested + 200, ')', 200);
    struct pattern pattern;
    struct error err;
    assert_int_equal(pattern_init(&pattern, nested, sizeof(nested), &err), -EINVAL);
    pattern_destroy(&pattern);
    char longest[PATTERN_MAX_STEPS + 8];
    memset(longest, 'a', sizeof(longest));
    assert_int_equal(pattern_init(&pattern, longest, sizeof(longest), &err), -EINVAL);
    pattern_destroy(&pattern);
}

/* What makes others take exponential time. */
static void test_no_expression_is_slow(void **state)
{
    (void)state;
    struct pattern pattern;
    struct error err;
    char text[20000];
    memset(text, 'a', sizeof(text));
    assert_int_equal(pattern_init(&pattern, "(a*)*(a|aa)+(a?){0}b", 20, &err), 0);
    assert_false(pattern_matches(&pattern, text, sizeof(text)));
    pattern_destroy(&pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_term_is_found_wherever_it_is),
        cmocka_unit_test(test_letters_match_in_either_case_and_signs_only_themselves),
        cmocka_unit_test(test_blanks_around_terms_do_not_count),
        cmocka_unit_test(test_all_terms_must_match_somewhere_on_the_stack),
        cmocka_unit_test(test_quoted_terms_are_the_whole_name),
        cmocka_unit_test(test_fields_look_in_libraries_or_files_alone),
        cmocka_unit_test(test_arguments_match_only_on_request),
        cmocka_unit_test(test_excluded_terms_must_match_nothing),
        cmocka_unit_test(test_commas_in_expressions_do_not_separate),
        cmocka_unit_test(test_expressions_match_as_those_of_the_c_library),
        cmocka_unit_test(test_what_is_no_expression_is_refused),
        cmocka_unit_test(test_no_expression_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
