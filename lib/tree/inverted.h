/*
 * The inverted call tree: roots are the leaf funcs of samples, children are callers. Built from the call-node table and
 * its self times, node by node as the user expands it: the whole inverted tree would be far larger than the table.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/timings.h"

struct inverted_node {
    uint32_t func;
    uint32_t parent;                   /* NODE_NONE for roots */
    uint32_t depth;                    /* 0 for roots */
    uint32_t first, last;              /* the node's range in inverted.order */
    uint32_t first_child, child_count; /* valid once expanded; children have consecutive numbers */
    uint16_t category; /* common category of the node's call nodes; the default category if they differ */
    bool expanded;
    bool has_children;
    double total;
    double side_total[PROFILE_SIDES]; /* of a comparison */
};

struct inverted {
    const struct call_nodes *nodes;
    const struct timings *timings;
    uint32_t default_category;
    /* Call nodes with self time, sorted so that the nodes of one inverted node are adjacent. For each call node, its
     * caller at the depth of the children of the innermost expanded inverted node. */
    uint32_t *order;
    uint32_t *deep;
    size_t length;
    uint32_t *group_of_func; /* scratch: all NODE_NONE between calls */
    ARRAY(struct inverted_node) tree;
    uint32_t root_count; /* roots are tree[0 .. root_count - 1], by func */
};

/* Creates the roots. `nodes` and `timings` must outlive the tree and not change. */
int inverted_init(struct inverted *inverted, const struct call_nodes *nodes, const struct timings *timings,
                  uint32_t default_category, struct error *err);

/* Creates the children of a node unless they exist. Nodes move: keep indexes, not pointers. */
int inverted_expand(struct inverted *inverted, uint32_t node, struct error *err);

void inverted_destroy(struct inverted *inverted);
