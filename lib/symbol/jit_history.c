/*
 * A segment tree (de Berg et al., Computational Geometry, 10.3) over the address ranges between all starts and ends. A
 * change is stored at the few nodes that together cover its range, ordered by time at each node. An address lies below
 * one node per level, so the answer is the latest change at any of these nodes. If later code overwrites a part of some
 * code, the other part stays valid.
 *
 * The tree is laid out like a heap, without pointers: leaf i is at node count + i, the parent of node n is n / 2.
 * Compilers rarely put code across the bounds of other code, so nearly every change is stored at one or two nodes. So
 * each node refers to the nearest node above that has changes, and a lookup skips nodes without changes.
 *
 * The history of a large program does not fit the inner caches, and a lookup takes as long as the memory that it
 * touches. So a table of the first bound of each block is searched first, and then one block. Most addresses hold one
 * code all the time, so their leaf has the answer.
 */
#include "symbol/jit_history.h"

#include "base/search.h"

enum { BLOCK = 16 }; /* bounds; two cache lines */

struct jit_node {
    uint32_t end;   /* end of the node's part of node_changes; the part begins where the previous node's part ends */
    uint32_t above; /* the nearest ancestor that has changes, or 0 for none */
};

struct jit_leaf {
    uint64_t time; /* of its only change */
    uint32_t code;
    uint32_t changes; /* number of changes that cover the leaf: 0, 1 or more. If more, the tree must be searched. */
};

bool jit_history_add(struct jit_history *history, const struct jit_change *change)
{
    return change->start >= change->end || array_push(&history->changes, *change);
}

/* ---- sorting ---- */

static bool sort_changes(struct jit_history *history)
{
    size_t count = history->changes.length;
    struct numbered *order = malloc((count + 1) * sizeof(*order));
    struct jit_change *sorted = malloc((count + 1) * sizeof(*sorted));
    if (order && sorted) {
        for (size_t i = 0; i < count; i++)
            order[i] = (struct numbered){history->changes.data[i].time, i};
        sort_numbered(order, count);
        for (size_t i = 0; i < count; i++)
            sorted[i] = history->changes.data[order[i].index];
        if (count)
            memcpy(history->changes.data, sorted, count * sizeof(*sorted));
    }
    bool ok = order && sorted;
    free(order);
    free(sorted);
    return ok;
}

static bool collect_bounds(struct jit_history *history)
{
    for (size_t i = 0; i < history->changes.length; i++)
        if (!array_push(&history->bounds, history->changes.data[i].start) ||
            !array_push(&history->bounds, history->changes.data[i].end))
            return false;
    history->bounds.length = sort_distinct(history->bounds.data, history->bounds.length);
    for (size_t i = 0; i < history->bounds.length; i += BLOCK)
        if (!array_push(&history->blocks, history->bounds.data[i]))
            return false;
    return true;
}

/* ---- the tree ---- */

static size_t count_leaves(const struct jit_history *history)
{
    return history->bounds.length ? history->bounds.length - 1 : 0;
}

/* Finds the nodes that cover the leaves [first, last). Returns the number of nodes, at most 2 per level. */
enum { COVER_MAX = 128 };

static size_t find_covering_nodes(size_t leaves, size_t first, size_t last, size_t nodes[COVER_MAX])
{
    size_t count = 0;
    for (first += leaves, last += leaves; first < last; first /= 2, last /= 2) {
        if (first & 1)
            nodes[count++] = first++;
        if (last & 1)
            nodes[count++] = --last;
    }
    return count;
}

static size_t find_change_nodes(const struct jit_history *history, size_t index, size_t nodes[COVER_MAX])
{
    const struct jit_change *change = &history->changes.data[index];
    size_t first = search_first_at_or_after(history->bounds.data, history->bounds.length, change->start);
    size_t last = search_first_at_or_after(history->bounds.data, history->bounds.length, change->end);
    return find_covering_nodes(count_leaves(history), first, last, nodes);
}

static size_t find_first_change(const struct jit_history *history, size_t node)
{
    return node ? history->nodes[node - 1].end : 0;
}

static void link_nodes(struct jit_history *history, size_t node_count)
{
    for (size_t n = 2; n < node_count; n++) { /* parents come first */
        size_t parent = n / 2;
        bool has_changes = history->nodes[parent].end > find_first_change(history, parent);
        history->nodes[n].above = has_changes ? (uint32_t)parent : history->nodes[parent].above;
    }
}

