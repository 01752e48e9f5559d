/*
 * Growable arrays. Declare an array with its element type, zero it, push elements, and free it:
 *
 *     ARRAY(uint32_t) rows = {0};
 *     if (!array_push(&rows, 7))
 *         return error_no_memory(err);
 *     for (size_t i = 0; i < rows.length; i++) use(rows.data[i]);
 *     array_free(&rows);
 *
 * A struct that is passed between functions names its array type once: `ARRAY_TYPE(struct mapping_array, struct
 * mapping)`. Capacity doubles, so a push is amortised O(1). Elements move when the array grows: keep indexes, not
 * pointers.
 */
#pragma once

#include "base/standard.h"

#define ARRAY(type)                                                                                                    \
    struct {                                                                                                           \
        type *data;                                                                                                    \
        size_t length, capacity;                                                                                       \
    }

#define ARRAY_TYPE(name, type)                                                                                         \
    name                                                                                                               \
    {                                                                                                                  \
        type *data;                                                                                                    \
        size_t length, capacity;                                                                                       \
    }

/* Reserves memory for `extra` more elements. Returns false if memory ran out (the array is unchanged). */
#define array_reserve(array, extra)                                                                                    \
    array_grow((void **)&(array)->data, (array)->length, &(array)->capacity, (extra), sizeof(*(array)->data))

/* Appends one element. Returns false if memory ran out. */
#define array_push(array, ...)                                                                                         \
    (array_reserve((array), 1) ? ((array)->data[(array)->length++] = (__VA_ARGS__), true) : false)

/* Returns the address of an element, or of the end, or NULL in an array without memory, because NULL + 0 is
 * undefined. */
#define array_at(array, index) ((array)->data ? (array)->data + (index) : NULL)

/* Appends one element set to zero bytes and returns its address, or NULL if memory ran out. */
#define array_push_zero(array)                                                                                         \
    (array_reserve((array), 1)                                                                                         \
         ? (__typeof__((array)->data))__builtin_memset(&(array)->data[(array)->length++], 0, sizeof(*(array)->data))   \
         : NULL)

/* Appends `count` elements, copied from `from`. Returns false if memory ran out. */
#define array_append(array, from, count)                                                                               \
    array_add((void **)&(array)->data, &(array)->length, &(array)->capacity, (from), (count), sizeof(*(array)->data))

/* Whether the elements equal those of a list, byte for byte. */
#define array_equals(array, list, count)                                                                               \
    ((array)->length == (count) &&                                                                                     \
     ((count) == 0 || memcmp((array)->data, (list), (count) * sizeof(*(array)->data)) == 0))

/* Sorts the elements like qsort(), which must not get NULL. */
#define array_sort(array, compare)                                                                                     \
    array_sort_elements((array)->data, (array)->length, sizeof(*(array)->data), (compare))

/* Frees the elements and leaves an empty array. */
#define array_free(array)                                                                                              \
    do {                                                                                                               \
        array_release((array)->data);                                                                                  \
        (array)->data = NULL;                                                                                          \
        (array)->length = (array)->capacity = 0;                                                                       \
    } while (0)

bool array_grow(void **data, size_t length, size_t *capacity, size_t extra, size_t element_size);
bool array_add(void **data, size_t *length, size_t *capacity, const void *from, size_t count, size_t element_size);
void array_sort_elements(void *data, size_t length, size_t element_size, int (*compare)(const void *, const void *));
void array_release(void *data);
