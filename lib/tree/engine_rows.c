/*
 * Rows and paths of the current query, for both its call tree and its inverted tree.
 */
#include "tree/engine.h"

#include "tree/engine_state.h"

#include "tree/search_filter.h"

/* ---- rows ---- */

static bool has_live_child(const struct engine *engine, uint32_t node)
{
    const struct call_nodes *nodes = engine->nodes;
    for (uint32_t c = call_nodes_get_first_child(nodes, node); c < call_nodes_get_children_end(nodes, node);
         c = nodes->end[c])
        if (engine->timings.alive[c])
            return true;
    return false;
}

/* Adds the figures of each side of a comparison. */
static void add_sides(const struct engine *engine, uint32_t node, struct tree_row *row)
{
    const struct timings *sides = engine->timings.sides;
    row->is_compared = sides != NULL;
    row->rank = fabs(row->total);
    for (int side = 0; sides && side < PROFILE_SIDES; side++) {
        if (engine->is_inverted) {
            double total = engine->inverted.tree.data[node].side_total[side];
            row->sides[side] = (struct side_figures){total, row->depth == 0 ? total : 0};
        } else {
            row->sides[side] = (struct side_figures){sides[side].total[node], sides[side].self[node]};
            row->rank = timings_get_magnitude(&engine->timings, node);
        }
    }
}

static struct tree_row make_plain_row(const struct engine *engine, uint32_t node)
{
    if (!engine->is_inverted)
        return (struct tree_row){.node = node,
                                 .depth = engine->nodes->depth[node],
                                 .func = engine->nodes->func[node],
                                 .category = engine->nodes->category[node],
                                 .total = engine->timings.total[node],
                                 .self = engine->timings.self[node],
                                 .has_children = has_live_child(engine, node)};
    const struct inverted_node *inverted = &engine->inverted.tree.data[node];
    return (struct tree_row){.node = node,
                             .depth = inverted->depth,
                             .func = inverted->func,
                             .category = inverted->category,
                             .total = inverted->total,
                             .self = inverted->depth == 0 ? inverted->total : 0,
                             .has_children = inverted->has_children};
}

static struct tree_row make_row(void *tree, uint32_t node)
{
    const struct engine *engine = tree;
    struct tree_row row = make_plain_row(engine, node);
    add_sides(engine, node, &row);
    return row;
}

static bool collect_call_node_children(const struct engine *engine, uint32_t node, struct order_entries *children)
{
    const struct call_nodes *nodes = engine->nodes;
    for (uint32_t c = call_nodes_get_first_child(nodes, node); c < call_nodes_get_children_end(nodes, node);
         c = nodes->end[c])
        if (engine->timings.alive[c] &&
            !array_push(children, (struct order_entry){timings_get_magnitude(&engine->timings, c), c}))
            return false;
    return true;
}

/* The children of an inverted node (NODE_NONE: the roots) are numbered first .. first + count - 1. */
static int find_inverted_children(struct engine *engine, uint32_t node, uint32_t *first, uint32_t *count,
                                  struct error *err)
{
    *first = 0;
    *count = engine->inverted.root_count;
    if (node == NODE_NONE)
        return 0;
    int code = inverted_expand(&engine->inverted, node, err);
    *first = engine->inverted.tree.data[node].first_child;
    *count = code ? 0 : engine->inverted.tree.data[node].child_count;
    return code;
}

static bool collect_inverted_children(struct engine *engine, uint32_t node, struct order_entries *children,
                                      struct error *err)
{
    uint32_t first, count;
    if (find_inverted_children(engine, node, &first, &count, err))
        return false;
    for (uint32_t c = first; c < first + count; c++)
        if (!array_push(children, (struct order_entry){fabs(engine->inverted.tree.data[c].total), c}))
            return false;
    return true;
}

int engine_collect_children(struct engine *engine, uint32_t node, struct order_entries *children, struct error *err)
{
    bool enough = engine->is_inverted ? collect_inverted_children(engine, node, children, err)
                                      : collect_call_node_children(engine, node, children);
    return enough ? 0 : error_no_memory(err);
}

