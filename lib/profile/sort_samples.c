#include "profile/sort_samples.h"

#include <stdlib.h>
#include <string.h>

struct sort_key {
    double time;
    size_t row;
};

static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *left = a, *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

bool samples_are_sorted(const double *times, size_t length)
{
    uint64_t falls = 0; /* no branch per row, so the compiler vectorizes the loop */
    for (size_t i = 1; i < length; i++)
        falls |= times[i] < times[i - 1];
    return falls == 0;
}

static void permute_column(double *column, double *scratch, const struct sort_key *keys, size_t length)
{
    if (!column)
        return;
    for (size_t i = 0; i < length; i++)
        scratch[i] = column[keys[i].row];
    memcpy(column, scratch, length * sizeof(*column));
}

static void permute_indexes(uint32_t *column, uint32_t *scratch, const struct sort_key *keys, size_t length)
{
    if (!column)
        return;
    for (size_t i = 0; i < length; i++)
        scratch[i] = column[keys[i].row];
    memcpy(column, scratch, length * sizeof(*column));
}

bool samples_sort(struct sample_table *samples)
{
    size_t length = samples->length;
    struct sort_key *keys = malloc(length * sizeof(*keys));
    double *scratch = malloc(length * sizeof(*scratch));
    bool done = keys && scratch;
    if (done) {
        for (size_t i = 0; i < length; i++)
            keys[i] = (struct sort_key){.time = samples->time[i], .row = i};
        qsort(keys, length, sizeof(*keys), compare_keys);
        permute_column(samples->time, scratch, keys, length);
        permute_column(samples->weight, scratch, keys, length);
        permute_column(samples->cpu_delta, scratch, keys, length);
        permute_column(samples->address, scratch, keys, length);
        permute_indexes(samples->stack, (uint32_t *)(void *)scratch, keys, length);
        permute_indexes(samples->waker, (uint32_t *)(void *)scratch, keys, length);
    }
    free(keys);
    free(scratch);
    return done;
}
