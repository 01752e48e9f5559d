/*
 * A segment tree (de Berg et al., Computational Geometry, 10.3) over the address ranges between all starts and ends. A
 * change is stored at the few nodes that together cover its range, ordered by time at each node. An address lies below
 * one node per level, so the answer is the latest change at any of these nodes. Code that later code overwrites in part
 * stays valid in the other part.
 *
 * The tree is laid out like a heap, without pointers: leaf i is at node count + i, the parent of node n is n / 2.
 * Compilers rarely put code across the bounds of other code, so nearly every change is stored at one or two nodes.
 */
#include "symbol/jit_history.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

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
    return true;
}

/* ---- the tree ---- */

static size_t leaf_count(const struct jit_history *history)
{
    return history->bounds.length ? history->bounds.length - 1 : 0;
}

/* Finds the nodes that cover the leaves [first, last). Returns their count, at most 2 per level. */
enum { COVER_MAX = 128 };

static size_t cover(size_t leaves, size_t first, size_t last, size_t nodes[COVER_MAX])
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

static size_t cover_change(const struct jit_history *history, size_t index, size_t nodes[COVER_MAX])
{
    const struct jit_change *change = &history->changes.data[index];
    size_t first = first_at_or_after(history->bounds.data, history->bounds.length, change->start);
    size_t last = first_at_or_after(history->bounds.data, history->bounds.length, change->end);
    return cover(leaf_count(history), first, last, nodes);
}

static bool build_tree(struct jit_history *history)
{
    size_t nodes[COVER_MAX], total = 0, node_count = 2 * leaf_count(history);
    history->node_ends = calloc(node_count + 1, sizeof(*history->node_ends));
    if (!history->node_ends)
        return false;
    for (size_t i = 0; i < history->changes.length; i++)
        for (size_t n = cover_change(history, i, nodes); n-- > 0; total++)
            history->node_ends[nodes[n]]++;
    if (total >= UINT32_MAX || !(history->node_changes = malloc((total + 1) * sizeof(*history->node_changes))))
        return false;
    uint32_t end = 0;
    for (size_t n = 0; n < node_count; n++) { /* start of each node's part; filling advances it to the end */
        uint32_t count = history->node_ends[n];
        history->node_ends[n] = end;
        end += count;
    }
    for (size_t i = 0; i < history->changes.length; i++)
        for (size_t n = cover_change(history, i, nodes); n-- > 0;)
            history->node_changes[history->node_ends[nodes[n]]++] = (uint32_t)i;
    return true;
}

int jit_history_finish(struct jit_history *history, struct error *err)
{
    if (!sort_changes(history) || !collect_bounds(history) || !build_tree(history))
        return error_no_memory(err);
    return 0;
}

/* ---- lookup ---- */

size_t jit_history_count(const struct jit_history *history, uint64_t time)
{
    return search_up_to(history->changes.data, history->changes.length, time, time);
}

static bool is_among_first(const void *change, const void *count)
{
    return *(const uint32_t *)change < *(const size_t *)count;
}

/* Finds the node's last change among the first `count` changes of all. Returns its index plus 1, or 0. */
static size_t last_at_node(const struct jit_history *history, size_t node, size_t count)
{
    size_t first = node ? history->node_ends[node - 1] : 0;
    const uint32_t *changes = history->node_changes + first;
    size_t made =
        search_count_before(changes, history->node_ends[node] - first, sizeof(*changes), is_among_first, &count);
    return made ? (size_t)changes[made - 1] + 1 : 0;
}

uint32_t jit_history_find(const struct jit_history *history, uint64_t address, uint64_t time)
{
    size_t leaves = leaf_count(history);
    if (!leaves || address < history->bounds.data[0] || address >= history->bounds.data[leaves])
        return JIT_HISTORY_NONE;
    size_t leaf = first_at_or_after(history->bounds.data, history->bounds.length, address);
    if (history->bounds.data[leaf] != address)
        leaf--;
    size_t count = jit_history_count(history, time), last = 0;
    for (size_t node = leaves + leaf; node > 0; node /= 2) {
        size_t here = last_at_node(history, node, count);
        if (here > last)
            last = here;
    }
    return last ? history->changes.data[last - 1].code : JIT_HISTORY_NONE;
}

void jit_history_destroy(struct jit_history *history)
{
    array_free(&history->changes);
    array_free(&history->bounds);
    free(history->node_ends);
    free(history->node_changes);
    *history = (struct jit_history){0};
}
