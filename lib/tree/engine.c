#include "tree/engine.h"

#include "tree/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The nodes that a search keeps, remembered because the query and every track of the timeline ask for the same. */
struct kept_nodes {
    ARRAY(char) search;
    uint8_t *kept; /* NULL before the first search */
    bool valid;
};

struct engine {
    struct profile profile;
    struct stack_view stacks;
    struct call_nodes nodes;
    uint32_t idle_category;

    ARRAY(uint32_t) threads; /* of the weights */
    struct time_range range;
    bool has_weights;
    struct stack_weights weights;

    struct kept_nodes query_search; /* of the timings; empty search: not used */
    struct kept_nodes activity_search;
    struct kept_path activity_path;
    bool is_searching;
    bool has_timings;
    struct timings timings;

    bool is_inverted;
    bool has_inverted;
    struct inverted inverted;
};

/* ---- life ---- */

static uint32_t find_idle_category(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->categories.length; i++)
        if (strcmp(strings_text(&profile->strings, profile->categories.data[i].name), "Idle") == 0)
            return i;
    return PROFILE_NONE;
}

static int query_everything(struct engine *engine, struct error *err)
{
    size_t count = engine->profile.threads.length;
    uint32_t *threads = malloc((count + 1) * sizeof(*threads));
    if (!threads)
        return error_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        threads[i] = i;
    struct tree_query all = {.threads = threads, .thread_count = count, .range = whole_time};
    int code = engine_query(engine, &all, err);
    free(threads);
    return code;
}

struct engine *engine_new(struct profile *profile, struct error *err)
{
    struct engine *engine = calloc(1, sizeof(*engine));
    if (!engine) {
        error_no_memory(err);
        profile_destroy(profile);
        return NULL;
    }
    engine->profile = *profile;
    *profile = (struct profile){0};
    engine->idle_category = find_idle_category(&engine->profile);
    if (stack_view_init(&engine->stacks, &engine->profile, err) ||
        call_nodes_init(&engine->nodes, &engine->stacks, err) || query_everything(engine, err)) {
        engine_free(engine);
        return NULL;
    }
    return engine;
}

static void kept_nodes_destroy(struct kept_nodes *kept)
{
    array_free(&kept->search);
    free(kept->kept);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    inverted_destroy(&engine->inverted);
    timings_destroy(&engine->timings);
    kept_nodes_destroy(&engine->query_search);
    kept_nodes_destroy(&engine->activity_search);
    kept_path_destroy(&engine->activity_path);
    stack_weights_destroy(&engine->weights);
    array_free(&engine->threads);
    call_nodes_destroy(&engine->nodes);
    stack_view_destroy(&engine->stacks);
    profile_destroy(&engine->profile);
    free(engine);
}

const struct profile *engine_profile(const struct engine *engine)
{
    return &engine->profile;
}

const struct stack_view *engine_stacks(const struct engine *engine)
{
    return &engine->stacks;
}

const struct call_nodes *engine_nodes(const struct engine *engine)
{
    return &engine->nodes;
}

const struct timings *engine_timings(const struct engine *engine)
{
    return &engine->timings;
}

uint32_t engine_idle_category(const struct engine *engine)
{
    return engine->idle_category;
}

struct time_range engine_full_range(const struct engine *engine)
{
    const struct profile_meta *meta = &engine->profile.meta;
    struct time_range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < engine->profile.threads.length; i++) {
        const struct sample_table *samples = &engine->profile.threads.data[i].samples;
        if (samples->length == 0)
            continue;
        range.from = fmin(range.from, samples->time[0]);
        range.to = fmax(range.to, samples->time[samples->length - 1] + meta->interval);
    }
    if (!isnan(meta->profiling_start) && !isnan(meta->profiling_end) && meta->profiling_start < meta->profiling_end)
        range = (struct time_range){meta->profiling_start, meta->profiling_end};
    return range.from < range.to ? range : (struct time_range){0, meta->interval > 0 ? meta->interval : 1};
}

/* ---- the query ---- */

static bool same_threads(const struct engine *engine, const struct tree_query *query)
{
    return engine->threads.length == query->thread_count &&
           (query->thread_count == 0 ||
            memcmp(engine->threads.data, query->threads, query->thread_count * sizeof(*query->threads)) == 0);
}

static int update_weights(struct engine *engine, const struct tree_query *query, struct error *err)
{
    if (engine->has_weights && same_threads(engine, query) && engine->range.from == query->range.from &&
        engine->range.to == query->range.to)
        return 0;
    engine->has_weights = engine->has_timings = false;
    engine->threads.length = 0;
    if (!array_reserve(&engine->threads, query->thread_count))
        return error_no_memory(err);
    for (size_t i = 0; i < query->thread_count; i++)
        engine->threads.data[engine->threads.length++] = query->threads[i];
    engine->range = query->range;
    int code =
        stack_weights_sum(&engine->weights, &engine->profile, query->threads, query->thread_count, query->range, err);
    engine->has_weights = code == 0;
    return code;
}

