#include "tree/butterfly.h"

enum { FOCUS = 0 };

/* ---- the focus ---- */

static bool is_focused_node(const struct butterfly *butterfly, const struct profile *profile, uint32_t node)
{
    uint32_t func = butterfly->nodes->func[node], index = butterfly->focus.index;
    switch (butterfly->focus.kind) {
    case BUTTERFLY_FUNCTION:
        return func == index;
    case BUTTERFLY_LIBRARY:
        return index < profile->resources.length && get_func_resource(profile, func) == index;
    case BUTTERFLY_CATEGORY:
        return butterfly->nodes->category[node] == index;
    }
    return false;
}

static double get_node_total(const struct butterfly *butterfly, uint32_t node)
{
    return butterfly->own_total ? butterfly->own_total[node] : butterfly->timings->total[node];
}

static double get_side_total(const struct butterfly *butterfly, uint32_t node, int side)
{
    return butterfly->own_total ? butterfly->own_side_total[side][node] : butterfly->timings->sides[side].total[node];
}

static bool has_total(const struct butterfly *butterfly, uint32_t node)
{
    if (butterfly->timings->sides)
        return get_side_total(butterfly, node, SIDE_BASE) != 0 || get_side_total(butterfly, node, SIDE_NEW) != 0;
    return get_node_total(butterfly, node) != 0;
}

static void add_self(struct butterfly *butterfly, uint32_t node)
{
    butterfly->self += butterfly->timings->self[node];
    for (int side = 0; butterfly->timings->sides && side < PROFILE_SIDES; side++)
        butterfly->side_figures[side].self += butterfly->timings->sides[side].self[node];
}

/* Omits callers whose weights cancel out, because a tree shows nodes by their own weight. */
static bool add_top(struct butterfly *butterfly, uint32_t node)
{
    const struct butterfly_member member = {node, node};
    butterfly->total += get_node_total(butterfly, node);
    for (int side = 0; butterfly->timings->sides && side < PROFILE_SIDES; side++)
        butterfly->side_figures[side].total += get_side_total(butterfly, node, side);
    return array_push(&butterfly->sides[BUTTERFLY_CALLEES].members, member) &&
           (!has_total(butterfly, node) || array_push(&butterfly->sides[BUTTERFLY_CALLERS].members, member));
}

static bool add_outermost(struct butterfly *butterfly, const struct profile *profile)
{
    uint32_t outermost_end = 0;
    for (uint32_t node = 0; node < butterfly->nodes->length; node++) {
        if (!butterfly->timings->alive[node] || !is_focused_node(butterfly, profile, node))
            continue;
        add_self(butterfly, node);
        if (node < outermost_end)
            continue;
        outermost_end = butterfly->nodes->end[node];
        if (!add_top(butterfly, node))
            return false;
    }
    return true;
}

static uint32_t find_entry(const struct butterfly *butterfly, const struct profile *profile, uint32_t node)
{
    uint32_t caller = butterfly->nodes->prefix[node];
    bool was_inside = caller != NODE_NONE && is_focused_node(butterfly, profile, caller);
    if (is_focused_node(butterfly, profile, node) && !was_inside)
        return node;
    return caller == NODE_NONE ? NODE_NONE : butterfly->entry[caller];
}

/* Sums the weight of one side of a comparison at and below each node, for the entry of that node. */
static bool sum_own_side(struct butterfly *butterfly, int side)
{
    size_t length = butterfly->nodes->length;
    double *total = butterfly->own_side_total[side] = calloc(length + 1, sizeof(*total));
    if (!total)
        return false;
    if (length)
        memcpy(total, butterfly->timings->sides[side].self, length * sizeof(*total));
    for (uint32_t node = (uint32_t)length; node-- > 0;) {
        uint32_t caller = butterfly->nodes->prefix[node];
        if (caller != NODE_NONE && butterfly->entry[caller] == butterfly->entry[node])
            total[caller] += total[node];
    }
    return true;
}

