/*
 * The mappings lie in blocks of at most BLOCK_MAX, so that adding a mapping moves one block, not all mappings above: a
 * program may map 65,000 pages from high addresses to low ones, and a file of another profiler any number. Measured
 * with 30,000 mappings: adding a mapping took 60 us in a single sorted array, and takes less than 1 us with blocks.
 */
#include "unwind/address_space.h"

#include "base/search.h"
#include "unwind/cache.h"

enum { BLOCK_MAX = 256 };

/* No block is empty. */
struct place {
    size_t block, index;
};

/* Returns the place of the first mapping that ends after `pc`, or the place after the last block. */
static struct place find_first_ending_after(const struct address_space *space, uint64_t pc)
{
    struct place place = {0};
    if (space->blocks.length > 1)
        place.block =
            search_count(space->blocks.data, space->blocks.length, element->data[element->length - 1].end <= pc);
    if (place.block < space->blocks.length) {
        const struct mapping_block *block = &space->blocks.data[place.block];
        place.index = search_count(block->data, block->length, element->end <= pc);
        if (place.index == block->length)
            place = (struct place){.block = place.block + 1};
    }
    return place;
}

/* NULL after the last one. */
static struct mapping *find_mapping(const struct address_space *space, struct place place)
{
    return place.block < space->blocks.length ? &space->blocks.data[place.block].data[place.index] : NULL;
}

static struct place find_next_place(const struct address_space *space, struct place place)
{
    if (++place.index == space->blocks.data[place.block].length)
        place = (struct place){.block = place.block + 1};
    return place;
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t pc)
{
    const struct mapping *found = find_mapping(space, find_first_ending_after(space, pc));
    return found && found->start <= pc ? found : NULL;
}

const struct mapping *address_space_find_at_or_above(const struct address_space *space, uint64_t pc)
{
    return find_mapping(space, find_first_ending_after(space, pc));
}

/* Returns the last mapping before this place, or NULL. */
static const struct mapping *find_mapping_before(const struct address_space *space, struct place place)
{
    if (place.index)
        return &space->blocks.data[place.block].data[place.index - 1];
    if (!place.block)
        return NULL;
    const struct mapping_block *block = &space->blocks.data[place.block - 1];
    return &block->data[block->length - 1];
}

const struct mapping *address_space_find_at_or_below(const struct address_space *space, uint64_t pc)
{
    struct place place = find_first_ending_after(space, pc);
    const struct mapping *found = find_mapping(space, place);
    return found && found->start <= pc ? found : find_mapping_before(space, place);
}

bool address_space_is_unmapped(const struct address_space *space, uint64_t pc, struct address_gap *gap)
{
    struct place place = find_first_ending_after(space, pc);
    const struct mapping *above = find_mapping(space, place), *below = find_mapping_before(space, place);
    if (above && above->start <= pc)
        return false;
    gap->start = below ? below->end : 0;
    gap->end = above ? above->start : UINT64_MAX;
    return true;
}

bool address_space_has_file(const struct address_space *space, uint64_t start, uint64_t end)
{
    struct place place = find_first_ending_after(space, start);
    for (const struct mapping *at; (at = find_mapping(space, place)) && at->start < end;
         place = find_next_place(space, place))
        if (at->lib != MAPPING_NO_LIB)
            return true;
    return false;
}

/* ---- changes ---- */

static struct mapping make_upper_part(const struct mapping *mapping, uint64_t start)
{
    struct mapping rest = *mapping;
    rest.rva += start - mapping->start;
    rest.start = start;
    return rest;
}

static bool add_block(struct address_space *space, size_t index)
{
    if (!array_reserve(&space->blocks, 1))
        return false;
    struct mapping_block *block = &space->blocks.data[index];
    memmove(block + 1, block, (space->blocks.length - index) * sizeof(*block));
    *block = (struct mapping_block){0};
    space->blocks.length++;
    return true;
}

static void remove_block(struct address_space *space, size_t index)
{
    struct mapping_block *block = &space->blocks.data[index];
    array_free(block);
    memmove(block, block + 1, (--space->blocks.length - index) * sizeof(*block));
}

/* Moves the upper half of a full block to a new one. */
static bool split_block(struct address_space *space, struct place *place)
{
    struct mapping_block upper = {0}, *block = &space->blocks.data[place->block];
    size_t half = block->length / 2;
    if (!array_append(&upper, block->data + half, block->length - half))
        return false;
    if (!add_block(space, place->block + 1)) {
        array_free(&upper);
        return false;
    }
    space->blocks.data[place->block].length = half;
    space->blocks.data[place->block + 1] = upper;
    if (place->index > half)
        *place = (struct place){.block = place->block + 1, .index = place->index - half};
    return true;
}

