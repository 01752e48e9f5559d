/*
 * The layout appends the rects of one row, and then visits each rect of the row to append the rects above. The array of
 * rects is therefore also the queue of the layout. The layout therefore visits only nodes wide enough to be visible and
 * their direct callees, and a new query needs no state of an earlier query.
 */
#include "tree/flame.h"

#include "tree/engine_state.h"

struct layout {
    struct engine *engine;
    const uint32_t *ranks; /* of funcs, by name */
    struct order_entries children;
    double least;
    struct flame_rects *rects;
};

static uint32_t get_node_category(const struct engine *engine, uint32_t node)
{
    return engine->is_inverted ? engine->inverted.tree.data[node].category : engine->nodes->category[node];
}

static double get_node_total(const struct engine *engine, uint32_t node)
{
    if (node == NODE_NONE)
        return engine->timings.root_total;
    return engine->is_inverted ? engine->inverted.tree.data[node].total : engine->timings.total[node];
}

static double get_node_side_total(const struct engine *engine, uint32_t node, int side)
{
    const struct timings *sides = engine->timings.sides;
    if (!sides)
        return 0;
    if (node == NODE_NONE)
        return sides[side].root_total;
    return engine->is_inverted ? engine->inverted.tree.data[node].side_total[side] : sides[side].total[node];
}

/* Returns the value that the width of a node's rect shows. A change can be 0 or negative, so the rects of a comparison
 * are as wide as the sum of both sides. */
static double get_node_width(const struct engine *engine, uint32_t node)
{
    if (!engine->timings.sides)
        return fabs(get_node_total(engine, node));
    return fabs(get_node_side_total(engine, node, SIDE_BASE)) + fabs(get_node_side_total(engine, node, SIDE_NEW));
}

static double get_node_self(const struct engine *engine, uint32_t node)
{
    if (!engine->is_inverted)
        return engine->timings.self[node];
    const struct inverted_node *inverted = &engine->inverted.tree.data[node];
    return inverted->depth == 0 ? inverted->total : 0;
}

/* Returns the resource of a node, or the number of resources for none. */
static uint32_t get_node_library(const struct layout *layout, uint32_t node)
{
    const struct profile *profile = &layout->engine->base->profile;
    uint32_t resource = get_func_resource(profile, engine_get_node_func(layout->engine, node));
    return resource == PROFILE_NONE ? (uint32_t)profile->resources.length : resource;
}

/* Orders the tail of the children, whose magnitudes are their widths, by library. */
static int group_tail(struct layout *layout, double whole, struct error *err)
{
    const struct order_entries *children = &layout->children;
    size_t first = 0;
    while (first < children->length && children->data[first].magnitude >= FLAME_TAIL * whole)
        first++;
    if (first == children->length)
        return 0;
    struct order_entry *tail = children->data + first;
    size_t length = children->length - first;
    double *totals = calloc(layout->engine->base->profile.resources.length + 1, sizeof(*totals));
    if (!totals)
        return error_no_memory(err);
    for (size_t i = 0; i < length; i++) {
        uint32_t library = get_node_library(layout, tail[i].index);
        totals[library] += tail[i].magnitude;
        tail[i].magnitude = library;
    }
    int code = order_sort_heaviest_first(tail, length, err);
    for (size_t i = 0; i < length; i++)
        tail[i].magnitude = totals[get_node_library(layout, tail[i].index)];
    free(totals);
    return code ? code : order_sort_heaviest_first(tail, length, err);
}

/* Collects the children of a node in layout order; *width becomes the sum of their widths. */
static int collect_sorted_children(struct layout *layout, uint32_t node, double *width, struct error *err)
{
    struct order_entries *children = &layout->children;
    children->length = 0;
    int code = engine_collect_children(layout->engine, node, children, err);
    double sum = 0;
    for (size_t i = 0; i < children->length; i++) {
        struct order_entry *child = &children->data[i];
        sum += get_node_width(layout->engine, child->index);
        child->magnitude = (double)(UINT32_MAX - layout->ranks[engine_get_node_func(layout->engine, child->index)]);
    }
    *width = fmax(sum, get_node_width(layout->engine, node));
    if (!code)
        code = order_sort_heaviest_first(children->data, children->length, err);
    if (code || !layout->engine->is_inverted)
        return code;
    for (size_t i = 0; i < children->length; i++)
        children->data[i].magnitude = get_node_width(layout->engine, children->data[i].index);
    code = order_sort_heaviest_first(children->data, children->length, err);
    return code || node != NODE_NONE ? code : group_tail(layout, *width, err);
}

static struct flame_rect make_rect(const struct layout *layout, uint32_t node, uint32_t parent, double start,
                                   double end)
{
    const struct engine *engine = layout->engine;
    uint32_t func = engine_get_node_func(engine, node);
    return (struct flame_rect){
        .start = start,
        .end = end,
        .total = get_node_total(engine, node),
        .self = get_node_self(engine, node),
        .base_total = get_node_side_total(engine, node, SIDE_BASE),
        .new_total = get_node_side_total(engine, node, SIDE_NEW),
        .node = node,
        .parent = parent,
        .depth = parent == FLAME_NO_RECT ? 0 : layout->rects->data[parent].depth + 1,
        .func = func,
        .category = get_node_category(engine, node),
        .count = 1,
        .library = PROFILE_NONE,
        .matches = engine_func_matches(engine, func),
    };
}

