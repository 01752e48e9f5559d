/*
 * The flame graph of the current query, as rects. Each call node is as wide as its total and lies on its caller.
 * Siblings are ordered by name, so that they keep their places from one query to the next. The graph of an inverted
 * query goes from leaf functions to their callers. There siblings are ordered by weight, then by name: there are many,
 * and the reader looks for the widest.
 *
 * Positions are parts of the whole width, 0 to 1. A request names the part to show and the least width of a rect, so
 * the answer is as large as a screen can show, whatever the size of the profile.
 */
#pragma once

#include "tree/engine.h"

struct flame_part {
    double from, to; /* of the whole width */
};

struct flame_request {
    struct flame_part part; /* that is shown */
    double least;           /* rects narrower than this, in widths of the part, are left out */
};

enum { FLAME_NO_RECT = UINT32_MAX };

struct flame_rect {
    double start, end;            /* in widths of the part, which is 0 to 1: its sides may lie outside */
    double total, self;           /* of a run: the sum of magnitudes, and 0; of a comparison: the changes */
    double base_total, new_total; /* of a comparison, on each side; of a run their sums */
    uint32_t node;   /* handle, valid until the next query; NODE_NONE: this is a run of neighbors, each too narrow */
    uint32_t parent; /* index of the rect it lies on; FLAME_NO_RECT for the first row */
    uint32_t depth;
    uint32_t func;     /* PROFILE_NONE for a run */
    uint32_t category; /* of a run: that of all, else the default one */
    uint32_t count;    /* of nodes: 1, or those of a run */
    uint32_t matches;  /* 0 if a search is active and this func does not match */
};

/* Row by row from the roots on, each from left to right. Zero it to start. */
ARRAY_TYPE(struct flame_rects, struct flame_rect);

/* The rects of the part, those that a call replaces are forgotten. In a comparison a rect is as wide as both
 * sides together. Callees that are (in a profile with negative
 * weights) wider than their caller are squeezed into its width. Opens callers of an inverted tree as far as they are
 * wide enough. At most FLAME_MOST_RECTS. */
int engine_flame(struct engine *engine, const struct flame_request *request, struct flame_rects *rects,
                 struct error *err);

enum { FLAME_MOST_RECTS = 1 << 20 };

/* Where the node with this path is, or the last of the path that exists; the whole for a path that does not begin. */
int engine_flame_find(struct engine *engine, const uint32_t *path, size_t length, struct flame_part *part,
                      struct error *err);