static bool same_search(const struct kept_nodes *kept, const char *text, size_t length)
{
    return kept->valid && kept->search.length == length &&
           (length == 0 || memcmp(kept->search.data, text, length) == 0);
}

static int update_kept(struct kept_nodes *kept, const struct engine *engine, const char *text, size_t length,
                       struct error *err)
{
    if (same_search(kept, text, length))
        return 0;
    kept->valid = false;
    kept->search.length = 0;
    if (!kept->kept)
        kept->kept = malloc(engine->nodes.length + 1);
    if (!kept->kept || !array_reserve(&kept->search, length))
        return error_no_memory(err);
    for (size_t i = 0; i < length; i++)
        kept->search.data[kept->search.length++] = text[i];
    struct search search;
    int code = search_init(&search, &engine->profile, text, length, err);
    if (!code)
        code = search_nodes(&search, &engine->nodes, kept->kept, err);
    search_destroy(&search);
    kept->valid = code == 0;
    return code;
}

static int update_search(struct engine *engine, const struct tree_query *query, struct error *err)
{
    bool searching = query->search_length > 0;
    if (searching == engine->is_searching &&
        (!searching || same_search(&engine->query_search, query->search, query->search_length)))
        return 0;
    engine->has_timings = false;
    engine->is_searching = searching;
    return searching ? update_kept(&engine->query_search, engine, query->search, query->search_length, err) : 0;
}

static const uint8_t *kept_by_query(const struct engine *engine)
{
    return engine->is_searching ? engine->query_search.kept : NULL;
}

static int update_timings(struct engine *engine, struct error *err)
{
    if (engine->has_timings)
        return 0;
    if (engine->has_inverted)
        inverted_destroy(&engine->inverted);
    engine->has_inverted = false;
    int code = timings_compute(&engine->timings, &engine->nodes, engine->nodes.of_stack, &engine->weights,
                               kept_by_query(engine), err);
    engine->has_timings = code == 0;
    return code;
}

int engine_query(struct engine *engine, const struct tree_query *query, struct error *err)
{
    engine->is_inverted = false;
    int code = update_weights(engine, query, err);
    if (!code)
        code = update_search(engine, query, err);
    if (!code)
        code = update_timings(engine, err);
    if (!code && query->inverted && !engine->has_inverted) {
        code = inverted_init(&engine->inverted, &engine->nodes, &engine->timings, engine->stacks.default_category, err);
        engine->has_inverted = code == 0;
    }
    engine->is_inverted = !code && query->inverted;
    return code;
}

size_t engine_node_count(const struct engine *engine)
{
    if (engine->is_inverted)
        return engine->inverted.root_count;
    size_t count = 0;
    for (size_t node = 0; node < engine->timings.length; node++)
        count += engine->timings.alive[node];
    return count;
}

/* ---- rows ---- */

static bool grow_column(void *column, size_t capacity, size_t element_size)
{
    void **place = column;
    void *moved = realloc(*place, capacity * element_size);
    if (moved)
        *place = moved;
    return moved != NULL;
}

static bool reserve_row(struct tree_rows *rows)
{
    if (rows->length < rows->capacity)
        return true;
    size_t capacity = rows->capacity ? rows->capacity * 2 : 8;
    if (!grow_column(&rows->node, capacity, sizeof(*rows->node)) ||
        !grow_column(&rows->depth, capacity, sizeof(*rows->depth)) ||
        !grow_column(&rows->func, capacity, sizeof(*rows->func)) ||
        !grow_column(&rows->category, capacity, sizeof(*rows->category)) ||
        !grow_column(&rows->total, capacity, sizeof(*rows->total)) ||
        !grow_column(&rows->self, capacity, sizeof(*rows->self)) ||
        !grow_column(&rows->has_children, capacity, sizeof(*rows->has_children)))
        return false;
    rows->capacity = capacity;
    return true;
}

void tree_rows_destroy(struct tree_rows *rows)
{
    free(rows->node);
    free(rows->depth);
    free(rows->func);
    free(rows->category);
    free(rows->total);
    free(rows->self);
    free(rows->has_children);
    *rows = (struct tree_rows){0};
}

static bool has_live_child(const struct engine *engine, uint32_t node)
{
    const struct call_nodes *nodes = &engine->nodes;
    for (uint32_t c = call_nodes_first(nodes, node); c < call_nodes_last(nodes, node); c = nodes->end[c])
        if (engine->timings.alive[c])
            return true;
    return false;
}