static bool build_leaves(struct jit_history *history)
{
    size_t count = count_leaves(history);
    history->leaves = calloc(count + 1, sizeof(*history->leaves));
    for (size_t i = 0; history->leaves && i < count; i++) {
        struct jit_leaf *leaf = &history->leaves[i];
        for (size_t node = count + i; node > 0 && leaf->changes < 2; node = history->nodes[node].above) {
            size_t first = find_first_change(history, node), here = history->nodes[node].end - first;
            if (here) {
                const struct jit_change *change = &history->changes.data[history->node_changes[first]];
                leaf->time = change->time;
                leaf->code = change->code;
                leaf->changes += here < 2 ? 1 : 2;
            }
        }
    }
    return history->leaves != NULL;
}

static bool build_tree(struct jit_history *history)
{
    size_t nodes[COVER_MAX], total = 0, node_count = 2 * count_leaves(history);
    history->nodes = node_count < UINT32_MAX ? calloc(node_count + 1, sizeof(*history->nodes)) : NULL;
    if (!history->nodes)
        return false;
    for (size_t i = 0; i < history->changes.length; i++)
        for (size_t n = find_change_nodes(history, i, nodes); n-- > 0; total++)
            history->nodes[nodes[n]].end++;
    if (total >= UINT32_MAX || !(history->node_changes = malloc((total + 1) * sizeof(*history->node_changes))))
        return false;
    uint32_t end = 0;
    for (size_t n = 0; n < node_count; n++) { /* start of each node's part; filling advances it to the end */
        uint32_t count = history->nodes[n].end;
        history->nodes[n].end = end;
        end += count;
    }
    for (size_t i = 0; i < history->changes.length; i++)
        for (size_t n = find_change_nodes(history, i, nodes); n-- > 0;)
            history->node_changes[history->nodes[nodes[n]].end++] = (uint32_t)i;
    link_nodes(history, node_count);
    return true;
}

int jit_history_finish(struct jit_history *history, struct error *err)
{
    if (!sort_changes(history) || !collect_bounds(history) || !build_tree(history) || !build_leaves(history))
        return error_no_memory(err);
    return 0;
}

/* ---- lookup ---- */

size_t jit_history_count_changes(const struct jit_history *history, uint64_t time)
{
    return search_count(history->changes.data, history->changes.length, element->time <= time);
}

/* Returns the index of the last of `count` ascending values that is not above `wanted`. The first value must not be
 * above `wanted`. No branch depends on the values, because the processor would mispredict every second branch for
 * random addresses. */
static size_t find_last_at_or_before(const uint64_t *values, size_t count, uint64_t wanted)
{
    size_t first = 0;
    while (count > 1) {
        size_t half = count / 2;
        first += half & -(size_t)(values[first + half] <= wanted);
        count -= half;
    }
    return first;
}

/* Returns the leaf of an address between the first and the last bound. */
static size_t find_leaf(const struct jit_history *history, uint64_t address)
{
    size_t first = BLOCK * find_last_at_or_before(history->blocks.data, history->blocks.length, address);
    size_t rest = history->bounds.length - first;
    return first + find_last_at_or_before(history->bounds.data + first, rest < BLOCK ? rest : BLOCK, address);
}

/* Finds the node's last change up to the time. Returns the index of the change plus 1, or 0 without a change. */
static size_t find_last_change(const struct jit_history *history, size_t node, uint64_t time)
{
    size_t first = find_first_change(history, node), low = first, high = history->nodes[node].end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->changes.data[history->node_changes[middle]].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first ? (size_t)history->node_changes[low - 1] + 1 : 0;
}

uint32_t jit_history_find(const struct jit_history *history, uint64_t address, uint64_t time)
{
    size_t leaves = count_leaves(history);
    if (!leaves || address < history->bounds.data[0] || address >= history->bounds.data[leaves])
        return JIT_HISTORY_NONE;
    size_t leaf = find_leaf(history, address), last = 0;
    const struct jit_leaf *known = &history->leaves[leaf];
    if (known->changes < 2)
        return known->changes && known->time <= time ? known->code : JIT_HISTORY_NONE;
    for (size_t node = leaves + leaf; node > 0; node = history->nodes[node].above) {
        size_t here = find_last_change(history, node, time);
        if (here > last)
            last = here;
    }
    return last ? history->changes.data[last - 1].code : JIT_HISTORY_NONE;
}

void jit_history_destroy(struct jit_history *history)
{
    array_free(&history->changes);
    array_free(&history->bounds);
    array_free(&history->blocks);
    free(history->leaves);
    free(history->nodes);
    free(history->node_changes);
    *history = (struct jit_history){0};
}
