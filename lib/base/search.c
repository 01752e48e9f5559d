#include "base/search.h"

DEFINE_COMPARE(compare_values, uint64_t, ORDER(*a, *b))

DEFINE_COMPARE(compare_numbers, struct numbered, ORDER_THEN(a->number, b->number, ORDER(a->index, b->index)))

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
