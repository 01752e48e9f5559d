/*
 * The Firefox Profiler's scheme (its issue 337), restricted to call nodes with self time: sorted by func, each root is
 * a range of call nodes. Opening a node reads the callers one level up: call nodes without a caller go first, the
 * others are grouped by the caller's func, and each group is the range of one child. Reordering inside a range keeps
 * the ranges of all ancestors valid, so nodes can be opened in any sequence.
 */
#include "tree/inverted.h"

static bool collect_self_nodes(struct inverted *inverted)
{
    size_t count = 0;
    for (size_t node = 0; node < inverted->nodes->length; node++)
        count += timings_has_self(inverted->timings, node);
    inverted->order = malloc((count + 1) * sizeof(*inverted->order));
    inverted->deep = calloc(count + 1, sizeof(*inverted->deep));
    if (!inverted->order || !inverted->deep)
        return false;
    for (uint32_t node = 0; node < inverted->nodes->length; node++)
        if (timings_has_self(inverted->timings, node))
            inverted->deep[inverted->length++] = node;
    return true;
}

static void make_root(struct inverted *inverted, uint32_t func, uint32_t first, uint32_t last)
{
    inverted->tree.data[inverted->tree.length++] =
        (struct inverted_node){.func = func, .parent = NODE_NONE, .first = first, .last = last};
}

/* Fills total, category and has_children of a node from its range. */
static void sum_node(const struct inverted *inverted, struct inverted_node *node)
{
    const struct call_nodes *nodes = inverted->nodes;
    node->category = nodes->category[inverted->deep[node->first]];
    for (uint32_t i = node->first; i < node->last; i++) {
        uint32_t deep = inverted->deep[i];
        node->total += inverted->timings->self[inverted->order[i]];
        for (int side = 0; inverted->timings->sides && side < PROFILE_SIDES; side++)
            node->side_total[side] += inverted->timings->sides[side].self[inverted->order[i]];
        node->has_children |= nodes->prefix[deep] != NODE_NONE;
        if (nodes->category[deep] != node->category)
            node->category = (uint16_t)inverted->default_category;
    }
    if (inverted->timings->sides)
        node->total = node->side_total[SIDE_NEW] - node->side_total[SIDE_BASE];
}

/* Sorts the self nodes by func with a counting sort. `deep` has the nodes in node order. */
static bool make_roots(struct inverted *inverted)
{
    size_t funcs = inverted->nodes->func_count;
    uint32_t *next = calloc(funcs + 1, sizeof(*next));
    if (!next)
        return false;
    for (size_t i = 0; i < inverted->length; i++)
        next[inverted->nodes->func[inverted->deep[i]]]++;
    size_t roots = 0;
    for (size_t func = 0; func < funcs; func++)
        roots += next[func] != 0;
    if (!array_reserve(&inverted->tree, roots)) {
        free(next);
        return false;
    }
    uint32_t first = 0;
    for (uint32_t func = 0; func < funcs; func++) {
        uint32_t count = next[func];
        next[func] = first;
        if (count)
            make_root(inverted, func, first, first + count);
        first += count;
    }
    for (size_t i = 0; i < inverted->length; i++)
        inverted->order[next[inverted->nodes->func[inverted->deep[i]]]++] = inverted->deep[i];
    memcpy(inverted->deep, inverted->order, inverted->length * sizeof(*inverted->deep));
    free(next);
    inverted->root_count = (uint32_t)roots;
    for (size_t root = 0; root < roots; root++)
        sum_node(inverted, &inverted->tree.data[root]);
    return true;
}

int inverted_init(struct inverted *inverted, const struct call_nodes *nodes, const struct timings *timings,
                  uint32_t default_category, struct error *err)
{
    *inverted = (struct inverted){.nodes = nodes, .timings = timings, .default_category = default_category};
    size_t funcs = nodes->func_count;
    inverted->group_of_func = malloc((funcs + 1) * sizeof(*inverted->group_of_func));
    if (inverted->group_of_func)
        memset(inverted->group_of_func, 0xff, (funcs + 1) * sizeof(*inverted->group_of_func));
    if (!inverted->group_of_func || !collect_self_nodes(inverted) || !make_roots(inverted)) {
        inverted_destroy(inverted);
        return error_no_memory(err);
    }
    return 0;
}

