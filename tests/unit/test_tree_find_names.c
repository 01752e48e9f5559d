/*
 * Finding functions by letters of their names: against all positions of all words, tried one by one, on thousands of
 * random profiles; and expected results for a few names.
 */
#include "random_profile.h"
#include "tree/find_names.h"
#include "tree/fuzzy.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- the slow way ---- */

static bool part_begins(const char *name, size_t at)
{
    if (at == 0)
        return true;
    return isalnum((unsigned char)name[at]) &&
           (!isalnum((unsigned char)name[at - 1]) ||
            (islower((unsigned char)name[at - 1]) && isupper((unsigned char)name[at])));
}

/* Tries every place for the rest of a word after place `last`, or anywhere if that is -1; -1 if there is none. */
static int slow_places(const char *name, const char *word, int last)
{
    int best = -1;
    if (!*word)
        return 0;
    for (int at = last + 1; name[at]; at++) {
        if (tolower((unsigned char)name[at]) != tolower((unsigned char)*word))
            continue;
        int rest = slow_places(name, word + 1, at);
        int here = last >= 0 && at == last + 1 ? 12 : part_begins(name, (size_t)at) ? 10 : 1;
        if (last < 0 && at == 0)
            here += 4;
        if (rest >= 0 && rest + here > best)
            best = rest + here;
    }
    return best;
}

static int slow_word(const char *name, const char *lib, const char *word)
{
    int score = slow_places(name, word, -1);
    if (score >= 0)
        return score + (strcasecmp(name, word) == 0 ? 20 : 0);
    return lib && strcasestr(lib, word) ? 1 : -1;
}

static int slow_score(const struct profile *profile, uint32_t func, const char *text)
{
    char copy[64];
    uint32_t resource = profile->funcs.resource[func];
    const char *name = profile->strings.entries.data[profile->funcs.name[func]].text;
    const char *lib =
        resource == PROFILE_NONE ? NULL : profile->strings.entries.data[profile->resources.data[resource].name].text;
    int score = 0;
    snprintf(copy, sizeof(copy), "%s", text);
    char *rest = copy;
    for (char *word; (word = strsep(&rest, " \t"));) {
        int one = *word ? slow_word(name, lib, word) : 0;
        if (one < 0)
            return -1;
        score += one;
    }
    return score;
}

static bool slow_is_before(const struct profile *profile, const double *weight, struct found_name a,
                           struct found_name b)
{
    size_t a_length = profile->strings.entries.data[profile->funcs.name[a.func]].length;
    size_t b_length = profile->strings.entries.data[profile->funcs.name[b.func]].length;
    if (a.score != b.score)
        return a.score > b.score;
    if (weight[a.func] != weight[b.func])
        return weight[a.func] > weight[b.func];
    return a_length != b_length ? a_length < b_length : a.func < b.func;
}

static void test_the_best_names_are_those_of_all_places_tried(void **state)
{
    (void)state;
    static const char letters[] = "funcabxy:(RAi  FC.";
    struct random random = {11};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct profile profile;
        struct name_finder finder;
        struct found_names found = {0};
        struct func_timing rows[16];
        struct error err;
        double weight[16] = {0};
        char text[16];
        random_profile(&profile, seed);
        size_t length = random_below(&random, 7);
        for (size_t i = 0; i < length; i++)
            text[i] = letters[random_below(&random, sizeof(letters) - 1)];
        text[length] = '\0';
        assert_true(profile.funcs.length <= 16);
        struct func_timings functions = {rows, 0};
        for (uint32_t func = 0; func < profile.funcs.length; func++) {
            if (random_below(&random, 3) == 0)
                continue;
            double total = (double)random_below(&random, 4) - 2;
            weight[func] = fabs(total);
            rows[functions.length++] = (struct func_timing){func, total, 0};
        }
        assert_int_equal(name_finder_init(&finder, &profile, &err), 0);
        name_finder_weigh(&finder, &functions);
        size_t limit = random_below(&random, 10);
        assert_int_equal(name_finder_find(&finder, text, length, limit, &found, &err), 0);

        size_t matches = 0;
        for (uint32_t func = 0; func < profile.funcs.length; func++)
            matches += slow_score(&profile, func, text) >= 0;
        assert_int_equal(found.length, matches < limit ? matches : limit);
        for (size_t i = 0; i < found.length; i++)
            assert_int_equal(found.data[i].score, slow_score(&profile, found.data[i].func, text));
        /* Each is before all that come later, and the last before all that are not there. */
        for (size_t i = 0; i < found.length; i++)
            for (uint32_t func = 0; func < profile.funcs.length; func++) {
                struct found_name other = {func, slow_score(&profile, func, text)};
                bool is_earlier = false;
                for (size_t j = 0; j <= i; j++)
                    is_earlier |= found.data[j].func == func;
                if (other.score >= 0 && !is_earlier)
                    assert_true(slow_is_before(&profile, weight, found.data[i], other));
            }
        array_free(&found);
        name_finder_destroy(&finder);
        profile_destroy(&profile);
    }
}

/* The names that are found, best first, with a comma between. */
static void assert_finds(const char *const *names, size_t count, const char *text, const char *expected)
{
    struct profile profile;
    struct name_finder finder;
    struct found_names found = {0};
    struct error err;
    char joined[512] = "";
    profile_init(&profile);
    struct resource resource = {strings_add_z(&profile.strings, "libc.so.6"), PROFILE_NONE, 1};
    assert_true(array_push(&profile.resources, resource));
    for (size_t i = 0; i < count; i++)
        profile_add_func(&profile, strings_add_z(&profile.strings, names[i]), i % 2 ? 0 : PROFILE_NONE);
    assert_int_equal(name_finder_init(&finder, &profile, &err), 0);
    assert_int_equal(name_finder_find(&finder, text, strlen(text), 100, &found, &err), 0);
    for (size_t i = 0; i < found.length; i++) {
        strcat(joined, i ? "," : "");
        strcat(joined, names[found.data[i].func]);
    }
    assert_string_equal(joined, expected);
    array_free(&found);
    name_finder_destroy(&finder);
    profile_destroy(&profile);
}