int engine_check_handle(const struct engine *engine, uint32_t node, struct error *err)
{
    size_t count = engine->is_inverted ? engine->inverted.tree.length : engine->nodes->length;
    return node < count ? 0 : error_set(err, EINVAL, "this call tree has no node %u", node);
}

static int collect_children(void *tree, uint32_t node, struct order_entries *children, struct error *err)
{
    return engine_collect_children(tree, node, children, err);
}

static int check_parent(const struct engine *engine, uint32_t node, struct error *err)
{
    return node == NODE_NONE ? 0 : engine_check_handle(engine, node, err);
}

int engine_list_children(struct engine *engine, uint32_t node, struct tree_rows *rows, struct error *err)
{
    const struct row_source source = {engine, collect_children, make_row};
    rows->length = 0;
    int code = check_parent(engine, node, err);
    return code ? code : tree_rows_list_children(rows, &source, node, err);
}

int engine_list_descendants(struct engine *engine, uint32_t node, size_t limit, struct tree_rows *rows,
                            struct error *err)
{
    const struct row_source source = {engine, collect_children, make_row};
    rows->length = 0;
    int code = check_parent(engine, node, err);
    return code ? code : tree_rows_list_descendants(rows, &source, node, limit, err);
}

int engine_read_row(struct engine *engine, uint32_t node, struct tree_rows *rows, struct error *err)
{
    rows->length = 0;
    int code = engine_check_handle(engine, node, err);
    if (!code && !tree_rows_push(rows, make_row(engine, node)))
        code = error_no_memory(err);
    return code;
}

/* ---- paths ---- */

static uint32_t get_node_parent(const struct engine *engine, uint32_t node)
{
    return engine->is_inverted ? engine->inverted.tree.data[node].parent : engine->nodes->prefix[node];
}

/* Reverses the funcs of a path starting at `first`. */
static void reverse_funcs(struct node_path *path, size_t first)
{
    for (size_t i = first, last = path->length; i + 1 < last; i++, last--) {
        uint32_t swap = path->data[i];
        path->data[i] = path->data[last - 1];
        path->data[last - 1] = swap;
    }
}

int engine_read_path(struct engine *engine, uint32_t node, struct node_path *path, struct error *err)
{
    path->length = 0;
    int code = engine_check_handle(engine, node, err);
    if (code)
        return code;
    for (; node != NODE_NONE; node = get_node_parent(engine, node))
        if (!array_push(path, engine_get_node_func(engine, node)))
            return error_no_memory(err);
    reverse_funcs(path, 0);
    return 0;
}

bool append_call_path(const struct engine *engine, uint32_t node, struct node_path *path)
{
    size_t first = path->length;
    for (; node != NODE_NONE; node = engine->nodes->prefix[node])
        if (!array_push(path, engine->nodes->func[node]))
            return false;
    reverse_funcs(path, first);
    return true;
}

/* The stack at a time, as recorded and after marker transforms. */
struct found_stack {
    uint32_t recorded, left;
};

/* Finds the sample that covers the time, if the thread lived at the time. */
static bool find_sample(const struct engine *engine, uint32_t thread, const struct thread_gaps *gaps, double time,
                        struct sample_place *place, struct found_stack *stack)
{
    if (time >= gaps->known_end)
        return false;
    size_t sample = find_sample_at(gaps->samples, engine->base->profile.meta.interval, time, &place->cpu_percent);
    if (sample == SIZE_MAX)
        return false;
    place->time = gaps->samples->time[sample];
    *stack = (struct found_stack){gaps->samples->stack[sample], engine_get_samples(engine, thread)->stack[sample]};
    return true;
}

