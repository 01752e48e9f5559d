/* Binary search in sorted data, and sorting numbers for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether an element comes before the wanted one. In a sorted array it holds for the first elements and no others. */
typedef bool search_is_before(const void *element, const void *wanted);

/* The number of elements (`count` of `size` bytes) that come before the wanted one: the index of the first that does
 * not. It is in a header, so the compiler inlines the test into the loop. */
static inline size_t search_count_before(const void *elements, size_t count, size_t size, search_is_before *is_before,
                                         const void *wanted)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before((const char *)elements + middle * size, wanted))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool search_number_is_up_to(const void *element, const void *wanted)
{
    return *(const uint64_t *)element <= *(const uint64_t *)wanted;
}

/* The number of structs whose uint64_t at this offset is at most `wanted`. They are sorted by it. */
static inline size_t search_count_up_to(const void *elements, size_t count, size_t size, size_t offset, uint64_t wanted)
{
    const char *first = elements;
    return count ? search_count_before(first + offset, count, size, search_number_is_up_to, &wanted) : 0;
}

/* The same for `field`, which must be a uint64_t. */
#define search_up_to(elements, count, field, wanted)                                                                   \
    search_count_up_to((elements), (count), sizeof(*(elements)), offsetof(__typeof__(*(elements)), field), (wanted))

static inline bool search_number_is_below(const void *element, const void *wanted)
{
    return *(const uint64_t *)element < *(const uint64_t *)wanted;
}

static inline bool search_real_is_below(const void *element, const void *wanted)
{
    return *(const double *)element < *(const double *)wanted;
}

/* The index of the first of `count` ascending values that is at least `wanted`; `count` if none is. */
static inline size_t first_at_or_after(const uint64_t *values, size_t count, uint64_t wanted)
{
    return search_count_before(values, count, sizeof(*values), search_number_is_below, &wanted);
}

/* Compares two numbers for qsort(): negative, 0 or positive. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* An item that a caller sorts by number, equal ones by index. */
struct numbered {
    uint64_t number;
    size_t index;
};
void sort_numbered(struct numbered *list, size_t count);

/* Sorts the values and drops duplicates. Returns the number of distinct values. */
size_t sort_distinct(uint64_t *values, size_t count);
