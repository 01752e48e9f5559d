/* Sorted addresses, and binary search in them. */
#ifndef PROF_SYMBOL_SEARCH_H
#define PROF_SYMBOL_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of `count` ascending values that is not below `wanted`; `count` if there is none. */
static inline size_t first_at_or_after(const uint64_t *values, size_t count, uint64_t wanted)
{
    const uint64_t *at = values;
    while (count > 0) {
        size_t half = count / 2;
        if (at[half] < wanted) {
            at += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return (size_t)(at - values);
}

/* Sorts the values and drops those that are there twice. Returns how many are left. */
size_t sort_distinct(uint64_t *values, size_t count);

#endif
