#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

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

void array_release(void *data)
{
    free(data);
}
