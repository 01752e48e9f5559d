#include "base/array.h"

bool array_grow(void **data, size_t length, size_t *capacity, size_t extra, size_t element_size)
{
    if (extra <= *capacity - length)
        return true;
    if (extra > SIZE_MAX / element_size - length)
        return false;
    size_t wanted = length + extra;
    size_t doubled = *capacity > SIZE_MAX / 2 / element_size ? *capacity : *capacity * 2;
    size_t grown = wanted > doubled ? wanted : doubled;
    if (grown < 8)
        grown = 8;
    void *moved = realloc(*data, grown * element_size);
    if (!moved)
        return false;
    *data = moved;
    *capacity = grown;
    return true;
}

bool array_add(void **data, size_t *length, size_t *capacity, const void *from, size_t count, size_t element_size)
{
    if (!array_grow(data, *length, capacity, count, element_size))
        return false;
    if (count)
        memcpy((char *)*data + *length * element_size, from, count * element_size);
    *length += count;
    return true;
}

void array_sort_elements(void *data, size_t length, size_t element_size, int (*compare)(const void *, const void *))
{
    if (length)
        qsort(data, length, element_size, compare);
}

void array_release(void *data)
{
    free(data);
}
