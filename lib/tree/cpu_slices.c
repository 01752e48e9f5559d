#include "tree/cpu_slices.h"

static int compare_slices(const void *a, const void *b)
{
    const struct cpu_slice *left = a, *right = b;
    if (left->cpu != right->cpu)
        return left->cpu < right->cpu ? -1 : 1;
    return (left->start > right->start) - (left->start < right->start);
}

int cpu_slices_make(struct cpu_slices *slices, const struct profile *profile, struct error *err)
{
    size_t count = 0;
    if (slices->items)
        return 0;
    for (size_t i = 0; i < profile->threads.length; i++)
        count += profile->threads.data[i].slices.length;
    slices->items = malloc((count + 1) * sizeof(*slices->items));
    if (!slices->items)
        return error_no_memory(err);
    slices->length = 0;
    for (uint32_t i = 0; i < profile->threads.length && !profile_is_comparison(profile); i++) {
        const struct slice_table *table = &profile->threads.data[i].slices;
        for (uint32_t row = 0; row < table->length; row++) {
            double length = table->end[row] - table->start[row];
            slices->items[slices->length++] =
                (struct cpu_slice){.start = table->start[row],
                                   .end = table->end[row],
                                   .rate = length > 0 ? 1 - table->off_cpu[row] / length : 0,
                                   .cpu = table->cpu[row],
                                   .thread = i,
                                   .row = row};
        }
    }
    qsort(slices->items, slices->length, sizeof(*slices->items), compare_slices);
    for (size_t i = 0; i < slices->length; i++) {
        struct cpu_slice *item = &slices->items[i];
        bool is_first = i == 0 || item->cpu != item[-1].cpu;
        item->reach = is_first ? item->end : fmax(item->end, item[-1].reach);
    }
    return 0;
}

void cpu_slices_destroy(struct cpu_slices *slices)
{
    free(slices->items);
    *slices = (struct cpu_slices){0};
}

size_t cpu_slices_begin(const struct cpu_slices *slices, uint32_t cpu)
{
    size_t low = 0, high = slices->length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (slices->items[middle].cpu < cpu)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t cpu_slices_reach(const struct cpu_slices *slices, size_t first, size_t last, double time)
{
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (slices->items[middle].reach <= time)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}
