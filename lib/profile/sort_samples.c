#include "profile/sort_samples.h"

#include "base/search.h"

struct sort_key {
    double time;
    size_t row;
};

DEFINE_COMPARE(compare_keys, struct sort_key, ORDER_THEN(a->time, b->time, ORDER(a->row, b->row)))

bool samples_are_sorted(const double *times, size_t length)
{
    uint64_t falls = 0; /* no branch per row, so the compiler vectorizes the loop */
    for (size_t i = 1; i < length; i++)
        falls |= times[i] < times[i - 1];
    return falls == 0;
}

/* Reorders a column, which may be NULL. `size`: bytes of a value. */
static void permute_column(void *column, size_t size, char *scratch, const struct sort_key *keys, size_t length)
{
    for (size_t i = 0; column && i < length; i++)
        memcpy(scratch + i * size, (const char *)column + keys[i].row * size, size);
    if (column)
        memcpy(column, scratch, length * size);
}

#define PERMUTE(column, scratch, keys, length) permute_column((column), sizeof(*(column)), scratch, keys, length)

bool samples_sort(struct sample_table *samples)
{
    size_t length = samples->length;
    struct sort_key *keys = malloc(length * sizeof(*keys));
    void *scratch = malloc(length * sizeof(double));
    bool done = keys && scratch;
    if (done) {
        for (size_t i = 0; i < length; i++)
            keys[i] = (struct sort_key){.time = samples->time[i], .row = i};
        qsort(keys, length, sizeof(*keys), compare_keys);
        PERMUTE(samples->time, scratch, keys, length);
        PERMUTE(samples->weight, scratch, keys, length);
        PERMUTE(samples->cpu_delta, scratch, keys, length);
        PERMUTE(samples->address, scratch, keys, length);
        PERMUTE(samples->stack, scratch, keys, length);
        PERMUTE(samples->waker, scratch, keys, length);
        PERMUTE(samples->waker_stack, scratch, keys, length);
    }
    free(keys);
    free(scratch);
    return done;
}