static bool find_entries(struct butterfly *butterfly, const struct profile *profile)
{
    size_t length = butterfly->nodes->length;
    const double *self = butterfly->timings->self;
    butterfly->entry = calloc(length + 1, sizeof(*butterfly->entry));
    butterfly->own_total = calloc(length + 1, sizeof(*butterfly->own_total));
    butterfly->own_alive = calloc(length + 1, 1);
    if (!butterfly->entry || !butterfly->own_total || !butterfly->own_alive)
        return false;
    for (uint32_t node = 0; node < length; node++) {
        butterfly->entry[node] = find_entry(butterfly, profile, node);
        butterfly->own_total[node] = self[node];
        butterfly->own_alive[node] = timings_has_self(butterfly->timings, node);
    }
    for (uint32_t node = (uint32_t)length; node-- > 0;) {
        uint32_t caller = butterfly->nodes->prefix[node];
        if (caller == NODE_NONE || butterfly->entry[caller] != butterfly->entry[node])
            continue;
        butterfly->own_total[caller] += butterfly->own_total[node];
        butterfly->own_alive[caller] |= butterfly->own_alive[node];
    }
    bool enough = true;
    for (int side = 0; enough && butterfly->timings->sides && side < PROFILE_SIDES; side++)
        enough = sum_own_side(butterfly, side);
    return enough;
}

static bool add_entries(struct butterfly *butterfly, const struct profile *profile)
{
    if (!find_entries(butterfly, profile))
        return false;
    for (uint32_t node = 0; node < butterfly->nodes->length; node++) {
        if (timings_has_self(butterfly->timings, node) && is_focused_node(butterfly, profile, node))
            add_self(butterfly, node);
        if (butterfly->entry[node] == node && butterfly->own_alive[node] && !add_top(butterfly, node))
            return false;
    }
    return true;
}

static bool find_focus(struct butterfly *butterfly, const struct profile *profile)
{
    bool enough = butterfly->focus.kind == BUTTERFLY_FUNCTION ? add_outermost(butterfly, profile)
                                                              : add_entries(butterfly, profile);
    for (int side = 0; enough && side < 2; side++) {
        struct butterfly_tree *tree = &butterfly->sides[side];
        struct butterfly_node focus = {.func = butterfly->focus.index,
                                       .depth = UINT32_MAX, /* so that children of the focus have depth 0 */
                                       .last = (uint32_t)tree->members.length};
        enough = array_push(&tree->nodes, focus);
    }
    return enough;
}

int butterfly_init(struct butterfly *butterfly, const struct profile *profile, const struct call_nodes *nodes,
                   const struct timings *timings, uint32_t default_category, struct butterfly_focus focus,
                   struct error *err)
{
    *butterfly =
        (struct butterfly){.nodes = nodes, .timings = timings, .default_category = default_category, .focus = focus};
    size_t groups = nodes->func_count + (size_t)1;
    butterfly->group_of_func = malloc(groups * sizeof(*butterfly->group_of_func));
    if (butterfly->group_of_func)
        memset(butterfly->group_of_func, 0xff, groups * sizeof(*butterfly->group_of_func));
    if (!butterfly->group_of_func || !find_focus(butterfly, profile)) {
        butterfly_destroy(butterfly);
        return error_no_memory(err);
    }
    return 0;
}

void butterfly_destroy(struct butterfly *butterfly)
{
    for (int side = 0; side < 2; side++) {
        array_free(&butterfly->sides[side].nodes);
        array_free(&butterfly->sides[side].members);
    }
    array_free(&butterfly->scratch);
    free(butterfly->entry);
    free(butterfly->own_total);
    for (int side = 0; side < PROFILE_SIDES; side++)
        free(butterfly->own_side_total[side]);
    free(butterfly->own_alive);
    free(butterfly->group_of_func);
    *butterfly = (struct butterfly){0};
}

/* ---- opening a node ---- */

/* Whether a call node is below its caller in this butterfly. */
static bool is_callee(const struct butterfly *butterfly, uint32_t node)
{
    if (!butterfly->entry)
        return butterfly->timings->alive[node];
    return butterfly->own_alive[node] && butterfly->entry[node] == butterfly->entry[butterfly->nodes->prefix[node]];
}

static bool has_callee(const struct butterfly *butterfly, uint32_t node)
{
    const struct call_nodes *nodes = butterfly->nodes;
    for (uint32_t c = call_nodes_get_first_child(nodes, node); c < call_nodes_get_children_end(nodes, node);
         c = nodes->end[c])
        if (is_callee(butterfly, c))
            return true;
    return false;
}

