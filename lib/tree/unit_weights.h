/*
 * What each run of a comparison counts of each function, or each block of time where there is one run. From how these
 * units differ follows how far a change is known (noise.h).
 *
 * Of what a stack counts, all of its functions have a part: to add it to each of them would take most of the time, of
 * two million samples that are 40 deep. So nodes of the call tree with many samples have a row of units of their own:
 * a sample adds to the functions up to there and to that row, and the rows are added to their callers at the end.
 */
#pragma once

#include "tree/engine.h"
#include "tree/noise.h"

/* What each unit of each side counts, of groups of functions. */
struct unit_weights {
    size_t groups, count[PROFILE_SIDES];
    bool are_runs;
    double least[PROFILE_SIDES];      /* that a sample counts */
    double *of_groups[PROFILE_SIDES]; /* [group * count + unit] */
    double *all[PROFILE_SIDES];       /* [unit]: of all samples */
};

/* One pass over the samples of the query of the engine, which is about both sides. `group_of_func`: per func of its
 * nodes, PROFILE_NONE for those of no interest. `order`: what of the groups is summed, self or total; a stack with
 * several functions of a group counts once for its total. Destroy it also after a failure. */
int unit_weights_sum(struct unit_weights *weights, const struct engine *engine, const uint32_t *group_of_func,
                     size_t groups, enum func_order order, struct error *err);
void unit_weights_destroy(struct unit_weights *weights);

struct change_estimate unit_weights_change(const struct unit_weights *weights, size_t group);
struct change_estimate unit_weights_change_of_all(const struct unit_weights *weights);
