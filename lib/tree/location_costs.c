/*
 * The walk visits stacks depth first and counts how often each location is on the path from the root. A stack adds the
 * weight of all samples below it to its location, unless the location is already on the path, so a recursive function
 * counts once. The path of an inverted row begins at the leaf, so its stacks form no subtree; for each stack, the code
 * compares the frames with the path.
 */
#include "tree/location_costs.h"

#define NO_PLACE PROFILE_NONE

/* ---- numbers of locations ---- */

uint32_t number_location(struct location_numbers *numbers, uint64_t value)
{
    uint32_t *number = hash_at(&numbers->index, value);
    if (!number)
        return PROFILE_NONE;
    if (*number == HASH_MISSING) {
        *number = (uint32_t)numbers->values.length;
        if (!array_push(&numbers->values, value))
            return PROFILE_NONE;
    }
    return *number;
}

void location_numbers_destroy(struct location_numbers *numbers)
{
    hash_destroy(&numbers->index);
    array_free(&numbers->values);
}

/* ---- from the root ---- */

struct stack_walk {
    uint32_t *first_child, *next_sibling; /* per stack, or PROFILE_NONE for none; the last element is the first root */
    double *weight;                       /* weight of the samples that end in the stack or below */
    uint8_t *is_selected;                 /* per stack */
    uint32_t *on_the_way; /* for each location, number of frames on the current path; the last element is for
                           * all locations */
};

/* The call node with this path, root first, or NODE_NONE. */
static uint32_t find_path_node(const struct call_nodes *nodes, const struct tree_path *path)
{
    uint32_t node = NODE_NONE;
    for (size_t i = 0; i < path->length; i++) {
        uint32_t c = call_nodes_get_first_child(nodes, node), last = call_nodes_get_children_end(nodes, node);
        while (c < last && nodes->func[c] != path->funcs[i])
            c = nodes->end[c];
        if (c >= last)
            return NODE_NONE;
        node = c;
    }
    return node;
}

static void select_path(uint8_t *is_selected, const struct counted_stacks *counted, const struct tree_path *path)
{
    uint32_t node = find_path_node(counted->nodes, path);
    for (size_t stack = 0; node != NODE_NONE && stack < counted->stacks->length; stack++) {
        uint32_t at = counted->nodes->of_stack[stack];
        is_selected[stack] = at != NODE_NONE && at >= node && at < counted->nodes->end[node];
    }
}

static void select_func(uint8_t *is_selected, const struct counted_stacks *counted, uint32_t func)
{
    const struct stack_view *stacks = counted->stacks;
    for (size_t stack = 0; stack < stacks->length; stack++) {
        uint32_t prefix = stacks->prefix[stack];
        if (counted->nodes->of_stack[stack] != NODE_NONE)
            is_selected[stack] =
                func == PROFILE_NONE || stacks->func[stack] == func || (prefix != PROFILE_NONE && is_selected[prefix]);
    }
}

/* Returns the location of a stack, or PROFILE_NONE if the stack does not count. */
static uint32_t get_stack_location(const struct stack_walk *walk, const struct counted_stacks *counted,
                                   const struct location_request *request, uint32_t stack)
{
    uint32_t prefix = counted->stacks->prefix[stack];
    bool counts =
        walk->is_selected[stack] && (!request->are_calls || (prefix != PROFILE_NONE && walk->is_selected[prefix]));
    return counts ? request->of_stack[stack] : NO_PLACE;
}

/* Links only stacks with a location, and their callers. */
static void link_stacks(struct stack_walk *walk, const struct counted_stacks *counted,
                        const struct location_request *request)
{
    size_t length = counted->stacks->length;
    for (size_t stack = 0; stack <= length; stack++)
        walk->first_child[stack] = PROFILE_NONE;
    for (size_t stack = length; stack-- > 0;) {
        bool has_place = get_stack_location(walk, counted, request, (uint32_t)stack) != NO_PLACE;
        if (!has_place && walk->first_child[stack] == PROFILE_NONE)
            continue;
        uint32_t prefix = counted->stacks->prefix[stack];
        size_t parent = prefix == PROFILE_NONE ? length : prefix;
        walk->next_sibling[stack] = walk->first_child[parent];
        walk->first_child[parent] = (uint32_t)stack;
    }
}

static void weigh_stacks(struct stack_walk *walk, struct location_costs *costs, const struct counted_stacks *counted,
                         const struct location_request *request)
{
    for (uint32_t stack = 0; stack < counted->stacks->length; stack++) {
        double weight = counted_stacks_get_weight(counted, stack);
        if (weight == 0)
            continue;
        uint32_t leaf = stack_view_get_leaf(counted->stacks, stack), place = request->of_stack[leaf];
        walk->weight[leaf] += weight;
        if (place != NO_PLACE && walk->is_selected[leaf]) {
            costs->self[place] += weight;
            costs->any_self += weight;
        }
    }
    for (size_t stack = counted->stacks->length; stack-- > 0;) {
        uint32_t prefix = counted->stacks->prefix[stack];
        if (prefix != PROFILE_NONE && counted->nodes->of_stack[stack] != NODE_NONE)
            walk->weight[prefix] += walk->weight[stack];
    }
}