static bool collect_callees(struct butterfly *butterfly, const struct butterfly_member *member)
{
    const struct call_nodes *nodes = butterfly->nodes;
    uint32_t last = call_nodes_get_children_end(nodes, member->node);
    for (uint32_t c = call_nodes_get_first_child(nodes, member->node); c < last; c = nodes->end[c])
        if (is_callee(butterfly, c) && !array_push(&butterfly->scratch, (struct butterfly_member){member->top, c}))
            return false;
    return true;
}

static bool collect_caller(struct butterfly *butterfly, const struct butterfly_member *member)
{
    uint32_t caller = butterfly->nodes->prefix[member->node];
    return caller == NODE_NONE || array_push(&butterfly->scratch, (struct butterfly_member){member->top, caller});
}

/* Collects the callers or the callees of the call nodes of a node. Below a focused library or category, its entry
 * functions are the first callees. */
static bool collect_next(struct butterfly *butterfly, enum butterfly_side side, uint32_t node)
{
    const struct butterfly_tree *tree = &butterfly->sides[side];
    bool are_entries = node == FOCUS && side == BUTTERFLY_CALLEES && butterfly->focus.kind != BUTTERFLY_FUNCTION;
    butterfly->scratch.length = 0;
    for (uint32_t i = tree->nodes.data[node].first; i < tree->nodes.data[node].last; i++) {
        const struct butterfly_member *member = &tree->members.data[i];
        bool enough = are_entries                 ? array_push(&butterfly->scratch, *member)
                      : side == BUTTERFLY_CALLERS ? collect_caller(butterfly, member)
                                                  : collect_callees(butterfly, member);
        if (!enough)
            return false;
    }
    return true;
}

/* Adds a child for each func in the scratch; until list_members(), `last` holds the number of its members. */
static bool make_children(struct butterfly *butterfly, struct butterfly_tree *tree, uint32_t depth)
{
    for (size_t i = 0; i < butterfly->scratch.length; i++) {
        uint32_t func = butterfly->nodes->func[butterfly->scratch.data[i].node];
        uint32_t *group = &butterfly->group_of_func[func];
        if (*group == NODE_NONE) {
            if (!array_push(&tree->nodes, (struct butterfly_node){.func = func, .depth = depth}))
                return false;
            *group = (uint32_t)tree->nodes.length - 1;
        }
        tree->nodes.data[*group].last++;
    }
    return array_reserve(&tree->members, butterfly->scratch.length);
}

/* Turns the numbers of members into ranges. Sets `last` of each child to its `first`, and adds one for each member that
 * the child gets. */
static void list_members(struct butterfly *butterfly, struct butterfly_tree *tree, uint32_t first_child)
{
    size_t place = tree->members.length;
    for (size_t i = first_child; i < tree->nodes.length; i++) {
        struct butterfly_node *child = &tree->nodes.data[i];
        uint32_t count = child->last;
        child->first = child->last = (uint32_t)place;
        place += count;
    }
    for (size_t i = 0; i < butterfly->scratch.length; i++) {
        const struct butterfly_member *member = &butterfly->scratch.data[i];
        uint32_t group = butterfly->group_of_func[butterfly->nodes->func[member->node]];
        tree->members.data[tree->nodes.data[group].last++] = *member;
    }
    tree->members.length = place;
}

static void add_member_sides(const struct butterfly *butterfly, const struct butterfly_member *member,
                             struct butterfly_node *node, bool is_caller)
{
    for (int side = 0; side < PROFILE_SIDES; side++) {
        node->sides[side].total += get_side_total(butterfly, is_caller ? member->top : member->node, side);
        node->sides[side].self += is_caller ? 0 : butterfly->timings->sides[side].self[member->node];
    }
}

