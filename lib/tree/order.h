/*
 * Stable sorting, heaviest first or by a callback. The WebAssembly build's qsort is slow, and no qsort is stable.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

struct order_entry {
    double magnitude; /* any number but a NAN */
    uint32_t index;   /* identifies the item that the caller sorts */
};

ARRAY_TYPE(struct order_entries, struct order_entry);

/* Sorts by descending magnitude; equal entries keep their order. O(n log n), and O(n) if already sorted. */
int order_sort_heaviest_first(struct order_entry *entries, size_t length, struct error *err);

/* Puts rows of `size` bytes in the order of sorted entries: row i becomes the row with the index of entry i. */
int order_apply_to_rows(void *rows, size_t size, const struct order_entry *entries, size_t length, struct error *err);

/* Returns the magnitude of a row: any number but a NAN. */
typedef double order_magnitude_of(const void *row);

/* Defines such a function for rows of `type`. `magnitude` is an expression of `row`, the address of a row. */
#define DEFINE_MAGNITUDE(name, type, magnitude)                                                                        \
    static double name(const void *address)                                                                            \
    {                                                                                                                  \
        const type *row = address;                                                                                     \
        return (magnitude);                                                                                            \
    }

/* Sorts rows of `size` bytes like order_sort_heaviest_first(). */
int order_sort_rows(void *rows, size_t size, size_t length, order_magnitude_of *magnitude_of, struct error *err);

/* Returns whether `b` must precede `a`. */
typedef bool order_is_turned(const void *context, uint32_t a, uint32_t b);

/* Sorts numbers, which identify the caller's items; equal items keep their order. O(n log n). */
int order_sort_numbers(uint32_t *numbers, size_t length, order_is_turned *is_turned, const void *context,
                       struct error *err);
