#include "base/search.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

size_t sort_distinct(uint64_t *values, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(values, count, sizeof(*values), by_value);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}
