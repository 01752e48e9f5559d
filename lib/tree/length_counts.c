#include "tree/length_counts.h"

#include "base/search.h"

enum { BUCKETS_PER_OCTAVE = 24 };
static const double shortest = 1e-6, longest = 1e12; /* ms: the ends of the histogram */

static int32_t get_bucket(double ms)
{
    return (int32_t)floor(log(fmin(fmax(ms, shortest), longest)) / log(2) * BUCKETS_PER_OCTAVE);
}

/* Returns the geometric middle of a bucket, ms. */
static double get_bucket_length(int32_t bucket)
{
    return exp((bucket + 0.5) / BUCKETS_PER_OCTAVE * log(2));
}

bool length_counts_add(struct length_counts *counts, uint32_t group, double ms, double count)
{
    int32_t bucket = get_bucket(ms);
    uint32_t *at = hash_at(&counts->index, (uint64_t)group << 32 | (uint32_t)bucket);
    if (!at)
        return false;
    if (*at == HASH_MISSING) {
        const struct length_count empty = {.group = group, .bucket = bucket};
        *at = (uint32_t)counts->entries.length;
        if (!array_push(&counts->entries, empty))
            return false;
    }
    counts->entries.data[*at].count += count;
    return true;
}

DEFINE_COMPARE(compare_entries, struct length_count, ORDER_THEN(a->group, b->group, ORDER(a->bucket, b->bucket)))

void length_counts_find_percentiles(struct length_counts *counts, double share, double *of_group, size_t groups)
{
    const struct length_count *entries = counts->entries.data;
    size_t length = counts->entries.length;
    for (size_t i = 0; i < groups; i++)
        of_group[i] = NAN;
    array_sort(&counts->entries, compare_entries);
    for (size_t first = 0, after; first < length; first = after) {
        double all = 0, below = 0;
        for (after = first; after < length && entries[after].group == entries[first].group; after++)
            all += entries[after].count;
        size_t at = first;
        while (at + 1 < after && (below += entries[at].count) < share * all)
            at++;
        if (entries[first].group < groups)
            of_group[entries[first].group] = get_bucket_length(entries[at].bucket);
    }
}

void length_counts_destroy(struct length_counts *counts)
{
    hash_destroy(&counts->index);
    array_free(&counts->entries);
}
