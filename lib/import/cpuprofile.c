/*
 * V8's .cpuprofile, which node --cpu-prof, Chrome's DevTools and Bun write: a call tree, the node of each sample, and
 * the µs from each sample to the next. A sample stands for the time until the next sample, as in DevTools.
 */
#include "base/search.h"
#include "import/importers.h"
#include "import/v8_nodes.h"

struct cpu_profile {
    struct json_tree tree;
    struct v8_nodes nodes;
    struct error *err;
    struct hash by_id;   /* id -> node of the tree */
    struct hash parents; /* id -> id of the caller */
};

/* Returns the id of a node, an integer of at most 53 bits. */
static uint64_t read_node_id(const struct cpu_profile *file, uint32_t node)
{
    return json_tree_get_integer(&file->tree, node, UINT64_C(1) << 53, UINT64_MAX);
}

static int index_nodes(struct cpu_profile *file, uint32_t list)
{
    const struct json_tree *tree = &file->tree;
    size_t row = 0;
    for (uint32_t node = json_tree_get_first(tree, list); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, list, node), row++) {
        uint64_t id = read_node_id(file, json_tree_get(tree, node, "id"));
        if (id == UINT64_MAX)
            return error_set(file->err, EINVAL, "nodes[%zu] has no id", row);
        if (!hash_set(&file->by_id, id, node))
            return error_no_memory(file->err);
        uint32_t children = json_tree_get(tree, node, "children");
        for (uint32_t child = json_tree_get_first(tree, children); child != JSON_TREE_NONE;
             child = json_tree_get_next(tree, children, child)) {
            uint64_t of = read_node_id(file, child);
            if (of == UINT64_MAX || hash_get(&file->parents, of) != HASH_MISSING)
                return error_set(file->err, EINVAL,
                                 "nodes[%zu] has a child that does not exist, or that has another parent", row);
            if (!hash_set(&file->parents, of, node))
                return error_no_memory(file->err);
        }
    }
    return 0;
}

/* Makes the stacks of a node and its callers: collects the callers up to the root, then adds their stacks, root
 * first. */
static int make_stack(struct cpu_profile *file, uint32_t node, uint32_t *stack)
{
    const struct json_tree *tree = &file->tree;
    ARRAY(uint32_t) path = {0};
    int code = 0;
    *stack = PROFILE_NONE;
    for (uint32_t at = node; at != HASH_MISSING;) {
        uint64_t id = read_node_id(file, json_tree_get(tree, at, "id"));
        uint32_t known = hash_get(&file->nodes.stacks, id);
        if (known != HASH_MISSING) {
            *stack = known - 1;
            break;
        }
        if (path.length > tree->nodes.length) {
            code = error_set(file->err, EINVAL, "the callers of nodes form a cycle");
            break;
        }
        if (!array_push(&path, at)) {
            code = error_no_memory(file->err);
            break;
        }
        at = hash_get(&file->parents, id);
    }
    while (!code && path.length) {
        uint32_t at = path.data[--path.length];
        if (v8_nodes_has_frame(tree, at))
            *stack = builder_add_stack(file->nodes.builder, *stack, v8_nodes_add_frame(&file->nodes, tree, at));
        if (!hash_set(&file->nodes.stacks, read_node_id(file, json_tree_get(tree, at, "id")), *stack + 1))
            code = error_no_memory(file->err);
    }
    array_free(&path);
    return code;
}

struct v8_sample {
    double time; /* ms */
    uint32_t stack;
    size_t row;
};

DEFINE_COMPARE(compare_samples, struct v8_sample, ORDER_THEN(a->time, b->time, ORDER(a->row, b->row)))

ARRAY_TYPE(struct v8_samples, struct v8_sample);

static int read_samples(struct cpu_profile *file, struct v8_samples *rows)
{
    const struct json_tree *tree = &file->tree;
    uint32_t samples = json_tree_get(tree, 0, "samples"), deltas = json_tree_get(tree, 0, "timeDeltas");
    if (!json_tree_has_type(tree, samples, JSON_ARRAY_OPEN) || !json_tree_has_type(tree, deltas, JSON_ARRAY_OPEN))
        return error_set(file->err, EINVAL, "the file has no samples, or no timeDeltas");
    double time = 0;
    uint32_t delta = json_tree_get_first(tree, deltas);
    for (uint32_t node = json_tree_get_first(tree, samples); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, samples, node)) {
        uint32_t of = hash_get(&file->by_id, read_node_id(file, node)), stack;
        if (of == HASH_MISSING)
            return error_set(file->err, EINVAL, "samples[%zu] refers to a missing node", rows->length);
        double step = delta == JSON_TREE_NONE ? NAN : json_tree_get_number(tree, delta);
        if (!isfinite(step))
            return error_set(file->err, EINVAL, "timeDeltas[%zu] is not a number", rows->length);
        delta = json_tree_get_next(tree, deltas, delta);
        time += step / 1000;
        uint32_t known = hash_get(&file->nodes.stacks, read_node_id(file, node));
        stack = known - 1;
        int code = known == HASH_MISSING ? make_stack(file, of, &stack) : 0;
        if (code)
            return code;
        struct v8_sample row = {time, stack, rows->length};
        if (!array_push(rows, row))
            return error_no_memory(file->err);
    }
    array_sort(rows, compare_samples);
    return 0;
}

static int read_all(struct cpu_profile *file)
{
    struct profile_builder *builder = file->nodes.builder;
    const struct json_tree *tree = &file->tree;
    struct v8_samples rows = {0};
    uint32_t list = json_tree_get(tree, 0, "nodes");
    int code = json_tree_has_type(tree, list, JSON_ARRAY_OPEN) ? index_nodes(file, list)
                                                               : error_set(file->err, EINVAL, "nodes is not a list");
    if (!code)
        code = read_samples(file, &rows);
    double start = json_tree_get_number(tree, json_tree_get(tree, 0, "startTime"));
    double end = (json_tree_get_number(tree, json_tree_get(tree, 0, "endTime")) - start) / 1000;
    uint32_t name = builder_add_string(builder, builder_text("JavaScript"));
    uint32_t thread = code ? PROFILE_NONE : builder_add_thread(builder, 0, 0, name);
    builder->weight_type = WEIGHT_TRACING_MS;
    for (size_t i = 0; !code && i < rows.length; i++) {
        double time = rows.data[i].time, next = i + 1 < rows.length ? rows.data[i + 1].time : fmax(end, time);
        builder_add_sample(builder, thread, 0, rows.data[i].stack, time, next - time);
    }
    builder->end = end;
    if (rows.length > 1)
        builder->profile->meta.interval =
            fmax(1e-3, (rows.data[rows.length - 1].time - rows.data[0].time) / (double)(rows.length - 1));
    array_free(&rows);
    return code;
}

int cpuprofile_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct cpu_profile file = {.err = err};
    v8_nodes_init(&file.nodes, builder);
    int code = json_tree_read(&file.tree, text, size, err);
    if (!code)
        code = read_all(&file);
    hash_destroy(&file.by_id);
    hash_destroy(&file.parents);
    v8_nodes_destroy(&file.nodes);
    json_tree_destroy(&file.tree);
    return code;
}
