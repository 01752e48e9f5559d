/*
 * The flame graph of the query, as rects. Each call node is as wide as its total and lies on its caller. Siblings are
 * ordered by name, so they keep their positions between queries. The graph of an inverted query leads from leaf
 * functions to their callers; its siblings are ordered by weight, then by name, because the widest of many siblings
 * matter. The leaf functions of its tail, each below FLAME_TAIL of the whole, are ordered by library, the heaviest
 * first.
 *
 * Positions are fractions of the full width, 0 to 1. A request names the visible part and the minimum width of a rect,
 * so the size of the answer depends on the screen, not on the profile.
 */
#pragma once

#include "tree/engine.h"

struct flame_part {
    double from, to; /* range of the part, as fractions of the whole width */
};

struct flame_request {
    struct flame_part part; /* the visible part */
    double least;           /* minimum width of a rect, as a fraction of the part */
};

/* Leaf functions of an inverted query with less of the part than that are aggregated by library, however wide the
 * screen is. Most of a program's leaf functions are so narrow that they have no room for a name. */
#define FLAME_TAIL 0.005

enum { FLAME_NO_RECT = UINT32_MAX };

struct flame_rect {
    double start, end;  /* as fractions of the part, 0 to 1; may extend beyond the part */
    double total, self; /* weights of the node; an aggregated rect has the sum of magnitudes and 0, or in a comparison
                           the changes */
    double base_total, new_total; /* totals of the sides of a comparison; an aggregated rect has the sums */
    uint32_t node;                /* handle, valid until the next query, or NODE_NONE (an aggregated rect) */
    uint32_t parent;              /* index of the caller's rect, or FLAME_NO_RECT for the first row */
    uint32_t depth;
    uint32_t func;     /* PROFILE_NONE for an aggregated rect */
    uint32_t category; /* category of the node; of an aggregated rect, the common category or the default category */
    uint32_t count;    /* number of nodes: more than 1 in an aggregated rect */
    uint32_t library;  /* func that stands for the library of the tail's functions, or PROFILE_NONE */
    uint32_t matches;  /* 0 if a search is active and this func does not match */
};

/* The rects are ordered row by row, starting at the roots, and from left to right. Starts zeroed. */
ARRAY_TYPE(struct flame_rects, struct flame_rect);

/* Computes the rects of the part, at most FLAME_MOST_RECTS, replacing earlier ones. In a comparison a rect is as wide
 * as both sides together. Callees wider than their caller (with negative weights) are scaled to the caller's width. In
 * an inverted tree, expands the nodes wide enough to be visible. */
int engine_compute_flame(struct engine *engine, const struct flame_request *request, struct flame_rects *rects,
                         struct error *err);

enum { FLAME_MOST_RECTS = 1 << 20 };

/* Finds the part of the graph above the node with this path, or above the last existing node on the path; the whole
 * graph if no node exists. */
int engine_find_flame_part(struct engine *engine, const uint32_t *path, size_t length, struct flame_part *part,
                           struct error *err);