static uint32_t get_caller_func(const struct inverted *inverted, uint32_t position)
{
    uint32_t caller = inverted->nodes->prefix[inverted->deep[position]];
    return caller == NODE_NONE ? NODE_NONE : inverted->nodes->func[caller];
}

/* Adds one child per func that calls into the range; until lay_out_children(), `last` holds the child's count of call
 * nodes. Returns the number of call nodes without a caller, or -1 if memory ran out. */
static int64_t count_callers(struct inverted *inverted, uint32_t first, uint32_t last, uint32_t parent)
{
    uint32_t depth = inverted->tree.data[parent].depth + 1;
    uint32_t ended = 0;
    for (uint32_t i = first; i < last; i++) {
        uint32_t func = get_caller_func(inverted, i);
        if (func == NODE_NONE) {
            ended++;
            continue;
        }
        if (inverted->group_of_func[func] == NODE_NONE) {
            struct inverted_node child = {.func = func, .parent = parent, .depth = depth};
            if (!array_push(&inverted->tree, child))
                return -1;
            inverted->group_of_func[func] = (uint32_t)inverted->tree.length - 1;
        }
        inverted->tree.data[inverted->group_of_func[func]].last++;
    }
    return ended;
}

/* Turns the numbers of call nodes into ranges. Sets `last` of each child to its `first`, and adds one for each call
 * node that the child gets. */
static void lay_out_children(struct inverted *inverted, uint32_t first_child, uint32_t first_position)
{
    for (size_t i = first_child; i < inverted->tree.length; i++) {
        struct inverted_node *child = &inverted->tree.data[i];
        uint32_t count = child->last;
        child->first = child->last = first_position;
        first_position += count;
    }
}

static void reorder_range(struct inverted *inverted, uint32_t first, uint32_t last, uint32_t *scratch)
{
    size_t count = last - first;
    uint32_t *order = scratch, *deep = scratch + count, ended = first;
    memcpy(order, inverted->order + first, count * sizeof(*order));
    memcpy(deep, inverted->deep + first, count * sizeof(*deep));
    for (size_t i = 0; i < count; i++) {
        uint32_t caller = inverted->nodes->prefix[deep[i]];
        if (caller == NODE_NONE) {
            inverted->order[ended] = order[i];
            inverted->deep[ended++] = deep[i];
        } else {
            uint32_t child = inverted->group_of_func[inverted->nodes->func[caller]];
            uint32_t at = inverted->tree.data[child].last++;
            inverted->order[at] = order[i];
            inverted->deep[at] = caller;
        }
    }
}

int inverted_expand(struct inverted *inverted, uint32_t node, struct error *err)
{
    if (inverted->tree.data[node].expanded)
        return 0;
    uint32_t first = inverted->tree.data[node].first, last = inverted->tree.data[node].last;
    uint32_t first_child = (uint32_t)inverted->tree.length;
    uint32_t *scratch = malloc(((size_t)(last - first) * 2 + 1) * sizeof(*scratch));
    int64_t ended = scratch ? count_callers(inverted, first, last, node) : -1;
    if (ended >= 0) {
        lay_out_children(inverted, first_child, first + (uint32_t)ended);
        reorder_range(inverted, first, last, scratch);
    }
    for (size_t i = first_child; i < inverted->tree.length; i++) {
        inverted->group_of_func[inverted->tree.data[i].func] = NODE_NONE;
        if (ended >= 0)
            sum_node(inverted, &inverted->tree.data[i]);
    }
    free(scratch);
    if (ended < 0) {
        inverted->tree.length = first_child;
        return error_no_memory(err);
    }
    inverted->tree.data[node].first_child = first_child;
    inverted->tree.data[node].child_count = (uint32_t)inverted->tree.length - first_child;
    inverted->tree.data[node].expanded = true;
    return 0;
}

void inverted_destroy(struct inverted *inverted)
{
    free(inverted->order);
    free(inverted->deep);
    free(inverted->group_of_func);
    array_free(&inverted->tree);
    *inverted = (struct inverted){0};
}
