/* Binary search in sorted data, and sorting numbers for it. */
#pragma once

#include "base/standard.h"

/* Returns the number of elements that precede the searched place, which is the index of the first other element.
 * `precedes` is an expression of `element`, the address of an element. In the sorted array, `precedes` must be true for
 * the first elements and false for all others. */
#define search_count(elements, count, precedes)                                                                        \
    __extension__({                                                                                                    \
        size_t search_low = 0, search_high = (count);                                                                  \
        while (search_low < search_high) {                                                                             \
            size_t search_middle = search_low + (search_high - search_low) / 2;                                        \
            __typeof__(&(elements)[0]) element = &(elements)[search_middle];                                           \
            if (precedes)                                                                                              \
                search_low = search_middle + 1;                                                                        \
            else                                                                                                       \
                search_high = search_middle;                                                                           \
        }                                                                                                              \
        search_low;                                                                                                    \
    })

/* Returns the index of the first of `count` ascending values that is at least `wanted`; `count` if none is. */
static inline size_t search_first_at_or_after(const uint64_t *values, size_t count, uint64_t wanted)
{
    return search_count(values, count, *element < wanted);
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
