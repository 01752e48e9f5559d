/*
 * The call tree of V8's CPU profiles: nodes with an id, a caller and a call frame, in .cpuprofile files and in the
 * ProfileChunk events of Chrome traces. Each node becomes a stack.
 * (https://chromedevtools.github.io/devtools-protocol/tot/Profiler)
 */
#pragma once

#include "import/json_tree.h"
#include "import/profile_builder.h"

struct v8_nodes {
    struct profile_builder *builder;
    uint32_t javascript, collector; /* categories */
    struct hash stacks;             /* id of the node -> 1 + stack, or 0 (no stack, as for the root) */
};

void v8_nodes_init(struct v8_nodes *nodes, struct profile_builder *builder);
void v8_nodes_destroy(struct v8_nodes *nodes);

/* Makes the frame of a node's function. */
uint32_t v8_nodes_add_frame(struct v8_nodes *nodes, const struct json_tree *tree, uint32_t node);

/* False for "(root)" and "(idle)": idle samples have no stack, because the thread waits, and speedscope and Chrome's
 * Performance panel do not count them. */
bool v8_nodes_has_frame(const struct json_tree *tree, uint32_t node);
