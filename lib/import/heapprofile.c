/*
 * V8's .heapprofile, which node --heap-prof, Chrome's DevTools ("Allocation sampling") and HeapProfiler.stopSampling
 * write: a call tree with the live bytes at the end that each node allocated itself. V8 scales the bytes by the
 * sampling rate. The importer ignores the file's list of single samples, which repeats these bytes.
 */
#include "import/importers.h"
#include "import/v8_nodes.h"

struct open_node {
    uint32_t node, stack; /* node: node of the tree; stack: stack of the caller */
};

ARRAY_TYPE(struct open_nodes, struct open_node);

static int read_node(struct v8_nodes *nodes, const struct json_tree *tree, struct open_nodes *open, uint32_t thread,
                     struct error *err)
{
    struct open_node at = open->data[--open->length];
    double size = json_tree_get_number(tree, json_tree_get(tree, at.node, "selfSize"));
    uint32_t children = json_tree_get(tree, at.node, "children");
    if (!json_tree_has_type(tree, json_tree_get(tree, at.node, "callFrame"), JSON_OBJECT_OPEN) || !isfinite(size) ||
        size < 0)
        return error_set(err, EINVAL, "a node has no callFrame, or no selfSize");
    if (v8_nodes_has_frame(tree, at.node))
        at.stack = builder_add_stack(nodes->builder, at.stack, v8_nodes_add_frame(nodes, tree, at.node));
    if (size > 0)
        builder_add_sample(nodes->builder, thread, 0, at.stack, 0, size);
    for (uint32_t child = json_tree_get_first(tree, children); child != JSON_TREE_NONE;
         child = json_tree_get_next(tree, children, child))
        if (!array_push(open, (struct open_node){child, at.stack}))
            return error_no_memory(err);
    return 0;
}

int heapprofile_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct json_tree tree = {0};
    struct v8_nodes nodes;
    struct open_nodes open = {0};
    int code = json_tree_read(&tree, text, size, err);
    v8_nodes_init(&nodes, builder);
    builder->has_no_times = true;
    builder->weight_type = WEIGHT_BYTES;
    uint32_t name = builder_add_string(builder, builder_text("JavaScript"));
    uint32_t thread = builder_add_thread(builder, 0, 0, name);
    struct open_node head = {code ? JSON_TREE_NONE : json_tree_get(&tree, 0, "head"), PROFILE_NONE};
    if (!code && !array_push(&open, head))
        code = error_no_memory(err);
    while (!code && open.length)
        code = read_node(&nodes, &tree, &open, thread, err);
    array_free(&open);
    v8_nodes_destroy(&nodes);
    json_tree_destroy(&tree);
    return code;
}
