/* Equal rows are stored once, different ones apart. */
#include "base/hash.h"
#include "profile/intern.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct fixture {
    struct profile profile;
    struct interner interner;
};

static void begin(struct fixture *fixture)
{
    profile_init(&fixture->profile);
    interner_init(&fixture->interner, &fixture->profile);
}

static void end(struct fixture *fixture)
{
    interner_destroy(&fixture->interner);
    profile_destroy(&fixture->profile);
}

static void test_a_stack_is_its_prefix_and_frame(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct fixture f;
    begin(&f);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t prefix = i < 2 ? PROFILE_NONE : i / 2;
            assert_int_equal(intern_stack(&f.interner, prefix, i), i);
        }
    assert_int_equal(f.profile.stacks.length, COUNT);
    assert_int_equal(f.profile.stacks.prefix[0], PROFILE_NONE);
    assert_int_equal(f.profile.stacks.prefix[COUNT - 1], (COUNT - 1) / 2);
    end(&f);
}

static void test_frames_differ_in_every_column(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct frame_row base = make_frame_row(1), rows[10];
    for (size_t i = 0; i < 10; i++)
        rows[i] = base;
    rows[1].address = 0;
    rows[2].lib = 0;
    rows[3].func = 2;
    rows[4].category = 0;
    rows[5].subcategory = 0;
    rows[6].native_symbol = 0;
    rows[7].line = 1;
    rows[8].column = 1;
    rows[9].inline_depth = 1;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 10; i++)
            assert_int_equal(intern_frame(&f.interner, &rows[i]), i);
    assert_int_equal(f.profile.frames.length, 10);
    assert_int_equal(f.profile.frames.inline_depth[9], 1);
    end(&f);
}

static void test_funcs_with_one_name_in_two_libraries_stay_apart(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t name = strings_add_z(&f.profile.strings, "main");
    uint32_t one = intern_library_resource(&f.interner, strings_add_z(&f.profile.strings, "one.so"));
    uint32_t two = intern_library_resource(&f.interner, strings_add_z(&f.profile.strings, "two.so"));
    struct func_row row = {.name = name, .resource = one, .source = PROFILE_NONE};
    uint32_t first = intern_func(&f.interner, &row);
    row.resource = two;
    uint32_t second = intern_func(&f.interner, &row);
    assert_int_not_equal(first, second);
    assert_int_equal(intern_func(&f.interner, &row), second);
    assert_int_equal(intern_library_resource(&f.interner, strings_add_z(&f.profile.strings, "one.so")), one);
    assert_int_equal(f.profile.resources.data[one].type, 1);
    end(&f);
}

static void test_categories_and_subcategories_are_known_by_name(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t user = intern_category(&f.interner, "User", "yellow");
    uint32_t kernel = intern_category(&f.interner, "Kernel", "orange");
    assert_int_equal(intern_category(&f.interner, "User", "blue"), user);
    assert_int_not_equal(user, kernel);
    assert_int_equal(intern_subcategory(&f.interner, user, "Other"), 0);
    assert_int_equal(intern_subcategory(&f.interner, user, "JIT"), 1);
    assert_int_equal(intern_subcategory(&f.interner, user, "JIT"), 1);
    assert_int_equal(intern_subcategory(&f.interner, kernel, "IRQ"), 1);
    struct interner later; /* the rows of the profile are older than it */
    interner_init(&later, f.interner.profile);
    assert_int_equal(intern_subcategory(&later, user, "New"), 2);
    assert_int_equal(intern_subcategory(&later, user, "JIT"), 1);
    interner_destroy(&later);
    assert_int_equal(intern_subcategory(&f.interner, user, "New"), 2); /* a row of another interner */
    end(&f);
}

static void test_libraries_differ_in_every_text(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 7; i++) {
            uint32_t texts[7] = {0, 1, 2, 3, 4, 5, 6};
            texts[i] = 9;
            const struct library lib = {texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6]};
            assert_int_equal(intern_library(&f.interner, &lib), i);
        }
    assert_int_equal(f.profile.libs.length, 7);
    end(&f);
}

static void test_sources_are_known_by_name(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(intern_source_file(&f.interner, 5), 0);
    assert_int_equal(intern_source_file(&f.interner, 6), 1);
    assert_int_equal(intern_source_file(&f.interner, 5), 0);
    assert_int_equal(f.profile.sources.data[0].start_line, 1);
    assert_int_equal(f.profile.sources.data[0].start_column, 1);
    end(&f);
}

/* Of rows whose first number is the first half of the seed, the second one does not count: their keys are the same, and
 * only a comparison tells them apart. */
static void test_rows_with_one_key_are_told_apart(void **state)
{
    (void)state;
    const struct hash_seed seed = hash_seed;
    struct fixture f;
    begin(&f);
    hash_seed.words[0] = UINT64_C(7) << 32 | 8;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20; i++) {
            struct frame_row frame = make_frame_row(i / 2);
            frame.address = (int64_t)hash_seed.words[0];
            frame.lib = i % 2;
            const struct library lib = {.name = 7, .path = 8, .debug_name = i / 2, .debug_path = i % 2};
            const struct native_symbol symbol = {i / 2, frame.address, i % 2, 16};
            const struct func_row func = {.name = 7, .resource = 8, .source = i / 2, .flags = i % 2};
            const struct resource resource = {.name = 7, .host = 8, .type = (uint8_t)i};
            assert_int_equal(intern_frame(&f.interner, &frame), i);
            assert_int_equal(intern_library(&f.interner, &lib), i);
            assert_int_equal(intern_native_symbol(&f.interner, &symbol), i);
            assert_int_equal(intern_func(&f.interner, &func), i);
            assert_int_equal(intern_resource(&f.interner, &resource), i);
        }
    end(&f);
    hash_seed = seed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stack_is_its_prefix_and_frame),
        cmocka_unit_test(test_frames_differ_in_every_column),
        cmocka_unit_test(test_funcs_with_one_name_in_two_libraries_stay_apart),
        cmocka_unit_test(test_categories_and_subcategories_are_known_by_name),
        cmocka_unit_test(test_libraries_differ_in_every_text),
        cmocka_unit_test(test_sources_are_known_by_name),
        cmocka_unit_test(test_rows_with_one_key_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
