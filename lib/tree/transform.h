/*
 * Transforms drop or merge parts of the stacks. They are applied in order: each works on the result of the one before.
 * Names and meanings are those of the Firefox Profiler; prof adds "drop category", "merge category", the same three
 * transforms for libraries as for categories, "focus frames" and "merge matching". transform_stacks.c applies a
 * transform to stacks, transform_path.c to the path of a row. The marker transform selects samples by time:
 * sample_filter.h applies it.
 */
#pragma once

#include "base/array.h"
#include "profile/profile.h"

struct search;

enum transform_kind {
    TRANSFORM_MERGE_FUNCTION,            /* func: its frames disappear, their time goes to the callers */
    TRANSFORM_MERGE_CALL_NODE,           /* path: the same for the one node at its end */
    TRANSFORM_FOCUS_FUNCTION,            /* func: stacks begin at its outermost frame; stacks without it are dropped */
    TRANSFORM_FOCUS_SUBTREE,             /* path: its last node becomes the root; all other stacks are dropped */
    TRANSFORM_FOCUS_SELF,                /* func: only samples that end in it, without its callers */
    TRANSFORM_FOCUS_CATEGORY,            /* category: drops frames of others, and samples without a frame of it */
    TRANSFORM_DROP_FUNCTION,             /* func: samples with it are dropped */
    TRANSFORM_DROP_CATEGORY,             /* category: samples whose innermost frame has it are dropped */
    TRANSFORM_COLLAPSE_RESOURCE,         /* resource: one func for the whole library; adjacent frames of it become
                                          * one */
    TRANSFORM_COLLAPSE_DIRECT_RECURSION, /* func: adjacent frames of it become one */
    TRANSFORM_COLLAPSE_RECURSION,        /* func: its frames and all in between them are one frame */
    TRANSFORM_COLLAPSE_FUNCTION,         /* func: its callees disappear, and their time becomes its own */
    TRANSFORM_MERGE_CATEGORY,            /* category: its frames disappear, their time goes to the callers */
    TRANSFORM_FOCUS_RESOURCE,            /* resource: drops frames of others, and samples without a frame of it */
    TRANSFORM_DROP_RESOURCE,             /* resource: samples whose innermost frame is in it are dropped */
    TRANSFORM_MERGE_RESOURCE,            /* resource: its frames disappear, their time goes to the callers */
    TRANSFORM_FOCUS_FRAMES, /* enum frame_kind, several: frames of others disappear; samples without any are dropped */
    TRANSFORM_MERGE_MATCHING, /* text: the frames of all functions that a search for it matches disappear, their time
                                 goes to the callers; see search_func_matches() */
    TRANSFORM_FILTER_MARKERS, /* text: samples while no marker lasts that a search for it finds are dropped */
    TRANSFORM_KINDS
};

struct transform {
    enum transform_kind kind;
    uint32_t index; /* func (possibly of a whole resource), category, resource or kinds of frames; unused with a path */
    bool inverted;  /* for TRANSFORM_FOCUS_SUBTREE: the path belongs to the inverted tree, leaf first */
    const uint32_t *path; /* funcs; the owner depends on the list */
    size_t path_length;
    const char *text; /* a search: marker_search.h for TRANSFORM_FILTER_MARKERS, search_filter.h for
                         TRANSFORM_MERGE_MATCHING; borrowed like `path` */
    size_t text_length;
};

bool transform_has_path(enum transform_kind kind);

/* A copy of several, with their paths and texts. Starts zeroed. */
struct transform_list {
    ARRAY(struct transform) items;
};

/* Keeps the first `kept` items, and appends copies of the items of `items` from index `kept`. */
int transform_list_replace(struct transform_list *list, size_t kept, const struct transform *items, size_t count,
                           struct error *err);
/* How many first items are equal. */
size_t transform_list_common(const struct transform_list *list, const struct transform *items, size_t count);
void transform_list_destroy(struct transform_list *list);

/* The tree that a path belongs to. */
struct path_context {
    const struct profile *profile;
    const uint32_t *categories;  /* of the nodes along the path; only focus category and merge category read them */
    const struct search *search; /* that of TRANSFORM_MERGE_MATCHING */
    bool inverted;               /* the path belongs to the inverted tree, leaf first */
};

/* Rewrites `funcs`, the path of a row, into the path of the corresponding row after `transform`; it never gets
 * longer. Length 0: no row corresponds. If the path alone does not determine the row (a callee merged further down
 * an inverted tree), it stays unchanged, and the nearest row is used. */
void transform_path(const struct transform *transform, const struct path_context *context, uint32_t *funcs,
                    size_t *length);