static void test_whole_names_come_before_parts_and_parts_before_scattered_letters(void **state)
{
    (void)state;
    static const char *const names[] = {"_int_malloc", "malloc_usable_size", "malloc", "make_all_locks", "free"};
    assert_finds(names, 5, "malloc", "malloc,malloc_usable_size,_int_malloc,make_all_locks");
    assert_finds(names, 5, "MALLOC", "malloc,malloc_usable_size,_int_malloc,make_all_locks");
    assert_finds(names, 5, "zzz", "");
}

static void test_first_letters_of_parts_find_a_name(void **state)
{
    (void)state;
    static const char *const names[] = {"std::vector<int>::push_back(int)", "HttpServer::handleRequest", "vapb"};
    assert_finds(names, 3, "vpb", "std::vector<int>::push_back(int),vapb");
    assert_finds(names, 3, "hshr", "HttpServer::handleRequest");
    assert_finds(names, 3, "push vec", "std::vector<int>::push_back(int)");
    static const char *const edges[] = {"mixed", "makeZone", "muzak", "zoomArea", "zeta"};
    assert_finds(edges, 5, "mz", "makeZone,muzak");
    assert_finds((const char *const[]){"albumsB", "alpaB"}, 2, "ab", "alpaB,albumsB");
    assert_finds((const char *const[]){"quickB", "quizB"}, 2, "qb", "quizB,quickB");
    assert_finds(edges, 5, "za", "zoomArea,zeta,muzak");
}

static void test_a_word_may_name_the_library(void **state)
{
    (void)state;
    static const char *const names[] = {"read", "read_all", "write"};
    assert_finds(names, 3, "read libc", "read_all");
    assert_finds(names, 3, "", "read,write,read_all");
}

static void test_long_names_and_many_words_are_looked_at_in_part(void **state)
{
    (void)state;
    char name[5000], text[2000];
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 2] = 'b';
    name[sizeof(name) - 1] = '\0';
    const char *names[] = {name};
    struct profile profile;
    struct name_finder finder;
    struct found_names found = {0};
    struct error err;
    profile_init(&profile);
    profile_add_func(&profile, strings_add_z(&profile.strings, names[0]), PROFILE_NONE);
    assert_int_equal(name_finder_init(&finder, &profile, &err), 0);
    assert_int_equal(name_finder_find(&finder, "ab", 2, 10, &found, &err), 0);
    assert_int_equal(found.length, 0);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 100 == 99 ? ' ' : 'a';
    assert_int_equal(name_finder_find(&finder, text, sizeof(text), 10, &found, &err), 0);
    assert_int_equal(found.length, 1);
    assert_int_equal(found.data[0].score, FUZZY_WORDS * (14 + 12 * (FUZZY_LETTERS - 1)));
    array_free(&found);
    name_finder_destroy(&finder);
    profile_destroy(&profile);
}

static void test_marks_are_the_letters_of_the_best_place(void **state)
{
    static const char letters[] = "abcABC_: x";
    struct random random = {7};
    (void)state;
    for (int round = 0; round < 3000; round++) {
        char name[16] = "", typed[8] = "";
        for (size_t i = 0, count = random_below(&random, sizeof(name)); i < count; i++)
            name[i] = letters[random_below(&random, sizeof(letters) - 1)];
        for (size_t i = 0, count = 1 + random_below(&random, 4); i < count; i++)
            typed[i] = letters[random_below(&random, 8)];
        struct fuzzy_word words[FUZZY_WORDS];
        struct fuzzy_text text = {name, strlen(name)};
        uint8_t marks[sizeof(name)] = {0};
        char marked[sizeof(name)] = "";
        assert_int_equal(split_fuzzy_words(words, typed, strlen(typed)), 1);
        int score = fuzzy_compute_score(text, &words[0]), at = -1, places = 0;
        assert_int_equal(score, slow_word(name, NULL, typed));
        assert_int_equal(fuzzy_mark_matches(text, &words[0], marks, 4), score);
        for (int i = 0; name[i]; i++) {
            if (marks[i] == 0)
                continue;
            assert_int_equal(marks[i], 4);
            marked[strlen(marked)] = (char)tolower((unsigned char)name[i]);
            places += i == 0 ? 14 : at >= 0 && i == at + 1 ? 12 : part_begins(name, (size_t)i) ? 10 : 1;
            at = i;
        }
        if (score == FUZZY_NOWHERE) {
            assert_string_equal(marked, "");
            continue;
        }
        assert_int_equal(strcasecmp(marked, typed), 0);
        assert_int_equal(places + (strcasecmp(name, typed) == 0 ? 20 : 0), score);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_names_are_those_of_all_places_tried),
        cmocka_unit_test(test_whole_names_come_before_parts_and_parts_before_scattered_letters),
        cmocka_unit_test(test_first_letters_of_parts_find_a_name),
        cmocka_unit_test(test_a_word_may_name_the_library),
        cmocka_unit_test(test_marks_are_the_letters_of_the_best_place),
        cmocka_unit_test(test_long_names_and_many_words_are_looked_at_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
