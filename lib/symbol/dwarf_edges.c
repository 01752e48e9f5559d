#include "symbol/dwarf_edges.h"

#include "base/search.h"

#include <stdlib.h>

enum {
    EDGES_MAX = 1 << 20,  /* of a unit; large ones have 200,000 */
    STRETCH_MAX = 1 << 20 /* bytes; none is as long */
};

void dwarf_edges_add(struct dwarf_edges *edges, uint64_t vaddr)
{
    if (edges->vaddrs.length && edges->vaddrs.data[edges->vaddrs.length - 1] == vaddr)
        return;
    if (edges->vaddrs.length >= EDGES_MAX || !array_push(&edges->vaddrs, vaddr))
        edges->is_incomplete = true;
}

void dwarf_edges_add_function(struct dwarf_edges *edges, struct dwarf_extent function)
{
    if (edges->functions.length >= EDGES_MAX || !array_push(&edges->functions, function))
        edges->is_incomplete = true;
}

/* What is hit comes before what lies at the same place and is not. */
static int by_start(const void *a, const void *b)
{
    const struct dwarf_extent *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (int)y->is_hit - (int)x->is_hit;
}

/* The stretches of a function from `from` on. */
static bool cut_function(const struct dwarf_edges *edges, const struct dwarf_extent *function, uint64_t from,
                         struct dwarf_stretches *stretches)
{
    const uint64_t *vaddrs = edges->vaddrs.data;
    size_t count = edges->vaddrs.length;
    for (size_t i = first_at_or_after(vaddrs, count, from); i < count && vaddrs[i] < function->end; i++) {
        uint64_t end = i + 1 < count && vaddrs[i + 1] < function->end ? vaddrs[i + 1] : function->end;
        uint64_t size = end - vaddrs[i];
        struct dwarf_stretch stretch = {.start = vaddrs[i], .size = (uint32_t)size, .is_hit = function->is_hit};
        if (size <= STRETCH_MAX && !array_push(stretches, stretch))
            return false;
    }
    return true;
}

bool dwarf_edges_cut(struct dwarf_edges *edges, struct dwarf_stretches *stretches)
{
    if (edges->is_incomplete)
        return true;
    edges->vaddrs.length = sort_distinct(edges->vaddrs.data, edges->vaddrs.length);
    if (edges->functions.length)
        qsort(edges->functions.data, edges->functions.length, sizeof(struct dwarf_extent), by_start);
    uint64_t done = 0;
    for (size_t i = 0; i < edges->functions.length; i++) {
        const struct dwarf_extent *function = &edges->functions.data[i];
        if (!cut_function(edges, function, function->start > done ? function->start : done, stretches))
            return false;
        if (function->end > done)
            done = function->end;
    }
    return true;
}

void dwarf_edges_destroy(struct dwarf_edges *edges)
{
    array_free(&edges->vaddrs);
    array_free(&edges->functions);
}
