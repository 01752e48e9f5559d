/*
 * The mappings of a process against a reference that keeps one entry for each page.
 */
#include "unwind/address_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 200, FIRST = 16 };

struct reference {
    struct {
        uint32_t lib; /* 0: nothing is mapped */
        uint64_t rva;
    } pages[PAGES];
};

static struct mapping random_mapping(unsigned *seed, uint32_t lib)
{
    unsigned start = (unsigned)rand_r(seed) % PAGES, count = 1 + (unsigned)rand_r(seed) % 40;
    if (start + count > PAGES)
        count = PAGES - start;
    return (struct mapping){.start = (FIRST + start) * (uint64_t)PAGE,
                            .end = (FIRST + start + count) * (uint64_t)PAGE,
                            .rva = (uint64_t)(rand_r(seed) % 1000) * PAGE,
                            .lib = lib};
}

static void reference_map(struct reference *reference, const struct mapping *mapping)
{
    for (uint64_t at = mapping->start; at < mapping->end; at += PAGE) {
        reference->pages[at / PAGE - FIRST].lib = mapping->lib;
        reference->pages[at / PAGE - FIRST].rva = mapping->rva + (at - mapping->start);
    }
}

static void assert_same(const struct address_space *space, const struct reference *reference)
{
    for (unsigned page = 0; page < PAGES; page++) {
        uint64_t start = (FIRST + page) * (uint64_t)PAGE;
        for (unsigned i = 0; i < 3; i++) {
            uint64_t pc = start + (uint64_t[]){0, 1234, PAGE - 1}[i];
            const struct mapping *found = address_space_find(space, pc);
            if (reference->pages[page].lib == 0) {
                assert_null(found);
                continue;
            }
            assert_non_null(found);
            assert_true(pc >= found->start && pc < found->end);
            assert_int_equal(found->lib, reference->pages[page].lib);
            assert_int_equal(found->rva + (pc - found->start), reference->pages[page].rva + (pc - start));
        }
    }
    size_t count = 0;
    uint64_t end = 0;
    for (const struct mapping *at; (at = address_space_find_at_or_above(space, end)); end = at->end, count++)
        assert_true(at->start >= end && at->start < at->end);
    assert_int_equal(count, space->count);
}

static void test_random_overlays_equal_a_page_table(void **state)
{
    (void)state;
    for (unsigned round = 1; round <= 60; round++) {
        unsigned seed = round;
        struct address_space space = {0};
        struct reference reference = {0};
        for (uint32_t lib = 1; lib <= 60; lib++) {
            struct mapping mapping = random_mapping(&seed, lib);
            assert_true(address_space_map(&space, &mapping));
            reference_map(&reference, &mapping);
            assert_same(&space, &reference);
        }
        address_space_destroy(&space);
    }
}

static void test_anonymous_memory_stays_around_which_other_is_mapped(void **state)
{
    (void)state;
    for (unsigned round = 1; round <= 60; round++) {
        unsigned seed = round;
        struct address_space space = {0};
        struct reference reference = {0};
        for (uint32_t i = 1; i <= 60; i++) {
            struct mapping mapping = random_mapping(&seed, i % 3 ? i : MAPPING_NO_LIB);
            if (mapping.lib != MAPPING_NO_LIB) {
                assert_true(address_space_map(&space, &mapping));
                reference_map(&reference, &mapping);
            } else {
                assert_true(address_space_map_around(&space, &mapping));
                for (uint64_t at = mapping.start; at < mapping.end; at += PAGE) {
                    struct mapping page = {.start = at, .end = at + PAGE, .lib = mapping.lib};
                    page.rva = mapping.rva + (at - mapping.start);
                    if (reference.pages[at / PAGE - FIRST].lib != MAPPING_NO_LIB)
                        reference_map(&reference, &page);
                }
            }
            assert_same(&space, &reference);
        }
        address_space_destroy(&space);
    }
}

static void test_a_mapping_inside_another_splits_it(void **state)
{
    (void)state;
    struct address_space space = {0};
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x9000, .rva = 0x100, .lib = 1}));
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x3000, .end = 0x4000, .rva = 0, .lib = 2}));
    assert_int_equal(space.count, 3);
    assert_int_equal(address_space_find(&space, 0x2fff)->lib, 1);
    assert_int_equal(address_space_find(&space, 0x3000)->lib, 2);
    assert_int_equal(address_space_find(&space, 0x4000)->lib, 1);
    assert_int_equal(address_space_find(&space, 0x4000)->rva, 0x3100);
    address_space_destroy(&space);
}

static void test_ends_are_exclusive_up_to_the_top_of_memory(void **state)
{
    (void)state;
    struct address_space space = {0};
    assert_null(address_space_find(&space, 0));
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x5000, .end = 0x5000, .lib = 1}));
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x6000, .end = 0x5000, .lib = 1}));
    assert_int_equal(space.count, 0);
    assert_true(address_space_map(&space, &(struct mapping){.start = UINT64_MAX - 0xfff, .end = UINT64_MAX, .lib = 3}));
    assert_null(address_space_find(&space, UINT64_MAX));
    assert_int_equal(address_space_find(&space, UINT64_MAX - 1)->lib, 3);
    assert_null(address_space_find(&space, UINT64_MAX - 0x1000));
    address_space_destroy(&space);
}

