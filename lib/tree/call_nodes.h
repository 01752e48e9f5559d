/*
 * The call-node table: the stack table with all frames of one func under one caller merged into one node. The table
 * depends only on tables, not on samples, so each stack view has one.
 *
 * Nodes are numbered depth first. The nodes below n are exactly n + 1 .. end[n] - 1; the first child of n is n + 1, if
 * n + 1 is below end[n]. The next sibling of a child c is end[c], if end[c] is below the end of the parent.
 */
#pragma once

#include "tree/stack_view.h"

#define NODE_NONE UINT32_MAX

struct call_nodes {
    uint32_t *prefix; /* NODE_NONE for roots */
    uint32_t *end;    /* one past the last node of the subtree */
    uint32_t *func;
    uint32_t *depth;    /* 0 for roots */
    uint16_t *category; /* common category of the node's stacks; the default category if they differ */
    size_t length;
    uint32_t *of_stack;  /* stack of the view -> node, or NODE_NONE for an unused stack */
    uint32_t *of_sample; /* stack of the profile -> node in which its samples end, or NODE_NONE for no sample counts.
                            equal to of_stack unless the view was transformed */
    size_t stack_count;
    uint32_t func_count;
};

/* Builds the table in time linear in the number of stacks. */
int call_nodes_init(struct call_nodes *nodes, const struct stack_view *stacks, struct error *err);

void call_nodes_destroy(struct call_nodes *nodes);

/* Where the children of `node` (NODE_NONE: the roots) begin and end, for
 *     for (uint32_t c = call_nodes_get_first_child(nodes, n); c < call_nodes_get_children_end(nodes, n); c =
 * nodes->end[c])
 */
static inline uint32_t call_nodes_get_first_child(const struct call_nodes *nodes, uint32_t node)
{
    (void)nodes;
    return node == NODE_NONE ? 0 : node + 1;
}

static inline uint32_t call_nodes_get_children_end(const struct call_nodes *nodes, uint32_t node)
{
    return node == NODE_NONE ? (uint32_t)nodes->length : nodes->end[node];
}
