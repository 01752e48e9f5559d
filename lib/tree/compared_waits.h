/*
 * The waits of a comparison, with confidence intervals (noise.h). Rows of both sides match by name, without the parts
 * of names that differ between runs (wait_names.h), and groups of equal names add up.
 *
 * With several runs on both sides, the totals of the runs give the interval of a change. With one run, the number of
 * waits is random, like the number of blocks in noise.h. The variance of the total is then the sum of the squares of
 * the waits' lengths. The variance of the estimate of unseen waits (`total_error` of wait_groups.h) adds up with it.
 * One long wait therefore never exceeds noise, and a hundred equal waits exceed noise if their total changes by about a
 * third.
 */
#pragma once

#include "tree/noise.h"
#include "tree/wait_groups.h"
#include "tree/wait_json.h"

struct compared_wait {
    uint32_t name;               /* string of `names` */
    uint32_t reason;             /* reason of the largest group: subcategory of "Idle", or PROFILE_NONE */
    uint32_t own_func, own_line; /* of the longest wait of the largest group, as in struct wait_group */
    double ms[PROFILE_SIDES];    /* mean time of the runs, the new side times the scale */
    double count[PROFILE_SIDES]; /* mean number of waits of the runs, the new side times the scale */
    struct longest_wait longest[PROFILE_SIDES];
    uint32_t estimate; /* index of the change, or PROFILE_NONE: the row has less than 0.5 % of both sides */
};

struct compared_waits {
    struct strings names;
    ARRAY(struct compared_wait) list; /* rows, largest change first */
    struct change_estimate *estimates;
    size_t estimate_count;
    struct change_estimate all; /* change of the time off CPU */
    bool are_runs;              /* the runs give the intervals; false: the waits give the intervals */
};

/* Whether groups have names by which they match. Stacks and pairs do not. */
static inline bool can_compare_waits(enum wait_grouping grouping)
{
    return grouping < WAIT_GROUPINGS && grouping != WAITS_BY_STACK && grouping != WAITS_BY_OBJECT_AND_WAKER;
}

/* Fills the zeroed struct with the waits of the engine's query, of both sides. -EINVAL unless the profile is a
 * comparison and can_compare_waits(). Call compared_waits_destroy() also after a failure. */
int compared_waits_find(struct compared_waits *waits, struct engine *engine, enum wait_grouping grouping,
                        struct error *err);

void compared_waits_destroy(struct compared_waits *waits);

/* Returns the change of a row, or NULL if it is not judged. */
const struct change_estimate *get_wait_change(const struct compared_waits *waits, const struct compared_wait *row);

/* Writes a row as an object of `prof diff --waits --json`. */
void compared_wait_write(struct json_writer *json, const struct compared_waits *waits, const struct compared_wait *row,
                         const struct engine *engine);