static void walk_stacks(struct stack_walk *walk, struct location_costs *costs, const struct counted_stacks *counted,
                        const struct location_request *request)
{
    uint32_t *any = &walk->on_the_way[request->count];
    for (uint32_t at = walk->first_child[counted->stacks->length]; at != PROFILE_NONE;) {
        uint32_t place = get_stack_location(walk, counted, request, at);
        if (place != NO_PLACE) {
            costs->total[place] += walk->on_the_way[place]++ == 0 ? walk->weight[at] : 0;
            costs->any_total += (*any)++ == 0 ? walk->weight[at] : 0;
        }
        if (walk->first_child[at] != PROFILE_NONE) {
            at = walk->first_child[at];
            continue;
        }
        for (bool is_left = true; is_left && at != PROFILE_NONE;) {
            place = get_stack_location(walk, counted, request, at);
            if (place != NO_PLACE) {
                walk->on_the_way[place]--;
                --*any;
            }
            is_left = walk->next_sibling[at] == PROFILE_NONE;
            at = is_left ? counted->stacks->prefix[at] : walk->next_sibling[at];
        }
    }
}

static bool walk_init(struct stack_walk *walk, size_t stacks, uint32_t places)
{
    walk->first_child = malloc((stacks + 1) * sizeof(*walk->first_child));
    walk->next_sibling = malloc((stacks + 1) * sizeof(*walk->next_sibling));
    walk->weight = calloc(stacks + 1, sizeof(*walk->weight));
    walk->is_selected = calloc(stacks + 1, sizeof(*walk->is_selected));
    walk->on_the_way = calloc((size_t)places + 1, sizeof(*walk->on_the_way));
    return walk->first_child && walk->next_sibling && walk->weight && walk->is_selected && walk->on_the_way;
}

static void walk_destroy(struct stack_walk *walk)
{
    free(walk->first_child);
    free(walk->next_sibling);
    free(walk->weight);
    free(walk->is_selected);
    free(walk->on_the_way);
}

static int sum_from_root(struct location_costs *costs, const struct counted_stacks *counted,
                         const struct location_request *request, struct error *err)
{
    struct stack_walk walk = {0};
    bool enough = walk_init(&walk, counted->stacks->length, request->count);
    if (enough) {
        if (request->selection.path)
            select_path(walk.is_selected, counted, request->selection.path);
        else
            select_func(walk.is_selected, counted, request->selection.func);
        link_stacks(&walk, counted, request);
        weigh_stacks(&walk, costs, counted, request);
        walk_stacks(&walk, costs, counted, request);
    }
    walk_destroy(&walk);
    return enough ? 0 : error_no_memory(err);
}

/* ---- from the leaf ---- */

/* `last_of_place[p]` is 1 + the last stack that counted location p. */
static void add_inverted(struct location_costs *costs, const struct counted_stacks *counted,
                         const struct location_request *request, uint32_t stack, uint32_t *last_of_place)
{
    const struct tree_path *path = request->selection.path;
    double weight = counted_stacks_get_weight(counted, stack);
    uint32_t leaf = stack_view_get_leaf(counted->stacks, stack);
    if (weight == 0 || path->length == 0 ||
        stack_view_find_above(counted->stacks, leaf, path->funcs, path->length) == PROFILE_NONE)
        return;
    bool any = false;
    for (size_t i = 0, length = path->length - request->are_calls; i < length; i++) {
        uint32_t place = request->of_stack[leaf];
        leaf = counted->stacks->prefix[leaf];
        if (place == NO_PLACE)
            continue;
        if (i == 0) {
            costs->self[place] += weight;
            costs->any_self += weight;
        }
        if (last_of_place[place] != stack + 1)
            costs->total[place] += weight;
        last_of_place[place] = stack + 1;
        any = true;
    }
    costs->any_total += any ? weight : 0;
}

static int sum_from_leaf(struct location_costs *costs, const struct counted_stacks *counted,
                         const struct location_request *request, struct error *err)
{
    uint32_t *last_of_place = calloc((size_t)request->count + 1, sizeof(*last_of_place));
    if (!last_of_place)
        return error_no_memory(err);
    for (uint32_t stack = 0; stack < counted->stacks->length; stack++)
        add_inverted(costs, counted, request, stack, last_of_place);
    free(last_of_place);
    return 0;
}

/* ---- both ---- */

int location_costs_sum(struct location_costs *costs, const struct counted_stacks *counted,
                       const struct location_request *request, struct error *err)
{
    *costs = (struct location_costs){.total = calloc((size_t)request->count + 1, sizeof(double)),
                                     .self = calloc((size_t)request->count + 1, sizeof(double))};
    if (!costs->total || !costs->self)
        return error_no_memory(err);
    bool is_inverted = request->selection.path && request->selection.path->inverted;
    return (is_inverted ? sum_from_leaf : sum_from_root)(costs, counted, request, err);
}

void location_costs_destroy(struct location_costs *costs)
{
    free(costs->total);
    free(costs->self);
    *costs = (struct location_costs){0};
}
