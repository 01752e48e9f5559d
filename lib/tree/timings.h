/*
 * Computes self and total time of every call node and of every func.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/weights.h"

struct timings {
    double *self;   /* per node: of the samples that end in it */
    double *total;  /* per node: of the samples that end in it or below */
    uint8_t *alive; /* per node: 1 if it or a node below has a self that is not 0: what a tree shows */
    size_t length;
    double root_total; /* the sum of |self|: the 100 % of percentages */
    uint64_t samples;  /* that are counted */
    double all_total;  /* both as they are without the search */
    uint64_t all_samples;
};

/*
 * `matching`: one byte per node, 0 where samples that end in it do not count (search), or NULL. Uses the memory of an
 * earlier call with the same struct, which is zeroed at first.
 */
int timings_compute(struct timings *timings, const struct call_nodes *nodes, const struct stack_weights *weights,
                    const uint8_t *matching, struct error *err);

void timings_destroy(struct timings *timings);

/* ---- the function list ---- */

struct func_timing {
    uint32_t func; /* or what else is listed */
    double total;  /* of the samples with this func anywhere in their stack: recursion counts once */
    double self;
};

struct func_timings {
    struct func_timing *rows;
    size_t length;
};

enum func_order { FUNCS_BY_SELF, FUNCS_BY_TOTAL };

/* The funcs that some counted sample has, heaviest (by magnitude) first; ties by the other figure, then by index. */
int func_timings_compute(struct func_timings *rows, const struct call_nodes *nodes, const struct timings *timings,
                         enum func_order order, struct error *err);

/* The same for libraries: `func` is a resource, or PROFILE_NONE for what is in none; a sample counts once for each
 * library that its stack has a func of. Or for the categories of nodes. By self. */
int group_timings_compute(struct func_timings *rows, const struct profile *profile, const struct call_nodes *nodes,
                          const struct timings *timings, bool are_libraries, uint32_t category_count,
                          struct error *err);

void func_timings_destroy(struct func_timings *rows);
