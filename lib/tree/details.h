/*
 * The sidebar's data of one node: categories of its samples, source lines of its own frame, and inlining.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/weights.h"

/* The func at the root of a truncated stack. */
#define TRUNCATED_NAME "(truncated)"

struct category_weight {
    uint32_t category;
    double weight;
};

struct line_weight {
    uint32_t line; /* 1-based line in the source file of the func */
    double total;  /* weight of samples with the node's frame at this line */
    double self;   /* weight of samples with their leaf at this line */
};

enum inlining { INLINED_NEVER, INLINED_SOMETIMES, INLINED_ALWAYS };

/* Per func: enum inlining of its frames in the whole profile. Starts zeroed. */
ARRAY_TYPE(struct func_inlining, uint8_t);

/* Fills the array once; later calls do nothing. The caller frees it with array_free(). */
int func_inlining_compute(struct func_inlining *inlining, const struct profile *profile, struct error *err);

ARRAY_TYPE(struct category_weights, struct category_weight);

struct node_details {
    struct category_weights categories_total; /* heaviest first; category of a sample's innermost frame, even if a
                                               * transform merged the frame */
    struct category_weights categories_self;
    ARRAY(struct line_weight) lines; /* heaviest first; empty for a func that represents a library */
    double truncated;                /* weight of samples with a truncated stack */
    enum inlining inlining;          /* inlining of the node's frames in counted samples */
    uint32_t inlined_into;           /* string: the symbol of all inlined frames, or PROFILE_NONE for no common
                                      * symbol */
};

/* Which samples count: see timings_compute(). */
struct counted_stacks {
    const struct stack_view *stacks;
    const struct call_nodes *nodes;
    const struct stack_weights *weights;
    const uint8_t *matching; /* per node, or NULL */
};

/* Returns the weight of a stack's counted samples. */
static inline double counted_stacks_get_weight(const struct counted_stacks *counted, size_t stack)
{
    uint32_t node = counted->nodes->of_sample[stack];
    if (node == NODE_NONE || (counted->matching && !counted->matching[node]))
        return 0;
    return counted->weights->of_stack[stack];
}

/* The subject of details: an inverted node, a call node, or a func (its innermost frame in each stack). */
struct details_subject {
    const uint32_t *path; /* path of an inverted node: leaf func first, length at least 1, or NULL (the subject is no
                           * inverted node) */
    size_t path_length;
    uint32_t node; /* NODE_NONE: use the func */
    uint32_t func;
};

/* Computes the details. The caller zeroes `details`. */
int node_details_compute(struct node_details *details, const struct profile *profile,
                         const struct counted_stacks *counted, const struct details_subject *subject,
                         struct error *err);

void node_details_destroy(struct node_details *details);
