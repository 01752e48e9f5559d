/*
 * Computes self and total time of every call node and of every func.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/weights.h"

/* Self and total of one side of a comparison. */
struct side_figures {
    double total, self;
};

struct timings {
    double *self;   /* for each node, weight of the samples that end in the node */
    double *total;  /* for each node, weight of the samples that end in the node or below */
    uint8_t *alive; /* for each node, 1 if the tree shows the node: its self or a descendant's self is not 0 */
    size_t length;
    double root_total; /* the sum of |self|: 100 % */
    uint64_t samples;  /* counted samples */
    double all_total;  /* root_total of the query without its search */
    uint64_t all_samples;

    /* For a comparison: the timings of each side, whose difference the members above have; otherwise NULL. */
    struct timings *sides;
    double *rank; /* for each node, the largest |total| of the node and its descendants, which orders rows, or NULL
                   * (|total|) */
};

/*
 * `matching` is NULL or has a byte per node: 0 if samples that end in the node do not count. The caller zeroes the
 * struct once; later calls reuse its memory.
 */
int timings_compute(struct timings *timings, const struct call_nodes *nodes, const struct stack_weights *weights,
                    const uint8_t *matching, struct error *err);

/* Sets `timings` to the change from one side to the other, node by node (see compared.h). Takes ownership of both
 * sides, which have the same nodes, even on failure. A node is alive if the node is alive on either side. */
int timings_set_change(struct timings *timings, struct timings sides[PROFILE_SIDES], const struct call_nodes *nodes,
                       struct error *err);

/* Returns the magnitude that orders a node among its siblings. */
static inline double timings_get_magnitude(const struct timings *timings, uint32_t node)
{
    double total = timings->rank ? timings->rank[node] : timings->total[node];
    return total < 0 ? -total : total;
}

/* Returns whether samples end in a node, on either side. */
static inline bool timings_has_self(const struct timings *timings, size_t node)
{
    if (timings->sides)
        return timings->sides[SIDE_BASE].self[node] != 0 || timings->sides[SIDE_NEW].self[node] != 0;
    return timings->self[node] != 0;
}

void timings_destroy(struct timings *timings);

/* ---- the function list ---- */

struct func_timing {
    uint32_t func; /* func, resource or category */
    double total;  /* weight of the samples with this func in their stack; recursion counts once */
    double self;
    struct side_figures
        sides[PROFILE_SIDES]; /* figures of both sides of a comparison; total and self are the differences */
};

struct func_timings {
    struct func_timing *rows;
    size_t length;
};

enum func_order { FUNCS_BY_SELF, FUNCS_BY_TOTAL };

/* Lists the funcs on the counted stacks, heaviest (by magnitude) first; equal sums are ordered by the other sum, then
 * by index. */
int func_timings_compute(struct func_timings *rows, const struct call_nodes *nodes, const struct timings *timings,
                         enum func_order order, struct error *err);

/* Lists groups of nodes: `func` is the group. A sample counts once for each group on its stack. */
int sum_node_groups(struct func_timings *rows, const struct call_nodes *nodes, const struct timings *timings,
                    const uint32_t *group_of_node, size_t groups, enum func_order order, struct error *err);

/* Lists the libraries: `func` is a resource, or PROFILE_NONE for funcs without a library. A sample counts once for each
 * library on its stack. Lists the categories of nodes, by self. */
int group_timings_compute(struct func_timings *rows, const struct profile *profile, const struct call_nodes *nodes,
                          const struct timings *timings, bool are_libraries, uint32_t category_count,
                          struct error *err);

void func_timings_destroy(struct func_timings *rows);