static bool add_row(const struct engine *engine, uint32_t node, struct tree_rows *rows)
{
    if (!reserve_row(rows))
        return false;
    size_t at = rows->length++;
    rows->node[at] = node;
    if (engine->is_inverted) {
        const struct inverted_node *inverted = &engine->inverted.tree.data[node];
        rows->depth[at] = inverted->depth;
        rows->func[at] = inverted->func;
        rows->category[at] = inverted->category;
        rows->total[at] = inverted->total;
        rows->self[at] = inverted->depth == 0 ? inverted->total : 0;
        rows->has_children[at] = inverted->has_children;
    } else {
        rows->depth[at] = engine->nodes.depth[node];
        rows->func[at] = engine->nodes.func[node];
        rows->category[at] = engine->nodes.category[node];
        rows->total[at] = engine->timings.total[node];
        rows->self[at] = engine->timings.self[node];
        rows->has_children[at] = has_live_child(engine, node);
    }
    return true;
}

ARRAY_TYPE(struct order_entries, struct order_entry);

static bool collect_call_node_children(const struct engine *engine, uint32_t node, struct order_entries *children)
{
    const struct call_nodes *nodes = &engine->nodes;
    for (uint32_t c = call_nodes_first(nodes, node); c < call_nodes_last(nodes, node); c = nodes->end[c])
        if (engine->timings.alive[c] && !array_push(children, (struct order_entry){fabs(engine->timings.total[c]), c}))
            return false;
    return true;
}

/* The children of an inverted node (NODE_NONE: the roots) are numbered first .. first + count - 1. */
static int inverted_children(struct engine *engine, uint32_t node, uint32_t *first, uint32_t *count, struct error *err)
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
    if (inverted_children(engine, node, &first, &count, err))
        return false;
    for (uint32_t c = first; c < first + count; c++)
        if (!array_push(children, (struct order_entry){fabs(engine->inverted.tree.data[c].total), c}))
            return false;
    return true;
}

/* Appends the children of `node` to `children`, heaviest first. */
static int sorted_children(struct engine *engine, uint32_t node, struct order_entries *children, struct error *err)
{
    size_t first = children->length;
    bool enough = engine->is_inverted ? collect_inverted_children(engine, node, children, err)
                                      : collect_call_node_children(engine, node, children);
    if (!enough)
        return error_no_memory(err);
    return order_heaviest_first(children->data + first, children->length - first, err);
}

static int check_handle(const struct engine *engine, uint32_t node, struct error *err)
{
    size_t count = engine->is_inverted ? engine->inverted.tree.length : engine->nodes.length;
    return node < count ? 0 : error_set(err, EINVAL, "there is no node %u in this call tree", node);
}

int engine_children(struct engine *engine, uint32_t node, struct tree_rows *rows, struct error *err)
{
    rows->length = 0;
    int code = node == NODE_NONE ? 0 : check_handle(engine, node, err);
    struct order_entries children = {0};
    if (!code)
        code = sorted_children(engine, node, &children, err);
    for (size_t i = 0; !code && i < children.length; i++)
        if (!add_row(engine, children.data[i].index, rows))
            code = error_no_memory(err);
    array_free(&children);
    return code;
}

static void reverse(struct order_entry *entries, size_t length)
{
    for (size_t i = 0; i < length / 2; i++) {
        struct order_entry swap = entries[i];
        entries[i] = entries[length - 1 - i];
        entries[length - 1 - i] = swap;
    }
}

int engine_descendants(struct engine *engine, uint32_t node, size_t limit, struct tree_rows *rows, struct error *err)
{
    rows->length = 0;
    int code = node == NODE_NONE ? 0 : check_handle(engine, node, err);
    struct order_entries pending = {0}; /* a stack: the next row is on top */
    while (!code && rows->length < limit) {
        size_t base = pending.length;
        code = sorted_children(engine, node, &pending, err);
        if (code || pending.length == 0)
            break;
        reverse(pending.data + base, pending.length - base);
        node = pending.data[--pending.length].index;
        if (!add_row(engine, node, rows))
            code = error_no_memory(err);
    }
    array_free(&pending);
    return code;
}

int engine_row(struct engine *engine, uint32_t node, struct tree_rows *rows, struct error *err)
{
    rows->length = 0;
    int code = check_handle(engine, node, err);
    if (!code && !add_row(engine, node, rows))
        code = error_no_memory(err);
    return code;
}

/* ---- paths ---- */

static uint32_t func_of(const struct engine *engine, uint32_t node)
{
    return engine->is_inverted ? engine->inverted.tree.data[node].func : engine->nodes.func[node];
}

