/* Binary search in sorted data, and sorting numbers for it. */
#pragma once

#include "base/standard.h"

/* Callback: whether an element precedes the searched element. In a sorted array, it must be true for the first elements
 * and false for all others. */
typedef bool search_is_before(const void *element, const void *wanted);

/* Returns the number of elements (`count` of `size` bytes) that precede the searched element, which is the index of the
 * first other element. The function is in a header, so that the compiler inlines the callback. */
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

/* Returns the number of structs whose uint64_t at this offset is at most `wanted`. The structs must be sorted by this
 * number. */
static inline size_t search_count_up_to(const void *elements, size_t count, size_t size, size_t offset, uint64_t wanted)
{
    const char *first = elements;
    return count ? search_count_before(first + offset, count, size, search_number_is_up_to, &wanted) : 0;
}

/* Returns the number of structs whose `field`, a uint64_t, is at most `wanted`. */
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

/* Returns the index of the first of `count` ascending values that is at least `wanted`; `count` if none is. */
static inline size_t search_first_at_or_after(const uint64_t *values, size_t count, uint64_t wanted)
{
    return search_count_before(values, count, sizeof(*values), search_number_is_below, &wanted);
}

/* Returns a - b, or 0 if b is larger. */
static inline uint64_t subtract_or_zero(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Compares two numbers for qsort(): negative, 0 or positive. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Like ORDER(), but `next` for equal numbers, such as ORDER() of other numbers. */
#define ORDER_THEN(a, b, next) ((a) < (b) ? -1 : (a) > (b) ? 1 : (next))

/* Defines a function for qsort(), of elements of `type`. `order` compares the elements at the pointers `a` and `b`. */
#define DEFINE_COMPARE(name, type, order)                                                                              \
    static int name(const void *left, const void *right)                                                               \
    {                                                                                                                  \
        type const *a = left;                                                                                          \
        type const *b = right;                                                                                         \
        return (order);                                                                                                \
    }

/* An item of a sort by number, in which items with equal numbers have the order of their indexes. */
struct numbered {
    uint64_t number;
    size_t index;
};
void sort_numbered(struct numbered *list, size_t count);

/* Sorts the values and drops duplicates. Returns the number of distinct values. */
size_t sort_distinct(uint64_t *values, size_t count);
