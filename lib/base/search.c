#include "base/search.h"

static int compare_values(const void *a, const void *b)
{
    return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return ORDER_THEN(x->number, y->number, ORDER(x->index, y->index));
}

void sort_numbered(struct numbered *list, size_t count)
{
    if (count)
        qsort(list, count, sizeof(*list), compare_numbers);
}

size_t sort_distinct(uint64_t *values, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(values, count, sizeof(*values), compare_values);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}
