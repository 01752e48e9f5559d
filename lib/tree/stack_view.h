/*
 * The stacks as a tree sees them: for each stack its caller, its func and its category. This is where the passes over
 * tables begin. The first view comes from the profile itself; a transform (merge, focus, collapse ...) makes another
 * view from it, and everything after that (call nodes, search, timings) does not know the difference.
 */
#ifndef PROF_TREE_STACK_VIEW_H
#define PROF_TREE_STACK_VIEW_H

#include "profile/profile.h"

struct stack_view {
    uint32_t *prefix; /* the caller, smaller than the own index; PROFILE_NONE for roots */
    uint32_t *frame;
    uint32_t *func;
    uint16_t *category; /* of the frame, else of the caller, else the default; always in range */
    size_t length;
    uint32_t func_count;
    uint32_t category_count; /* at least 1 */
    uint32_t default_category;
    bool owns_tables; /* prefix and frame are the view's own, not the profile's */
};

/* The view of a checked profile. Its prefixes and frames are used in place: it must outlive the view. */
int stack_view_init(struct stack_view *view, const struct profile *profile, struct error *err);

void stack_view_destroy(struct stack_view *view);

#endif
