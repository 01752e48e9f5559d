/*
 * The changes of the functions of a comparison, with confidence intervals (noise.h): for `prof diff`, `prof check` and
 * the page.
 */
#pragma once

#include "tree/unit_weights.h"

/* The functions of an engine's query, each with its change. Judges the total and the functions with at least 0.5% of
 * either side; functions below this limit never count as changed. */
struct func_changes {
    struct func_timings functions; /* in the requested order */
    uint32_t *group_of_func;       /* index of the func's change, or PROFILE_NONE for a func that is not judged */
    struct change_estimate *estimates;
    size_t length;
    struct change_estimate all;
    struct change_estimate wall_time; /* wall times of the runs, ms; without a significance test */
    double deviation[PROFILE_SIDES];  /* relative standard deviation of the runs' totals, or 0 with one run */
    bool has_wall_time;               /* the weight is a time */
    bool are_runs;                    /* the units of the statistics are runs or intervals; false: blocks of time */
    bool are_intervals;               /* the units are intervals: see unit_weights.h */
};

/* -EINVAL unless the query covers both sides of a comparison. `order`: judges self or total. Call
 * func_changes_destroy() also after a failure. */
int func_changes_find(struct func_changes *changes, struct engine *engine, enum func_order order, struct error *err);
void func_changes_destroy(struct func_changes *changes);

/* Computes how much longer (ms) the runs of the new side took, independent of any query. The interval is valid if both
 * sides have several runs. Sets no verdict. */
int estimate_wall_time_change(struct change_estimate *wall_time, const struct profile *profile, struct error *err);

/* Returns the change of a function, or NULL if its time is below the limit for judging. */
const struct change_estimate *get_func_change(const struct func_changes *changes, uint32_t func);
