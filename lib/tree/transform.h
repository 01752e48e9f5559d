/*
 * Transforms: what a user drops from the stacks, or merges, to see the rest. They are applied in order: each works on
 * the result of the one before. Their names and their meaning are those of the Firefox Profiler, but for "drop
 * category", "merge category", the same three for libraries as for categories, "focus frames" and "merge matching",
 * which are prof's own; transform_stacks.c says what each does to stacks, transform_path.c to the path of a row. The
 * one by markers is about the time of samples, and in any place of the stack the same: sample_filter.h does it.
 */
#pragma once

#include "base/array.h"
#include "profile/profile.h"

struct search;

enum transform_kind {
    TRANSFORM_MERGE_FUNCTION,            /* func: its frames disappear, their time goes to the callers */
    TRANSFORM_MERGE_CALL_NODE,           /* path: the same for the one node at its end */
    TRANSFORM_FOCUS_FUNCTION,            /* func: stacks begin at its outermost frame; the others are dropped */
    TRANSFORM_FOCUS_SUBTREE,             /* path: only what is below its end, which becomes the root */
    TRANSFORM_FOCUS_SELF,                /* func: only samples that end in it, without its callers */
    TRANSFORM_FOCUS_CATEGORY,            /* category: frames of others disappear; samples without any are dropped */
    TRANSFORM_DROP_FUNCTION,             /* func: samples with it are dropped */
    TRANSFORM_DROP_CATEGORY,             /* category: samples whose innermost frame has it are dropped */
    TRANSFORM_COLLAPSE_RESOURCE,         /* resource: one func for all of it; a run of its frames is one frame */
    TRANSFORM_COLLAPSE_DIRECT_RECURSION, /* func: a run of its frames is one frame */
    TRANSFORM_COLLAPSE_RECURSION,        /* func: its frames and all in between them are one frame */
    TRANSFORM_COLLAPSE_FUNCTION,         /* func: what it calls disappears, the time is its own */
    TRANSFORM_MERGE_CATEGORY,            /* category: its frames disappear, their time goes to the callers */
    TRANSFORM_FOCUS_RESOURCE,            /* resource: frames of others disappear; samples without any are dropped */
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
    uint32_t index; /* func (those of whole resources as well), category, resource or kinds of frames; no meaning with a
                       path */
    bool inverted;  /* of TRANSFORM_FOCUS_SUBTREE: the path is one of the inverted tree, leaf first */
    const uint32_t *path; /* funcs; whoever owns it */
    size_t path_length;
    const char *text; /* of TRANSFORM_FILTER_MARKERS a search of marker_search.h, of TRANSFORM_MERGE_MATCHING one of
                         search.h; whoever owns it */
    size_t text_length;
};

bool transform_has_path(enum transform_kind kind);

/* A copy of several, with their paths and texts. Starts zeroed. */
struct transform_list {
    ARRAY(struct transform) items;
};

/* Keeps the first `kept` items and appends copies of those from `kept` on of `items`. */
int transform_list_replace(struct transform_list *list, size_t kept, const struct transform *items, size_t count,
                           struct error *err);
/* How many first items are equal. */
size_t transform_list_common(const struct transform_list *list, const struct transform *items, size_t count);
void transform_list_destroy(struct transform_list *list);

/* What a path needs to know of the tree in which it is a path. */
struct path_context {
    const struct profile *profile;
    const uint32_t
        *categories; /* of the nodes along the path; only those to focus on and to merge a category look at them */
    const struct search *search; /* that of TRANSFORM_MERGE_MATCHING */
    bool inverted;               /* the path is one of the inverted tree, leaf first */
};

/* Rewrites `funcs`, the path of a row, into that of the row that stands for it once `transform` is done; it never gets
 * longer. Length 0: nothing stands for it. Where the path alone does not show it (a callee merged further down an
 * inverted tree), it stays: the nearest row is then the best that there is. */
void transform_path(const struct transform *transform, const struct path_context *context, uint32_t *funcs,
                    size_t *length);
