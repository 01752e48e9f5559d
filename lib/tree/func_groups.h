/*
 * Groups of functions, each with one total: what `std` costs, the crate `serde`, the sources in `net/`, or functions
 * that match terms of a search.
 */
#pragma once

#include "tree/call_nodes.h"
#include "tree/timings.h"

enum func_grouping {
    FUNCS_BY_NAMESPACE, /* the outermost namespace in C++, the crate in Rust, the package in Go and Java */
    FUNCS_BY_DIRECTORY, /* the directory of the source file */
    FUNCS_BY_TERM       /* the first matching term of a search (search_filter.h), as typed */
};

/* Starts zeroed. */
struct func_groups {
    ARRAY(uint32_t) of_func; /* group of each func of the profile */
    struct strings names;    /* name of each group. The last group of FUNCS_BY_TERM is "(other)". Functions
                              * without a namespace or a file have their library as the group. */
};

/* Groups all functions of the profile. `terms` is used only by FUNCS_BY_TERM. */
int func_groups_find(struct func_groups *groups, const struct profile *profile, enum func_grouping by,
                     const char *terms, struct error *err);

/* Sums the groups on the counted stacks, heaviest by total first; `func` of a row is the group. A sample counts once
 * for each group on its stack. Destroy the rows with func_timings_destroy(). */
int func_groups_sum(struct func_timings *rows, const struct func_groups *groups, const struct call_nodes *nodes,
                    const struct timings *timings, struct error *err);

void func_groups_destroy(struct func_groups *groups);
