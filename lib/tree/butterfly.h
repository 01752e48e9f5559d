/*
 * The butterfly, or sandwich: the callers and callees of a function, in all call paths. Two trees begin at the focus
 * function: the callers are the inverted tree of its total, the callees are the call tree of the stacks from the
 * function down.
 *
 * Recursion counts once: the outermost frame of the function splits the stack. So the callees are the tree of the
 * transform "focus function", and the callers are the inverted tree of "collapse function".
 *
 * The focus may also be a library or a category. Many stacks leave and re-enter a library (the C library starts the
 * program, which calls the C library), so the last entry splits the stack: callers are the callers of this entry, and
 * callees start at the entered function.
 *
 * Like the inverted tree (inverted.h), both trees are built from the call-node table, node by node as the user expands
 * them.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/timings.h"
#include "tree/tree_rows.h"

enum butterfly_kind { BUTTERFLY_FUNCTION, BUTTERFLY_LIBRARY, BUTTERFLY_CATEGORY };

struct butterfly_focus {
    enum butterfly_kind kind;
    uint32_t index; /* func, resource or category */
};

enum butterfly_side { BUTTERFLY_CALLERS, BUTTERFLY_CALLEES };

/* A call node of a butterfly node, and the node at which its stack was split. */
struct butterfly_member {
    uint32_t top, node;
};

ARRAY_TYPE(struct butterfly_members, struct butterfly_member);

struct butterfly_node {
    uint32_t func;
    uint32_t depth;                    /* number of calls between the node and the focus, 0 next to the focus */
    uint32_t first, last;              /* range of the node's members */
    uint32_t first_child, child_count; /* valid once the node is expanded; children have consecutive numbers */
    uint16_t category;                 /* common category of all members; the default category if they differ */
    bool expanded;
    bool has_children;
    double total;
    double self;                              /* 0 for callers, whose self time is not time of the focus */
    struct side_figures sides[PROFILE_SIDES]; /* of a comparison */
};

struct butterfly_tree {
    ARRAY(struct butterfly_node) nodes; /* [0] is the focus itself */
    struct butterfly_members members;
};

struct butterfly {
    const struct call_nodes *nodes;
    const struct timings *timings;
    uint32_t default_category;
    struct butterfly_focus focus;
    struct butterfly_tree sides[2];
    struct butterfly_members scratch;
    /* For a library or category, each node has the last entry into the library or category at or above the node
     * (NODE_NONE: none), the weight at and below the node with that entry, and whether any self below is not 0.
     * Otherwise NULL. */
    uint32_t *entry;
    double *own_total;
    double *own_side_total[PROFILE_SIDES]; /* of a comparison */
    uint8_t *own_alive;
    uint32_t *group_of_func;                         /* scratch of an expansion, all NODE_NONE between calls */
    double total;                                    /* weight of samples with the focus in the stack */
    double self;                                     /* weight of samples that end in the focus */
    struct side_figures side_figures[PROFILE_SIDES]; /* totals and selves per side of a comparison */
};

/* Finds the focus. `nodes` and `timings` must outlive the butterfly and not change. */
int butterfly_init(struct butterfly *butterfly, const struct profile *profile, const struct call_nodes *nodes,
                   const struct timings *timings, uint32_t default_category, struct butterfly_focus focus,
                   struct error *err);

void butterfly_destroy(struct butterfly *butterfly);

/* Lists the children of a node of one side (NODE_NONE: of the focus), heaviest first. -EINVAL for an invalid handle. */
int butterfly_list_children(struct butterfly *butterfly, enum butterfly_side side, uint32_t node,
                            struct tree_rows *rows, struct error *err);

/* Lists the rows below a node, at most `limit`, depth first, each level heaviest first. */
int butterfly_list_descendants(struct butterfly *butterfly, enum butterfly_side side, uint32_t node, size_t limit,
                               struct tree_rows *rows, struct error *err);
