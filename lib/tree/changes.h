/*
 * The changes of the functions of a comparison, with how far they are known (noise.h): for `prof diff`, `prof check`
 * and the page.
 */
#pragma once

#include "tree/unit_weights.h"

/* The functions of the query of an engine, each with its change. Those that take half a percent of either side are
 * judged, together with the change of the total: of lighter functions no change is found. */
struct func_changes {
    struct func_timings functions; /* in the order that was asked for */
    uint32_t *group_of_func;       /* of those that are judged, else PROFILE_NONE */
    struct change_estimate *estimates;
    size_t length;
    struct change_estimate all;
    struct change_estimate wall_time; /* of runs, ms; not judged */
    double deviation[PROFILE_SIDES];  /* the standard deviation of the totals of the runs, of their mean; 0: one run */
    bool has_wall_time;               /* the weight is a time */
    bool are_runs;                    /* the units are runs, else blocks of time */
};

/* The query is about both sides of a comparison, else -EINVAL. `order`: what of the functions is judged, their self or
 * their total. Destroy it also after a failure. */
int func_changes_find(struct func_changes *changes, struct engine *engine, enum func_order order, struct error *err);
void func_changes_destroy(struct func_changes *changes);

/* How much longer the new side took, ms: of its runs, whatever a query is about. The interval means something where
 * both sides have several; it is not judged. */
int comparison_wall_time(struct change_estimate *wall_time, const struct profile *profile, struct error *err);

/* The change of a function; NULL if it is too light to be judged. */
const struct change_estimate *func_change_of(const struct func_changes *changes, uint32_t func);
