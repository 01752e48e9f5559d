/*
 * The weights of a profile as data, any number of them: what the page offers and `prof report --weight` takes. A weight
 * more (an event that is recorded beside others) is one entry more here, and no change anywhere else.
 */
#pragma once

#include "base/array.h"
#include "tree/weights.h"

struct weight {
    const char *id;    /* in addresses of the page, and of --weight */
    const char *label; /* for people */
    const char *hint;  /* what a sample counts then, in a sentence */
    const char *unit;  /* "samples", "ms", "bytes", or what else is counted: see weight_text() */
    enum sample_weight kind;
    enum sample_table_kind table; /* that it counts */
};

ARRAY_TYPE(struct weight_list, struct weight);

/* Whether the time samples have what it takes, and it is not the same as WEIGH_RECORDED. */
bool weight_is_held(const struct profile *profile, enum sample_weight weight);

/* Whether a thread has what one of the list counts. */
bool weight_is_offered(const struct profile *profile, const struct weight *weight);

bool weight_needs_cpu_times(enum sample_weight weight);

/* Fills the list with the weights that the profile has. The first one is the default: what was recorded; of a profile
 * with recorded waits, which hold CPU time and waits in one, CPU time; of one whose CPU time was not sampled, the first
 * event. The caller frees it. */
int weights_of_profile(struct weight_list *list, const struct profile *profile, struct error *err);

/* The weight with this id, whether the profile has what it takes or not. False: there is none. */
bool weights_find(const struct profile *profile, const char *id, struct weight *weight);