static uint32_t parent_of(const struct engine *engine, uint32_t node)
{
    return engine->is_inverted ? engine->inverted.tree.data[node].parent : engine->nodes.prefix[node];
}

int engine_path(struct engine *engine, uint32_t node, struct node_path *path, struct error *err)
{
    path->length = 0;
    int code = check_handle(engine, node, err);
    if (code)
        return code;
    for (; node != NODE_NONE; node = parent_of(engine, node))
        if (!array_push(path, func_of(engine, node)))
            return error_no_memory(err);
    for (size_t i = 0; i < path->length / 2; i++) {
        uint32_t swap = path->data[i];
        path->data[i] = path->data[path->length - 1 - i];
        path->data[path->length - 1 - i] = swap;
    }
    return 0;
}

static uint32_t find_child(struct engine *engine, uint32_t node, uint32_t func, struct error *err, int *code)
{
    const struct call_nodes *nodes = &engine->nodes;
    if (!engine->is_inverted) {
        for (uint32_t c = call_nodes_first(nodes, node); c < call_nodes_last(nodes, node); c = nodes->end[c])
            if (nodes->func[c] == func)
                return engine->timings.alive[c] ? c : NODE_NONE;
        return NODE_NONE;
    }
    uint32_t first, count;
    *code = inverted_children(engine, node, &first, &count, err);
    for (uint32_t c = first; c < first + count; c++)
        if (engine->inverted.tree.data[c].func == func)
            return c;
    return NODE_NONE;
}

int engine_find(struct engine *engine, const uint32_t *path, size_t length, bool nearest, uint32_t *node,
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

static uint32_t heaviest_not_idle(const struct engine *engine, const struct tree_rows *rows)
{
    for (uint32_t i = 0; i < rows->length; i++)
        if (rows->category[i] != engine->idle_category)
            return i;
    return NODE_NONE;
}

int engine_heaviest_path(struct engine *engine, size_t depth, struct node_path *path, struct error *err)
{
    path->length = 0;
    struct tree_rows rows = {0};
    uint32_t node = NODE_NONE;
    double self = 0;
    int code = 0;
    while (!code && path->length < depth) {
        code = engine_children(engine, node, &rows, err);
        uint32_t heaviest = code ? NODE_NONE : heaviest_not_idle(engine, &rows);
        if (heaviest == NODE_NONE || (!engine->is_inverted && fabs(self) > fabs(rows.total[heaviest])))
            break;
        node = rows.node[heaviest];
        self = rows.self[heaviest];
        if (!array_push(path, rows.func[heaviest]))
            code = error_no_memory(err);
    }
    tree_rows_destroy(&rows);
    return code;
}

/* ---- details, functions, timeline ---- */

int engine_details(struct engine *engine, uint32_t node, struct node_details *details, struct error *err)
{
    int code = check_handle(engine, node, err);
    if (code)
        return code;
    struct counted_stacks counted = {&engine->stacks, &engine->nodes, &engine->weights, kept_by_query(engine)};
    if (!engine->is_inverted)
        return node_details_compute(details, &engine->profile, &counted, node, err);
    struct node_path path = {0};
    code = engine_path(engine, node, &path, err);
    if (!code)
        code = inverted_details_compute(details, &engine->profile, &counted, path.data, path.length, err);
    array_free(&path);
    return code;
}

int engine_functions(struct engine *engine, enum func_order order, struct func_timings *functions, struct error *err)
{
    return func_timings_compute(functions, &engine->nodes, &engine->timings, order, err);
}

int engine_activity(struct engine *engine, uint32_t thread, double from, double to, uint32_t width, const char *search,
                    size_t search_length, struct activity *activity, struct error *err)
{
    return engine_activity_of_path(engine, thread, from, to, width, search, search_length, NULL, activity, err);
}

int engine_activity_of_path(struct engine *engine, uint32_t thread, double from, double to, uint32_t width,
                            const char *search, size_t search_length, const struct tree_path *path,
                            struct activity *activity, struct error *err)
{
    *activity = (struct activity){0};
    if (thread >= engine->profile.threads.length)
        return error_set(err, EINVAL, "there is no thread %u in this profile", thread);
    if (search_length) {
        int code = update_kept(&engine->activity_search, engine, search, search_length, err);
        if (code)
            return code;
    }
    if (path) {
        int code = kept_path_update(&engine->activity_path, &engine->nodes, path, err);
        if (code)
            return code;
    }
    struct activity_request request = {
        .samples = &engine->profile.threads.data[thread].samples,
        .interval = engine->profile.meta.interval,
        .from = from,
        .to = to,
        .width = width,
        .kept = {search_length ? engine->activity_search.kept : NULL, path ? engine->activity_path.kept : NULL}};
    return activity_compute(activity, &engine->stacks, &engine->nodes, &request, err);
}