static bool is_visible(const struct layout *layout, const struct flame_rect *rect)
{
    return rect->count && rect->end - rect->start >= layout->least && rect->end > 0 && rect->start < 1;
}

/* Adds a narrow rect to the run of adjacent narrow rects before it. A run of one rect is that rect. */
static void extend_run(const struct layout *layout, struct flame_rect *run, const struct flame_rect *rect)
{
    if (run->count == 0) {
        *run = *rect;
        return;
    }
    if (run->count == 1) {
        run->node = NODE_NONE;
        run->func = PROFILE_NONE;
        run->total = fabs(run->total);
        run->self = 0;
    }
    run->end = rect->end;
    run->total += fabs(rect->total);
    run->base_total += rect->base_total;
    run->new_total += rect->new_total;
    run->count++;
    run->matches |= rect->matches;
    if (run->category != rect->category)
        run->category = layout->engine->stacks->default_category;
}

static bool finish_run(const struct layout *layout, struct flame_rect *run)
{
    struct flame_rect finished = *run;
    *run = (struct flame_rect){0};
    return !is_visible(layout, &finished) || array_push(layout->rects, finished);
}

/* Appends the rects on rect `parent`, whose node extends from start to end. */
static int lay_out_children(struct layout *layout, uint32_t node, uint32_t parent, double start, double end,
                            struct error *err)
{
    double width;
    int code = collect_sorted_children(layout, node, &width, err);
    if (code || !(width > 0))
        return code;
    double scale = (end - start) / width, least = layout->least;
    bool has_tail = node == NODE_NONE && layout->engine->is_inverted && least > 0;
    if (has_tail)
        least = fmax(least, FLAME_TAIL);
    struct flame_rect run = {0};
    bool enough = true;
    for (size_t i = 0; enough && i < layout->children.length; i++) {
        uint32_t child = layout->children.data[i].index;
        double next = start + get_node_width(layout->engine, child) * scale;
        struct flame_rect rect = make_rect(layout, child, parent, start, next);
        if (has_tail && rect.func != PROFILE_NONE) {
            uint32_t resource = get_func_resource(&layout->engine->base->profile, rect.func);
            rect.library =
                resource == PROFILE_NONE ? PROFILE_NONE : get_resource_func(&layout->engine->base->profile, resource);
            enough = run.count == 0 || run.library == rect.library || finish_run(layout, &run);
        }
        if (next - start < least)
            extend_run(layout, &run, &rect);
        else
            enough = finish_run(layout, &run) && (!is_visible(layout, &rect) || array_push(layout->rects, rect));
        start = next;
    }
    return enough && finish_run(layout, &run) ? 0 : error_no_memory(err);
}

int engine_compute_flame(struct engine *engine, const struct flame_request *request, struct flame_rects *rects,
                         struct error *err)
{
    struct layout layout = {.engine = engine, .least = fmax(request->least, 0), .rects = rects};
    double length = request->part.to - request->part.from;
    rects->length = 0;
    int code = engine_get_name_ranks(engine, &layout.ranks, err);
    if (!code && length > 0)
        code = lay_out_children(&layout, NODE_NONE, FLAME_NO_RECT, -request->part.from / length,
                                (1 - request->part.from) / length, err);
    for (uint32_t i = 0; !code && i < rects->length && rects->length < FLAME_MOST_RECTS; i++) {
        const struct flame_rect rect = rects->data[i];
        if (rect.node != NODE_NONE)
            code = lay_out_children(&layout, rect.node, i, rect.start, rect.end, err);
    }
    array_free(&layout.children);
    return code;
}

/* Moves *part from a node to its child with this func; *node becomes NODE_NONE if no child has the func. */
static int zoom_to_child(struct layout *layout, uint32_t func, uint32_t *node, struct flame_part *part,
                         struct error *err)
{
    double width;
    int code = collect_sorted_children(layout, *node, &width, err);
    double scale = width > 0 ? (part->to - part->from) / width : 0, start = part->from;
    *node = NODE_NONE;
    for (size_t i = 0; !code && i < layout->children.length; i++) {
        uint32_t child = layout->children.data[i].index;
        double next = start + get_node_width(layout->engine, child) * scale;
        if (engine_get_node_func(layout->engine, child) == func) {
            *node = child;
            *part = (struct flame_part){start, next};
            break;
        }
        start = next;
    }
    return code;
}

int engine_find_flame_part(struct engine *engine, const uint32_t *path, size_t length, struct flame_part *part,
                           struct error *err)
{
    struct layout layout = {.engine = engine};
    uint32_t node = NODE_NONE;
    *part = (struct flame_part){0, 1};
    int code = engine_get_name_ranks(engine, &layout.ranks, err);
    for (size_t i = 0; !code && i < length && (i == 0 || node != NODE_NONE); i++)
        code = zoom_to_child(&layout, path[i], &node, part, err);
    array_free(&layout.children);
    return code;
}
