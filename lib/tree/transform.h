/*
 * Transforms drop or merge parts of the stacks. Each transform works on the result of the previous transform. Names and
 * meanings come from the Firefox Profiler. prof adds "drop category", "merge category", the same three transforms for
 * libraries as for categories, "focus frames" and "merge matching". transform_stacks.c applies a transform to stacks,
 * transform_path.c to the path of a row. The marker transform selects samples by time: sample_filter.h applies it.
 */
#pragma once

#include "base/array.h"
#include "profile/profile.h"

struct search;

enum transform_kind {
    TRANSFORM_MERGE_FUNCTION,    /* func: its frames disappear, their time goes to the callers */
    TRANSFORM_MERGE_CALL_NODE,   /* path: its last node disappears, its time goes to the caller */
    TRANSFORM_FOCUS_FUNCTION,    /* func: stacks begin at its outermost frame; stacks without it are dropped */
    TRANSFORM_FOCUS_SUBTREE,     /* path: its last node becomes the root; all other stacks are dropped */
    TRANSFORM_FOCUS_SELF,        /* func: only samples that end in the func, without its callers */
    TRANSFORM_FOCUS_CATEGORY,    /* category: frames of other categories disappear; samples without any are dropped */
    TRANSFORM_DROP_FUNCTION,     /* func: samples with the func are dropped */
    TRANSFORM_DROP_CATEGORY,     /* category: samples whose innermost frame has the category are dropped */
    TRANSFORM_COLLAPSE_RESOURCE, /* resource: one func for the whole library; adjacent frames of the library
                                  * become one */
    TRANSFORM_COLLAPSE_DIRECT_RECURSION, /* func: adjacent frames of the func become one */
    TRANSFORM_COLLAPSE_RECURSION,        /* func: its frames, and all frames between them, become one */
    TRANSFORM_COLLAPSE_FUNCTION,         /* func: its callees disappear, and their time becomes its own */
    TRANSFORM_MERGE_CATEGORY, /* category: the frames of the category disappear, and their callers get their time */
    TRANSFORM_FOCUS_RESOURCE, /* resource: frames of other libraries disappear; samples without any are dropped */
    TRANSFORM_DROP_RESOURCE,  /* resource: samples whose innermost frame is in the library are dropped */
    TRANSFORM_MERGE_RESOURCE, /* resource: its frames disappear, their time goes to the callers */
    TRANSFORM_FOCUS_FRAMES,   /* frame kinds: other frames disappear; samples without any are dropped */
    TRANSFORM_MERGE_MATCHING, /* text: the frames of all functions that match the search disappear, their time goes to
                               * the callers; see search_func_matches() */
    TRANSFORM_FILTER_MARKERS, /* text: samples outside of the markers that a search for the text finds are dropped */
    TRANSFORM_KINDS
};

/* The sides of a comparison whose samples a marker transform drops. A side counts only its own markers. With `slowest`
 * and any value but FILTER_BOTH_SIDES, the weights of a side are means per interval. */
enum filtered_sides {
    FILTER_BOTH_SIDES,
    FILTER_SPLIT, /* both, for `slowest` in a comparison of a profile with itself: the base counts the other intervals
                   */
    FILTER_BASE,
    FILTER_NEW,
    FILTERED_SIDES
};

struct transform {
    enum transform_kind kind;
    uint32_t index; /* func (or func of a resource), category, resource or set of frame kinds (unused in transforms
                     * with a path) */
    bool inverted;  /* for TRANSFORM_FOCUS_SUBTREE: the path belongs to the inverted tree, leaf first */
    const uint32_t *path; /* funcs; owned by a struct transform_list, else borrowed */
    size_t path_length;
    const char *text; /* a search: marker_search.h for TRANSFORM_FILTER_MARKERS, search_filter.h for
                         TRANSFORM_MERGE_MATCHING; borrowed like `path` */
    size_t text_length;
    double slowest; /* for TRANSFORM_FILTER_MARKERS: only this share of the intervals, the longest, and only samples of
                     * the thread of an interval; 0: all intervals, and samples of all threads */
    enum filtered_sides sides; /* for TRANSFORM_FILTER_MARKERS, in a comparison */
};

bool transform_has_path(enum transform_kind kind);

/* A list of transforms that owns copies of their paths and texts. Starts zeroed. */
struct transform_list {
    ARRAY(struct transform) items;
};

/* Keeps the first `kept` items, and appends copies of `items`, starting at index `kept`. */
int transform_list_replace(struct transform_list *list, size_t kept, const struct transform *items, size_t count,
                           struct error *err);
/* Returns the length of the common prefix of both lists. */
size_t transform_list_measure_common(const struct transform_list *list, const struct transform *items, size_t count);
void transform_list_destroy(struct transform_list *list);

/* Context of a path: the tree that the path belongs to. */
struct path_context {
    const struct profile *profile;
    const uint32_t *categories;  /* categories of the nodes on the path, for focus category and merge category */
    const struct search *search; /* search of TRANSFORM_MERGE_MATCHING */
    bool inverted;               /* the path belongs to the inverted tree, leaf first */
};

/* Rewrites `funcs`, the path of a row, into the path of the corresponding row after `transform`, which is not longer.
 * The result has length 0 if no row corresponds. If the path alone does not determine the row (a callee merged further
 * down an inverted tree), the path stays unchanged, and callers use the nearest row. */
void transform_rewrite_path(const struct transform *transform, const struct path_context *context, uint32_t *funcs,
                            size_t *length);
