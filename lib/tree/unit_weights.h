/*
 * The time of each function in each run of a comparison, in each interval, or in each block of time of a single run.
 * The variance of the times gives the confidence interval of a change (noise.h). Adding a sample to each function of
 * its stack would take most of the time of a comparison (two million samples, 40 frames deep). So heavy nodes of the
 * call tree have a row of units: a sample is added to its nearest row and to the functions below this row, and at the
 * end each row is added to its callers.
 */
#pragma once

#include "tree/engine.h"
#include "tree/noise.h"

/* The weight of groups of functions in each unit of each side. */
struct unit_weights {
    size_t groups, count[PROFILE_SIDES];
    bool are_runs;      /* the units are runs, or intervals; else blocks of time */
    bool are_intervals; /* the units are groups of the intervals that a transform splits: each unit has the same number
                           of intervals */
    double least[PROFILE_SIDES];      /* smallest weight of a sample */
    double *of_groups[PROFILE_SIDES]; /* [group * count + unit] */
    double *all[PROFILE_SIDES];       /* [unit]: weight of all samples */
};

/* Reads each sample of the engine's query once. The query must cover both sides. `group_of_func` has the group of each
 * func, or PROFILE_NONE. `order` selects self or total; a stack with several functions of a group counts once for the
 * group's total. Call unit_weights_destroy() even after a failure. */
int unit_weights_sum(struct unit_weights *weights, const struct engine *engine, const uint32_t *group_of_func,
                     size_t groups, enum func_order order, struct error *err);
void unit_weights_destroy(struct unit_weights *weights);

struct change_estimate unit_weights_estimate_change(const struct unit_weights *weights, size_t group);
struct change_estimate unit_weights_estimate_change_of_all(const struct unit_weights *weights);
