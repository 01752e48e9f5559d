/*
 * The weights that a profile offers: for the page and `prof report --weight`. Another recorded event becomes another
 * entry of the list, without other changes.
 */
#pragma once

#include "base/array.h"
#include "tree/weights.h"

struct weight {
    const char *id;    /* name in URLs of the page and for --weight */
    const char *label; /* for people */
    const char *hint;  /* one sentence: the meaning of a sample's weight */
    const char *unit;  /* "samples", "ms", "bytes", or the counted event: see format_weight() */
    enum sample_weight kind;
    enum sample_table_kind table; /* sample table that the weight counts */
};

ARRAY_TYPE(struct weight_list, struct weight);

/* Returns whether the samples have the data for the weight, and the weight differs from WEIGH_RECORDED. */
bool profile_has_weight(const struct profile *profile, enum sample_weight weight);

/* Returns whether a thread has the data for a weight of the list. */
bool profile_offers_weight(const struct profile *profile, const struct weight *weight);

bool weight_needs_cpu_times(enum sample_weight weight);

/* Fills the list with the weights that the profile has. The first weight is the default: the recorded weight; CPU time
 * if the profile has recorded waits, whose recorded weight mixes CPU time and waits; the first event if CPU time was
 * not sampled. The caller frees it. */
int list_weights(struct weight_list *list, const struct profile *profile, struct error *err);

/* Finds the weight with this id, even if the profile lacks its data. Returns false if the id is unknown. */
bool find_weight_by_id(const struct profile *profile, const char *id, struct weight *weight);
