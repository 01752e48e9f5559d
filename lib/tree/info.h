/*
 * What a profile says about itself, as label and text: for the head of `prof report` and the info panel of the page.
 */
#ifndef PROF_TREE_INFO_H
#define PROF_TREE_INFO_H

#include "base/arena.h"
#include "profile/profile.h"

struct fact {
    const char *label, *value; /* owned by the arena, or literals */
};

ARRAY_TYPE(struct fact_list, struct fact);

/* Facts that are known, in the order in which they are shown: command, system, CPU, cores, memory ... */
int facts_of_profile(struct fact_list *facts, struct arena *arena, const struct profile *profile, struct error *err);

/* The entries of one section of meta.extra, each written as its marker format asks (bytes, duration, percentage ...).
 */
int facts_of_section(struct fact_list *facts, struct arena *arena, const struct profile *profile,
                     const struct extra_section *section, struct error *err);

#endif
