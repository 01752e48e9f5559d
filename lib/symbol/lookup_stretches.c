/*
 * The part of a lookup that finds out how far answers hold, for those who want to know all of a program before it is
 * asked for.
 *
 * C++ functions that several units have made are in the program once, but several units describe them; only one of
 * these is asked when an address is looked up, and only its edges count.
 */
#include "symbol/lookup.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct dwarf_stretch *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static bool gather(const struct lookup *lookup, struct dwarf_stretches *all)
{
    size_t count = 0;
    for (size_t u = 0; u < lookup->units.length; u++)
        count += lookup->units.data[u].stretches.length;
    if (!array_reserve(all, count))
        return false;
    for (size_t u = 0; u < lookup->units.length; u++) {
        const struct dwarf_stretches *own = &lookup->units.data[u].stretches;
        for (size_t i = 0; i < own->length; i++)
            all->data[all->length++] = own->data[i];
    }
    if (all->length)
        qsort(all->data, all->length, sizeof(struct dwarf_stretch), by_start);
    return true;
}

/* Whether a unit is the one that is asked for the addresses of its stretch. */
static int keep_own(struct lookup *lookup, struct dwarf_stretches *all, struct error *err)
{
    uint64_t *vaddrs = malloc((all->length + 1) * sizeof(*vaddrs));
    uint32_t *units = malloc((all->length + 1) * sizeof(*units));
    size_t kept = 0;
    for (size_t i = 0; vaddrs && i < all->length; i++)
        vaddrs[i] = all->data[i].start;
    if (vaddrs && units)
        dwarf_file_find_units(&lookup->dwarf, vaddrs, all->length, units);
    for (size_t i = 0; vaddrs && units && i < all->length; i++)
        if (units[i] == all->data[i].unit)
            all->data[kept++] = all->data[i];
    int result = vaddrs && units ? 0 : error_no_memory(err);
    all->length = kept;
    free(vaddrs);
    free(units);
    return result;
}

static bool take(const struct lookup *lookup, const struct dwarf_stretches *all, struct dwarf_stretches *stretches)
{
    uint64_t end = 0;
    for (size_t i = 0; i < all->length; i++) {
        struct dwarf_stretch stretch = all->data[i];
        if (stretch.start < end || stretch.start < lookup->dwarf_base)
            continue;
        end = stretch.start + stretch.size;
        stretch.start -= lookup->dwarf_base;
        if (!array_push(stretches, stretch))
            return false;
    }
    return true;
}

int lookup_stretches(struct lookup *lookup, struct dwarf_stretches *stretches, struct error *err)
{
    struct dwarf_stretches all = {.data = NULL};
    int result = gather(lookup, &all) ? keep_own(lookup, &all, err) : error_no_memory(err);
    if (result == 0 && !take(lookup, &all, stretches))
        result = error_no_memory(err);
    array_free(&all);
    return result;
}
