/*
 * The notes of a profile, in memory and in its file.
 */
#include "profile/notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profile_text.h"

static const char TWO[] = "[[15.25, 19.25, \"parsing\", \"too\\u0020often\"], [\"copy\", \"b.so\", \"\"]]";

/* Two functions "copy", of a.so and of b.so, and one without a library. */
static void make_profile(struct profile *profile)
{
    profile_init(profile);
    const struct resource resources[] = {{strings_add_z(&profile->strings, "a.so"), PROFILE_NONE, 1},
                                         {strings_add_z(&profile->strings, "b.so"), PROFILE_NONE, 1}};
    uint32_t copy = strings_add_z(&profile->strings, "copy");
    assert_true(array_append(&profile->resources, resources, 2));
    assert_int_equal(profile_add_func(profile, copy, 0), 0);
    assert_int_equal(profile_add_func(profile, strings_append(&profile->strings, "copy", 4), 1), 1);
    assert_int_equal(profile_add_func(profile, copy, PROFILE_NONE), 2);
}

static void set(struct profile *profile, const char *json)
{
    struct error err;
    assert_int_equal(set_notes(profile, json, strlen(json), &err), 0);
}

static void assert_two(const struct profile *profile)
{
    struct arena arena = {0};
    struct notes notes = {0};
    struct error err;
    assert_int_equal(list_notes(&notes, &arena, profile, &err), 0);
    find_funcs_of_notes(&notes, profile);
    assert_int_equal(notes.length, 2);
    const struct note *range = &notes.data[0], *func = &notes.data[1];
    assert_true(is_range_note(range) && range->from == 15.25 && range->to == 19.25);
    assert_int_equal(range->func, PROFILE_NONE);
    assert_string_equal(range->name, "parsing");
    assert_string_equal(range->comment, "too often");
    assert_false(is_range_note(func));
    assert_int_equal(func->func, 1);
    assert_string_equal(func->library, "b.so");
    array_free(&notes);
    arena_destroy(&arena);
}

static size_t count(const struct profile *profile)
{
    struct arena arena = {0};
    struct notes notes = {0};
    struct error err;
    assert_int_equal(list_notes(&notes, &arena, profile, &err), 0);
    find_funcs_of_notes(&notes, profile);
    size_t length = notes.length;
    array_free(&notes);
    arena_destroy(&arena);
    return length;
}

static void test_notes_survive_a_file(void **state)
{
    (void)state;
    struct profile profile, again;
    struct error err;
    char *file = text_replace(text_of_file("minimal.json"), "\"work\"", "\"copy\"");
    assert_int_equal(read_bytes(file, strlen(file), strlen(file), &profile, &err), 0);
    set(&profile, "[[1, 2, \"first\", \"\"], [\"copy\", \"app\", \"hot\"]]");
    char *text = text_of_profile(&profile, 0);
    assert_int_equal(read_bytes(text, strlen(text), 7, &again, &err), 0);
    struct arena arena = {0};
    struct notes notes = {0};
    assert_int_equal(list_notes(&notes, &arena, &again, &err), 0);
    find_funcs_of_notes(&notes, &again);
    assert_int_equal(notes.length, 2);
    assert_string_equal(notes.data[0].name, "first");
    assert_string_equal(profile_text(&again, again.funcs.name[notes.data[1].func]), "copy");
    assert_string_equal(notes.data[1].comment, "hot");
    array_free(&notes);
    arena_destroy(&arena);
    profile_destroy(&profile);
    profile_destroy(&again);
    free(text);
    free(file);
}

static void test_a_function_is_found_by_name_and_library(void **state)
{
    (void)state;
    struct profile profile;
    make_profile(&profile);
    set(&profile, TWO);
    assert_two(&profile);
    profile_destroy(&profile);
}

static void test_new_notes_replace_the_old(void **state)
{
    (void)state;
    struct profile profile;
    make_profile(&profile);
    set(&profile, "[[\"copy\", \"\", \"old\"]]");
    set(&profile, TWO);
    assert_two(&profile);
    assert_int_equal(profile.meta.extra.length, 1);
    set(&profile, "[]");
    assert_int_equal(profile.meta.extra.length, 0);
    profile_destroy(&profile);
}

static void test_other_values_are_no_notes(void **state)
{
    (void)state;
    static const char *const values[] = {"[2, 2, \"\", \"\"]",
                                         "[2, 1, \"\", \"\"]",
                                         "[1, 2, \"\"]",
                                         "[1, \"\", \"\", \"\"]",
                                         "[1, 2, \"\", \"\", \"\"]",
                                         "[\"a\", \"b\"]",
                                         "[\"a\", 1, \"b\"]",
                                         "[\"a\", \"b\", [\"c\"]]",
                                         "[\"a\", \"b\", null]",
                                         "{\"a\": [1]}",
                                         "\"text\"",
                                         "[]",
                                         "[1, 2, 3, \"\", \"\"]",
                                         "[1e999, 2e999, \"\", \"\"]"};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct profile profile;
        char json[256];
        make_profile(&profile);
        snprintf(json, sizeof(json), "[%s, [0, 1, \"\", \"\"]]", values[i]);
        set(&profile, json);
        assert_int_equal(count(&profile), 1);
        assert_int_equal(profile.meta.extra.data[0].entries.length, 1);
        profile_destroy(&profile);
    }
}

static void test_a_profile_has_at_most_a_hundred(void **state)
{
    (void)state;
    struct profile profile;
    struct memory json = {0};
    make_profile(&profile);
    for (int i = 0; i < 2 * NOTES_MAX; i++) {
        const char *note = i ? ",[0,1,\"\",\"\"]" : "[[0,1,\"\",\"\"]";
        memory_write(&json, note, strlen(note), NULL);
    }
    memory_write(&json, "]", 1, NULL);
    set(&profile, json.data);
    struct extra_section *section = &profile.meta.extra.data[0];
    assert_int_equal(section->entries.length, NOTES_MAX);
    assert_true(array_push(&section->entries, section->entries.data[0])); /* such as a file of another program */
    assert_int_equal(count(&profile), NOTES_MAX);
    free(json.data);
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes_survive_a_file),
        cmocka_unit_test(test_a_function_is_found_by_name_and_library),
        cmocka_unit_test(test_new_notes_replace_the_old),
        cmocka_unit_test(test_other_values_are_no_notes),
        cmocka_unit_test(test_a_profile_has_at_most_a_hundred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