static void test_a_copy_goes_its_own_way(void **state)
{
    (void)state;
    struct address_space parent = {0}, child = {0};
    assert_true(address_space_map(&parent, &(struct mapping){.start = 0x1000, .end = 0x3000, .lib = 1}));
    assert_true(address_space_copy(&child, &parent));
    assert_true(address_space_map(&child, &(struct mapping){.start = 0x2000, .end = 0x3000, .lib = 2}));
    assert_int_equal(address_space_find(&parent, 0x2000)->lib, 1);
    assert_int_equal(address_space_find(&child, 0x2000)->lib, 2);
    assert_int_equal(address_space_find(&child, 0x1000)->lib, 1);
    address_space_clear(&parent);
    assert_null(address_space_find(&parent, 0x1000));
    assert_int_equal(address_space_find(&child, 0x1000)->lib, 1);
    address_space_destroy(&parent);
    address_space_destroy(&child);
}

/* The address sanitizer sees a module freed too early or never. */
static void test_mappings_keep_their_module_as_long_as_a_piece_is_left(void **state)
{
    (void)state;
    FILE *self = fopen("/proc/self/exe", "rb");
    struct error err;
    struct unwind_module *module;
    assert_int_equal(unwind_module_open(&module, fileno(self), "self", &err), 0);
    fclose(self);
    uint64_t base = unwind_module_get_base(module);
    struct address_space space = {0}, child = {0};
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x9000, .module = module}));
    unwind_module_unref(module);
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x3000, .end = 0x4000}));
    assert_true(address_space_copy(&child, &space));
    assert_true(address_space_map(&space, &(struct mapping){.start = 0x1000, .end = 0x8000}));
    assert_int_equal(unwind_module_get_base(address_space_find(&space, 0x8000)->module), base);
    address_space_destroy(&space);
    assert_int_equal(unwind_module_get_base(address_space_find(&child, 0x2000)->module), base);
    address_space_destroy(&child);
}

/* One in each page of `order` (a permutation), in `count` pages with one free page between two. */
static void map_in_order(struct address_space *space, size_t count, size_t (*order)(size_t i, size_t count))
{
    for (size_t i = 0; i < count; i++) {
        uint64_t start = (FIRST + 2 * order(i, count)) * (uint64_t)PAGE;
        assert_true(
            address_space_map(space, &(struct mapping){.start = start, .end = start + PAGE, .lib = (uint32_t)i}));
    }
}

static size_t ascending(size_t i, size_t count)
{
    (void)count;
    return i;
}

static size_t descending(size_t i, size_t count)
{
    return count - 1 - i;
}

static size_t scattered(size_t i, size_t count)
{
    return i * 7919 % count; /* a prime that does not divide it */
}

static void test_many_mappings_are_found_in_whatever_order_they_come(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    size_t (*const orders[])(size_t, size_t) = {ascending, descending, scattered};
    for (size_t k = 0; k < sizeof(orders) / sizeof(*orders); k++) {
        struct address_space space = {0}, child = {0};
        map_in_order(&space, COUNT, orders[k]);
        assert_int_equal(space.count, COUNT);
        assert_true(address_space_copy(&child, &space));
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t start = (FIRST + 2 * orders[k](i, COUNT)) * (uint64_t)PAGE;
            struct address_gap gap;
            assert_int_equal(address_space_find(&child, start + PAGE - 1)->lib, i);
            assert_true(address_space_is_unmapped(&space, start - 1, &gap));
            assert_true(gap.end == start && gap.start == (start == FIRST * PAGE ? 0 : start - PAGE));
        }
        assert_true(address_space_map(&space, &(struct mapping){.start = 0, .end = UINT64_MAX, .lib = COUNT}));
        assert_int_equal(space.count, 1);
        address_space_destroy(&space);
        assert_int_equal(child.count, COUNT);
        address_space_destroy(&child);
    }
}

/* With one sorted array, this moves 1.8 TB. */
static void test_many_mappings_from_the_top_down_take_a_moment(void **state)
{
    (void)state;
    struct address_space space = {0};
    map_in_order(&space, 300000, descending);
    assert_int_equal(space.count, 300000);
    address_space_destroy(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_overlays_equal_a_page_table),
        cmocka_unit_test(test_anonymous_memory_stays_around_which_other_is_mapped),
        cmocka_unit_test(test_many_mappings_are_found_in_whatever_order_they_come),
        cmocka_unit_test(test_many_mappings_from_the_top_down_take_a_moment),
        cmocka_unit_test(test_a_mapping_inside_another_splits_it),
        cmocka_unit_test(test_ends_are_exclusive_up_to_the_top_of_memory),
        cmocka_unit_test(test_a_copy_goes_its_own_way),
        cmocka_unit_test(test_mappings_keep_their_module_as_long_as_a_piece_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