static void sum_node(const struct butterfly *butterfly, enum butterfly_side side, struct butterfly_node *node)
{
    const struct call_nodes *nodes = butterfly->nodes;
    const double *self = butterfly->timings->self;
    const struct butterfly_member *members = butterfly->sides[side].members.data;
    node->category = nodes->category[members[node->first].node];
    for (uint32_t i = node->first; i < node->last; i++) {
        uint32_t at = members[i].node;
        if (nodes->category[at] != node->category)
            node->category = (uint16_t)butterfly->default_category;
        if (butterfly->timings->sides)
            add_member_sides(butterfly, &members[i], node, side == BUTTERFLY_CALLERS);
        if (side == BUTTERFLY_CALLERS) {
            node->total += get_node_total(butterfly, members[i].top);
            node->has_children |= nodes->prefix[at] != NODE_NONE;
        } else {
            node->total += get_node_total(butterfly, at);
            node->self += self[at];
            node->has_children = node->has_children || has_callee(butterfly, at);
        }
    }
}

static int expand_node(struct butterfly *butterfly, enum butterfly_side side, uint32_t node, struct error *err)
{
    struct butterfly_tree *tree = &butterfly->sides[side];
    if (tree->nodes.data[node].expanded)
        return 0;
    uint32_t first_child = (uint32_t)tree->nodes.length;
    bool enough =
        collect_next(butterfly, side, node) && make_children(butterfly, tree, tree->nodes.data[node].depth + 1);
    if (enough)
        list_members(butterfly, tree, first_child);
    for (size_t i = first_child; i < tree->nodes.length; i++) {
        butterfly->group_of_func[tree->nodes.data[i].func] = NODE_NONE;
        if (enough)
            sum_node(butterfly, side, &tree->nodes.data[i]);
    }
    if (!enough) {
        tree->nodes.length = first_child;
        return error_no_memory(err);
    }
    tree->nodes.data[node].first_child = first_child;
    tree->nodes.data[node].child_count = (uint32_t)tree->nodes.length - first_child;
    tree->nodes.data[node].expanded = true;
    return 0;
}

/* ---- rows ---- */

/* One side of the butterfly, as a source of tree rows. */
struct side {
    struct butterfly *butterfly;
    enum butterfly_side side;
};

static int collect_children(void *tree, uint32_t node, struct order_entries *children, struct error *err)
{
    const struct side *side = tree;
    const struct butterfly_tree *nodes = &side->butterfly->sides[side->side];
    int code = expand_node(side->butterfly, side->side, node, err);
    if (code)
        return code;
    uint32_t first = nodes->nodes.data[node].first_child, count = nodes->nodes.data[node].child_count;
    for (uint32_t c = first; c < first + count; c++)
        if (!array_push(children, (struct order_entry){fabs(nodes->nodes.data[c].total), c}))
            return error_no_memory(err);
    return 0;
}

static struct tree_row make_row(void *tree, uint32_t node)
{
    const struct side *side = tree;
    const struct butterfly_node *at = &side->butterfly->sides[side->side].nodes.data[node];
    return (struct tree_row){.node = node,
                             .depth = at->depth,
                             .func = at->func,
                             .category = at->category,
                             .total = at->total,
                             .self = at->self,
                             .has_children = at->has_children,
                             .is_compared = side->butterfly->timings->sides != NULL,
                             .sides = {at->sides[SIDE_BASE], at->sides[SIDE_NEW]},
                             .rank = fabs(at->total)};
}

static int check_handle(const struct butterfly_tree *tree, uint32_t *node, struct error *err)
{
    if (*node == NODE_NONE)
        *node = FOCUS;
    else if (*node == FOCUS || *node >= tree->nodes.length)
        return error_set(err, EINVAL, "this butterfly has no node %u", *node);
    return 0;
}

int butterfly_list_children(struct butterfly *butterfly, enum butterfly_side side, uint32_t node,
                            struct tree_rows *rows, struct error *err)
{
    struct side tree = {butterfly, side};
    const struct row_source source = {&tree, collect_children, make_row};
    rows->length = 0;
    int code = check_handle(&butterfly->sides[side], &node, err);
    return code ? code : tree_rows_list_children(rows, &source, node, err);
}

int butterfly_list_descendants(struct butterfly *butterfly, enum butterfly_side side, uint32_t node, size_t limit,
                               struct tree_rows *rows, struct error *err)
{
    struct side tree = {butterfly, side};
    const struct row_source source = {&tree, collect_children, make_row};
    rows->length = 0;
    int code = check_handle(&butterfly->sides[side], &node, err);
    return code ? code : tree_rows_list_descendants(rows, &source, node, limit, err);
}
