#include "base/search.h"
#include "unwind/address_space.h"
#include "unwind/cache.h"

#include <string.h>

/* The index of the first mapping that ends after `pc`. */
static size_t first_ending_after(const struct address_space *space, uint64_t pc)
{
    return search_up_to(space->mappings.data, space->mappings.length, end, pc);
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t pc)
{
    size_t i = first_ending_after(space, pc);
    return i < space->mappings.length && space->mappings.data[i].start <= pc ? &space->mappings.data[i] : NULL;
}

bool address_space_is_unmapped(const struct address_space *space, uint64_t pc, struct address_gap *gap)
{
    const struct mapping *data = space->mappings.data;
    size_t i = first_ending_after(space, pc), length = space->mappings.length;
    if (i < length && data[i].start <= pc)
        return false;
    gap->start = i ? data[i - 1].end : 0;
    gap->end = i < length ? data[i].start : UINT64_MAX;
    return true;
}

bool address_space_has_file(const struct address_space *space, uint64_t start, uint64_t end)
{
    const struct mapping *data = space->mappings.data;
    for (size_t i = first_ending_after(space, start); i < space->mappings.length && data[i].start < end; i++)
        if (data[i].lib != MAPPING_NO_LIB)
            return true;
    return false;
}

static struct mapping mapping_above(const struct mapping *mapping, uint64_t start)
{
    struct mapping rest = *mapping;
    rest.rva += start - mapping->start;
    rest.start = start;
    return rest;
}

bool address_space_map(struct address_space *space, const struct mapping *mapping)
{
    if (mapping->start >= mapping->end)
        return true;
    if (!array_reserve(&space->mappings, 2))
        return false;
    /* [first, last) are the mappings that the new one covers, in whole or in part. */
    struct mapping *data = space->mappings.data;
    size_t length = space->mappings.length, first = first_ending_after(space, mapping->start), last = first;
    while (last < length && data[last].start < mapping->end)
        last++;

    struct mapping pieces[3];
    size_t piece_count = 0;
    if (first < last && data[first].start < mapping->start) {
        pieces[piece_count] = data[first];
        pieces[piece_count++].end = mapping->start;
    }
    pieces[piece_count++] = *mapping;
    if (first < last && data[last - 1].end > mapping->end)
        pieces[piece_count++] = mapping_above(&data[last - 1], mapping->end);

    for (size_t i = 0; i < piece_count; i++)
        unwind_module_ref(pieces[i].module);
    for (size_t i = first; i < last; i++)
        unwind_module_unref(data[i].module);
    memmove(&data[first + piece_count], &data[last], (length - last) * sizeof(*data));
    memcpy(&data[first], pieces, piece_count * sizeof(*data));
    space->mappings.length = length - (last - first) + piece_count;
    if (first < last)
        unwind_cache_clear(space->cache);
    return true;
}

bool address_space_map_around(struct address_space *space, const struct mapping *mapping)
{
    for (uint64_t at = mapping->start; at < mapping->end;) {
        size_t i = first_ending_after(space, at), length = space->mappings.length;
        const struct mapping *data = space->mappings.data;
        if (i < length && data[i].start <= at && data[i].lib == MAPPING_NO_LIB) {
            at = data[i].end;
            continue;
        }
        struct mapping part = mapping_above(mapping, at);
        while (i < length && data[i].start < part.end && data[i].lib != MAPPING_NO_LIB)
            i++;
        if (i < length && data[i].start < part.end)
            part.end = data[i].start;
        at = part.end;
        if (!address_space_map(space, &part))
            return false;
    }
    return true;
}

bool address_space_copy(struct address_space *child, const struct address_space *parent)
{
    if (!array_append(&child->mappings, parent->mappings.data, parent->mappings.length))
        return false;
    for (size_t i = 0; i < parent->mappings.length; i++)
        unwind_module_ref(parent->mappings.data[i].module);
    child->is_java = parent->is_java;
    child->work = parent->work;
    return true;
}

void address_space_clear(struct address_space *space)
{
    for (size_t i = 0; i < space->mappings.length; i++)
        unwind_module_unref(space->mappings.data[i].module);
    space->mappings.length = 0;
    space->is_java = false;
    unwind_cache_clear(space->cache);
}

void address_space_destroy(struct address_space *space)
{
    address_space_clear(space);
    array_free(&space->mappings);
    unwind_cache_free(space->cache);
    space->cache = NULL;
}