/* Inserts a mapping at an unmapped range, with its own reference to the module. */
static bool insert_mapping(struct address_space *space, const struct mapping *mapping)
{
    struct place place = find_first_ending_after(space, mapping->start);
    if (place.block && !place.index) { /* append to the previous block, so that no block begins with a single mapping */
        place.block--;
        place.index = space->blocks.data[place.block].length;
    }
    if (!space->blocks.length && !add_block(space, 0))
        return false;
    if (space->blocks.data[place.block].length >= BLOCK_MAX && !split_block(space, &place))
        return false;
    struct mapping_block *block = &space->blocks.data[place.block];
    if (!array_reserve(block, 1)) {
        if (!block->length)
            remove_block(space, place.block);
        return false;
    }
    struct mapping *at = block->data + place.index;
    memmove(at + 1, at, (block->length++ - place.index) * sizeof(*at));
    *at = *mapping;
    unwind_module_ref(mapping->module);
    space->count++;
    return true;
}

/* Removes the mappings of one block that start at `place` or later and end by `end`. */
static void remove_covered(struct address_space *space, struct place place, uint64_t end)
{
    struct mapping_block *block = &space->blocks.data[place.block];
    size_t last = place.index;
    for (; last < block->length && block->data[last].end <= end; last++)
        unwind_module_unref(block->data[last].module);
    memmove(block->data + place.index, block->data + last, (block->length - last) * sizeof(*block->data));
    block->length -= last - place.index;
    space->count -= last - place.index;
    if (!block->length)
        remove_block(space, place.block);
}

/* Removes all mappings, or parts of mappings, in [start, end). */
static bool clear_range(struct address_space *space, uint64_t start, uint64_t end)
{
    struct mapping *at;
    struct place place;
    while ((at = find_mapping(space, place = find_first_ending_after(space, start))) && at->start < end) {
        unwind_cache_clear(space->cache);
        if (at->start < start && at->end > end) {
            struct mapping above = make_upper_part(at, end);
            uint64_t old_end = at->end;
            at->end = start;
            if (insert_mapping(space, &above))
                return true;
            find_mapping(space, place)->end = old_end;
            return false;
        }
        if (at->start < start)
            at->end = start;
        else if (at->end > end)
            *at = make_upper_part(at, end);
        else
            remove_covered(space, place, end);
    }
    return true;
}

bool address_space_map(struct address_space *space, const struct mapping *mapping)
{
    if (mapping->start >= mapping->end)
        return true;
    const struct mapping added = *mapping; /* `mapping` may point into this space */
    /* clear_range() may drop the last other reference */
    struct unwind_module *module = unwind_module_ref(added.module);
    bool ok = clear_range(space, added.start, added.end) && insert_mapping(space, &added);
    unwind_module_unref(module);
    return ok;
}

bool address_space_map_around(struct address_space *space, const struct mapping *mapping)
{
    for (uint64_t at = mapping->start; at < mapping->end;) {
        struct place place = find_first_ending_after(space, at);
        const struct mapping *other = find_mapping(space, place);
        if (other && other->start <= at && other->lib == MAPPING_NO_LIB) {
            at = other->end;
            continue;
        }
        struct mapping part = make_upper_part(mapping, at);
        while (other && other->start < part.end && other->lib != MAPPING_NO_LIB)
            other = find_mapping(space, place = find_next_place(space, place));
        if (other && other->start < part.end)
            part.end = other->start;
        at = part.end;
        if (!address_space_map(space, &part))
            return false;
    }
    return true;
}

static bool copy_block(struct address_space *child, const struct mapping_block *block)
{
    if (!add_block(child, child->blocks.length))
        return false;
    struct mapping_block *copy = &child->blocks.data[child->blocks.length - 1];
    if (!array_append(copy, block->data, block->length)) {
        child->blocks.length--;
        return false;
    }
    for (size_t i = 0; i < block->length; i++)
        unwind_module_ref(block->data[i].module);
    child->count += block->length;
    return true;
}

bool address_space_copy(struct address_space *child, const struct address_space *parent)
{
    for (size_t i = 0; i < parent->blocks.length; i++)
        if (!copy_block(child, &parent->blocks.data[i]))
            return false;
    child->is_java = parent->is_java;
    child->work = parent->work;
    return true;
}

void address_space_clear(struct address_space *space)
{
    for (size_t i = 0; i < space->blocks.length; i++) {
        struct mapping_block *block = &space->blocks.data[i];
        for (size_t j = 0; j < block->length; j++)
            unwind_module_unref(block->data[j].module);
        array_free(block);
    }
    space->blocks.length = space->count = 0;
    space->is_java = false;
    unwind_cache_clear(space->cache);
}

void address_space_destroy(struct address_space *space)
{
    address_space_clear(space);
    array_free(&space->blocks);
    unwind_cache_free(space->cache);
    space->cache = NULL;
}