/* In a thread with recorded waits: finds the wait at the time, or the running stack at the nearer end of the gap. */
static bool find_stack_between_samples(const struct engine *engine, uint32_t thread, const struct thread_gaps *gaps,
                                       double time, struct sample_place *place, struct found_stack *stack)
{
    const struct sample_table *samples = gaps->samples, *left = engine_get_samples(engine, thread);
    struct time_range gap;
    size_t i = find_gap_at(gaps, time, &gap);
    if (i == SIZE_MAX || samples->length == 0)
        return false;
    find_sample_at(samples, gaps->interval, time, &place->cpu_percent);
    bool is_wait = is_wait_end(&gaps->waits, i);
    if (is_wait) {
        place->wait = gap;
        place->reason = get_wait_row_reason(&gaps->waits, i);
        place->waker = samples->waker ? samples->waker[i] : PROFILE_NONE;
        place->unseen = measure_wait_in(gaps, i, whole_time).unseen;
    }
    if (is_wait || (is_cpu_row(&gaps->waits, i) && time >= (gap.from + gap.to) / 2)) {
        place->time = is_wait ? gap.from : gap.to;
        *stack = (struct found_stack){samples->stack[i], left->stack[i]};
        return true;
    }
    place->time = i > 0 ? gap.from : gap.to;
    *stack =
        (struct found_stack){find_running_stack(&gaps->waits, samples, i), find_running_stack(&gaps->waits, left, i)};
    return true;
}

int engine_find_sample(const struct engine *engine, uint32_t thread, double time, struct sample_place *place,
                       struct node_path *path, struct error *err)
{
    path->length = 0;
    *place = (struct sample_place){.category = engine->stacks->default_category,
                                   .wait = {NAN, NAN},
                                   .reason = PROFILE_NONE,
                                   .waker = PROFILE_NONE};
    if (thread >= engine->base->profile.threads.length)
        return 0;
    const struct thread_gaps gaps = find_sample_gaps(&engine->base->profile, thread);
    struct found_stack stack = {PROFILE_NONE, PROFILE_NONE};
    place->is_known = is_not_running_at(&gaps, time, &place->wait);
    place->time = place->wait.from;
    place->cpu_percent = NAN;
    if (place->is_known || !(has_wait_rows(&gaps.waits) ? find_stack_between_samples
                                                        : find_sample)(engine, thread, &gaps, time, place, &stack))
        return 0;
    uint32_t node = stack.left == PROFILE_NONE ? NODE_NONE : engine->nodes->of_sample[stack.left];
    place->is_known = true;
    if (stack.recorded != PROFILE_NONE)
        place->category = engine->stacks->category[stack.recorded];
    place->is_dropped = stack.recorded != PROFILE_NONE && node == NODE_NONE;
    return append_call_path(engine, node, path) ? 0 : error_no_memory(err);
}

static uint32_t find_child(struct engine *engine, uint32_t node, uint32_t func, struct error *err, int *code)
{
    const struct call_nodes *nodes = engine->nodes;
    if (!engine->is_inverted) {
        for (uint32_t c = call_nodes_get_first_child(nodes, node); c < call_nodes_get_children_end(nodes, node);
             c = nodes->end[c])
            if (nodes->func[c] == func)
                return engine->timings.alive[c] ? c : NODE_NONE;
        return NODE_NONE;
    }
    uint32_t first, count;
    *code = find_inverted_children(engine, node, &first, &count, err);
    for (uint32_t c = first; c < first + count; c++)
        if (engine->inverted.tree.data[c].func == func)
            return c;
    return NODE_NONE;
}

int engine_find_node(struct engine *engine, const uint32_t *path, size_t length, bool nearest, uint32_t *node,
                     struct error *err)
{
    int code = 0;
    *node = NODE_NONE;
    for (size_t i = 0; i < length; i++) {
        uint32_t child = find_child(engine, *node, path[i], err, &code);
        if (child == NODE_NONE) {
            if (code || !nearest)
                *node = NODE_NONE;
            break;
        }
        *node = child;
    }
    return code;
}

/* Sets the category of each node on the path, or PROFILE_NONE for nodes that do not exist. */
static int find_categories(struct engine *engine, const uint32_t *path, size_t length, uint32_t *categories,
                           struct error *err)
{
    uint32_t node = NODE_NONE;
    int code = 0;
    for (size_t i = 0; !code && i < length; i++) {
        if (i == 0 || node != NODE_NONE)
            node = find_child(engine, node, path[i], err, &code);
        if (node == NODE_NONE)
            categories[i] = PROFILE_NONE;
        else
            categories[i] =
                engine->is_inverted ? engine->inverted.tree.data[node].category : engine->nodes->category[node];
    }
    return code;
}

static int rewrite_matching(const struct transform *transform, struct path_context context, uint32_t *path,
                            size_t *length, struct error *err)
{
    struct search search;
    int code = search_init(&search, context.profile, transform->text, transform->text_length, err);
    context.search = &search;
    if (!code)
        transform_rewrite_path(transform, &context, path, length);
    search_destroy(&search);
    return code;
}

