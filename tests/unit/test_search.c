#include "base/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct place {
    uint32_t start;
    char name;
};

static size_t places_up_to(const struct place *places, size_t count, uint32_t address)
{
    return search_count(places, count, element->start <= address);
}

static void test_nothing_holds_nothing(void **state)
{
    (void)state;
    assert_int_equal(places_up_to(NULL, 0, 7), 0);
    assert_int_equal(search_first_at_or_after(NULL, 0, 7), 0);
    assert_int_equal(sort_distinct(NULL, 0), 0);
}

static void test_every_length_and_place_is_found_as_by_counting(void **state)
{
    (void)state;
    enum { MOST = 40 };
    struct place places[MOST];
    uint64_t values[MOST];
    for (uint32_t count = 0; count <= MOST; count++) {
        for (uint32_t i = 0; i < count; i++) { /* 10 10 13 16 16 19 ...: some twice, with room between */
            places[i] = (struct place){.start = 10 + (i - i / 3) * 3, .name = 'a'};
            values[i] = places[i].start;
        }
        for (uint32_t wanted = 0; wanted < 10 + 3 * MOST; wanted++) {
            size_t up_to = 0, below = 0;
            for (uint32_t i = 0; i < count; i++) {
                up_to += places[i].start <= wanted;
                below += values[i] < wanted;
            }
            assert_int_equal(places_up_to(places, count, wanted), up_to);
            assert_int_equal(search_first_at_or_after(values, count, wanted), below);
        }
    }
}

static void test_the_largest_numbers_are_found(void **state)
{
    (void)state;
    const uint64_t values[] = {0, UINT64_MAX - 1, UINT64_MAX};
    assert_int_equal(search_first_at_or_after(values, 3, 0), 0);
    assert_int_equal(search_first_at_or_after(values, 3, 1), 1);
    assert_int_equal(search_first_at_or_after(values, 3, UINT64_MAX), 2);
    assert_int_equal(search_first_at_or_after(values, 2, UINT64_MAX), 2);
}

static void test_sorted_values_are_there_once(void **state)
{
    (void)state;
    uint64_t values[] = {UINT64_MAX, 3, 0, 3, UINT64_MAX, 3, 1};
    const uint64_t sorted[] = {0, 1, 3, UINT64_MAX};
    assert_int_equal(sort_distinct(values, 7), 4);
    assert_memory_equal(values, sorted, sizeof(sorted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_holds_nothing),
        cmocka_unit_test(test_every_length_and_place_is_found_as_by_counting),
        cmocka_unit_test(test_the_largest_numbers_are_found),
        cmocka_unit_test(test_sorted_values_are_there_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
