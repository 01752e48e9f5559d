/*
 * The stack chart: what one thread did over time, as rects. A rect is a call node from the sample where it comes onto
 * the stack until that where it is gone; callees lie on their callers.
 *
 * A sample reaches from its time to that of the next one (the last: one interval). But where a thread slept, because
 * the next sample is more than four intervals away and less than half of that was CPU time, a sample reaches only one
 * interval, and from there on the stack is what both have in common: what happened in between was not seen.
 *
 * It is told in columns, as many as the screen has pixels: samples are rounded to whole columns. Those that round to
 * nothing share the column in which they lie with the sample after them. So a column is that of one sample, or of
 * several. What all of them have on their stack is a rect like any other; from there on the column shows, as an
 * example, the categories of the longest of them, and neighbors of one category are one "aggregate". Nothing that is
 * told is narrower than a column, and no sample is left out.
 */
#ifndef PROF_TREE_STACK_CHART_H
#define PROF_TREE_STACK_CHART_H

#include "tree/engine.h"

struct stack_chart_request {
    uint32_t thread;
    struct time_range range; /* finite */
    uint32_t columns;
    bool same_widths; /* each change of the stack gets the same width, and time is no matter */
};

struct stack_rect {
    double first, last;  /* ms: from when to when, which may be beyond the range; for a aggregate that of its columns */
    uint32_t start, end; /* columns */
    uint32_t node;       /* call node, whether or not the query is inverted; NODE_NONE: a aggregate */
    uint32_t parent;     /* index of the rect it lies on; STACK_NO_RECT for the first row and for aggregates */
    uint32_t depth;
    uint32_t func; /* PROFILE_NONE for a aggregate */
    uint32_t category;
    uint32_t matches; /* 0: the query has a search, and not this func is what it looks for */
};

enum { STACK_NO_RECT = UINT32_MAX };

/* Callers before callees; those of one depth from left to right. Zero it to start. */
ARRAY_TYPE(struct stack_rects, struct stack_rect);

/* The chart of a thread for the transforms and the search of the current query; its range and its threads are no
 * matter. Samples that do not count leave a gap. Linear in the samples of the range. */
int engine_stack_chart(struct engine *engine, const struct stack_chart_request *request, struct stack_rects *rects,
                       struct error *err);

#endif