int engine_rewrite_path(struct engine *engine, const struct transform *transform, uint32_t *path, size_t *length,
                        struct error *err)
{
    struct path_context context = {.profile = &engine->base->profile, .inverted = engine->is_inverted};
    if (transform->kind == TRANSFORM_MERGE_MATCHING)
        return rewrite_matching(transform, context, path, length, err);
    if (transform->kind != TRANSFORM_FOCUS_CATEGORY && transform->kind != TRANSFORM_MERGE_CATEGORY) {
        transform_rewrite_path(transform, &context, path, length);
        return 0;
    }
    uint32_t *categories = malloc((*length + 1) * sizeof(*categories));
    if (!categories)
        return error_no_memory(err);
    int code = find_categories(engine, path, *length, categories, err);
    context.categories = categories;
    if (!code)
        transform_rewrite_path(transform, &context, path, length);
    free(categories);
    return code;
}

/* Node totals without idle time (with idle time if the query counts waits). */
struct busy {
    double *total; /* weight per call node, including its descendants, or NULL (use the total of the node's row) */
    double all;    /* sum of the magnitudes */
};

static bool counts_waits(const struct engine *engine)
{
    return engine->base->has_waits && (engine->weight == WEIGH_OFF_CPU_TIME || engine->weight == WEIGH_OFF_CPU);
}

static int find_heaviest_child(const struct engine *engine, struct busy *busy, struct error *err)
{
    const struct call_nodes *nodes = engine->nodes;
    *busy = (struct busy){NULL, engine->timings.root_total};
    if (engine->is_inverted || engine->base->idle_category == PROFILE_NONE || counts_waits(engine))
        return 0;
    *busy = (struct busy){calloc(nodes->length + 1, sizeof(*busy->total)), 0};
    if (!busy->total)
        return error_no_memory(err);
    for (size_t i = nodes->length; i-- > 0;) {
        double self = nodes->category[i] == engine->base->idle_category ? 0 : engine->timings.self[i];
        busy->all += fabs(self);
        busy->total[i] += self;
        if (nodes->prefix[i] != NODE_NONE)
            busy->total[nodes->prefix[i]] += busy->total[i];
    }
    return 0;
}

/* In a comparison, the largest change in or below the row, because changes below can cancel each other. */
static double get_busy_total(const struct busy *busy, const struct tree_rows *rows, uint32_t row)
{
    if (rows->is_compared)
        return rows->rank[row];
    return fabs(busy->total ? busy->total[rows->node[row]] : rows->total[row]);
}

static uint32_t find_heaviest_busy_row(const struct engine *engine, const struct busy *busy,
                                       const struct tree_rows *rows)
{
    uint32_t heaviest = NODE_NONE;
    for (uint32_t i = 0; i < rows->length; i++)
        if ((rows->category[i] != engine->base->idle_category || counts_waits(engine)) &&
            (heaviest == NODE_NONE || get_busy_total(busy, rows, i) > get_busy_total(busy, rows, heaviest)))
            heaviest = i;
    return heaviest;
}

int engine_find_heaviest_path(struct engine *engine, size_t depth, double share, struct node_path *path,
                              struct error *err)
{
    path->length = 0;
    struct busy busy;
    int code = find_heaviest_child(engine, &busy, err);
    struct tree_rows rows = {0};
    uint32_t node = NODE_NONE;
    double self = 0;
    while (!code && path->length < depth) {
        code = engine_list_children(engine, node, &rows, err);
        uint32_t heaviest = code ? NODE_NONE : find_heaviest_busy_row(engine, &busy, &rows);
        if (heaviest == NODE_NONE)
            break;
        double total = get_busy_total(&busy, &rows, heaviest);
        if ((!engine->is_inverted && fabs(self) > total) || (path->length > 0 && total < share * busy.all))
            break;
        node = rows.node[heaviest];
        self = rows.self[heaviest];
        if (!array_push(path, rows.func[heaviest]))
            code = error_no_memory(err);
    }
    free(busy.total);
    tree_rows_destroy(&rows);
    return code;
}
