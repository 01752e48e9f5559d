#include "import/v8_nodes.h"

void v8_nodes_init(struct v8_nodes *nodes, struct profile_builder *builder)
{
    *nodes = (struct v8_nodes){.builder = builder};
    nodes->javascript = builder_add_category(builder, "JavaScript", "yellow");
    nodes->collector = builder_add_category(builder, "GC", "orange");
}

void v8_nodes_destroy(struct v8_nodes *nodes)
{
    hash_destroy(&nodes->stacks);
}

bool v8_nodes_has_frame(const struct json_tree *tree, uint32_t node)
{
    uint32_t name = json_tree_get(tree, json_tree_get(tree, node, "callFrame"), "functionName");
    return !json_tree_equals_text(tree, name, "(root)") && !json_tree_equals_text(tree, name, "(idle)");
}

/* Reads a line or column of a call frame, which counts from 0; -1 is unknown. */
static uint32_t read_position(const struct json_tree *tree, uint32_t frame, const char *key)
{
    return (uint32_t)(json_tree_get_integer(tree, json_tree_get(tree, frame, key), INT32_MAX - 1, UINT32_MAX) + 1);
}

uint32_t v8_nodes_add_frame(struct v8_nodes *nodes, const struct json_tree *tree, uint32_t node)
{
    uint32_t call = json_tree_get(tree, node, "callFrame");
    struct builder_frame frame = {.name = builder_get_json_text(tree, json_tree_get(tree, call, "functionName")),
                                  .file = builder_get_json_text(tree, json_tree_get(tree, call, "url")),
                                  .category = nodes->javascript + 1,
                                  .func_line = read_position(tree, call, "lineNumber"),
                                  .func_column = read_position(tree, call, "columnNumber"),
                                  .flags = FUNC_IS_JS};
    if (!frame.name.length)
        frame.name = builder_text("(anonymous)");
    bool is_special = frame.name.text[0] == '(' && !frame.file.length;
    if (is_special) {
        frame.flags = 0;
        frame.func_line = frame.func_column = 0;
        frame.category = strcmp(frame.name.text, "(garbage collector)") == 0 ? nodes->collector + 1 : 1;
    }
    frame.line = frame.func_line;
    return builder_add_frame(nodes->builder, &frame);
}
