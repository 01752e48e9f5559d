#include "tree/slices_by_cpu.h"

#include "base/search.h"
#include "tree/order.h"

DEFINE_MAGNITUDE(rank_by_start, struct cpu_slice, -row->start)

DEFINE_MAGNITUDE(rank_by_cpu, struct cpu_slice, -(double)row->cpu)

int slices_by_cpu_make(struct slices_by_cpu *slices, const struct profile *profile, struct error *err)
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
    size_t size = sizeof(*slices->items);
    int code = order_sort_rows(slices->items, size, slices->length, rank_by_start, err);
    if (!code)
        code = order_sort_rows(slices->items, size, slices->length, rank_by_cpu, err);
    for (size_t i = 0; i < slices->length; i++) {
        struct cpu_slice *item = &slices->items[i];
        bool is_first = i == 0 || item->cpu != item[-1].cpu;
        item->reach = is_first ? item->end : fmax(item->end, item[-1].reach);
    }
    if (code)
        slices_by_cpu_destroy(slices);
    return code;
}

void slices_by_cpu_destroy(struct slices_by_cpu *slices)
{
    free(slices->items);
    *slices = (struct slices_by_cpu){0};
}

size_t slices_by_cpu_find_first(const struct slices_by_cpu *slices, uint32_t cpu)
{
    return search_count(slices->items, slices->length, element->cpu < cpu);
}

size_t slices_by_cpu_find_reaching(const struct slices_by_cpu *slices, size_t first, size_t last, double time)
{
    const struct cpu_slice *items = slices->items + first;
    return first + search_count(items, last - first, element->reach <= time);
}
