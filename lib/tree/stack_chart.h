/*
 * The stack chart: what one thread did over time, as rects. A rect is a call node, from the first sample that has it on
 * the stack to the first that no longer has it. Callees lie on their callers.
 *
 * A sample lasts until the next one; the last sample lasts one interval. But if the thread slept (the next sample is
 * more than four intervals away, and less than half of that is CPU time), the sample lasts one interval only. After
 * that the chart shows the frames that both samples have in common: nothing was sampled between them.
 *
 * In a thread with recorded waits, a wait lasts from its first row to its second. Between other rows the thread ran at
 * first, with the stack of running_stack(), and then it waited for moments: if these are half an interval or more, the
 * chart shows nothing there.
 *
 * The chart has as many columns as the screen has pixels. Each sample is rounded to whole columns; a sample that rounds
 * to none shares a column with the sample after it. In a shared column, the frames that all its samples have in common
 * are rects as usual. Above them the column shows the categories of its longest sample, and neighbors of one category
 * are one aggregate. A wait in a shared column cuts the rects, but hides no sample, however short. No rect is narrower
 * than a column, and no sample is left out.
 */
#pragma once

#include "tree/engine.h"

struct stack_chart_request {
    uint32_t thread;
    struct time_range range; /* finite */
    uint32_t columns;
    bool same_widths; /* each change of the stack gets the same width, whatever its duration */
};

struct stack_rect {
    double first, last;  /* ms; may lie outside of the range. Of an aggregate: the time of its columns */
    uint32_t start, end; /* columns */
    uint32_t node;       /* call node, whether or not the query is inverted; NODE_NONE: an aggregate */
    uint32_t parent;     /* index of the rect it lies on; STACK_NO_RECT for the first row and for aggregates */
    uint32_t depth;
    uint32_t func; /* PROFILE_NONE for an aggregate */
    uint32_t category;
    uint32_t matches; /* 0 if a search is active and this func does not match */
};

enum { STACK_NO_RECT = UINT32_MAX };

/* Callers before callees; rects of one depth from left to right. Starts zeroed. */
ARRAY_TYPE(struct stack_rects, struct stack_rect);

/* The chart of a thread for the transforms and the search of the current query; its range and its threads do not
 * matter. Samples that do not count leave a gap; so does a long wait without a sample. Linear in the samples of the
 * range. */
int engine_stack_chart(struct engine *engine, const struct stack_chart_request *request, struct stack_rects *rects,
                       struct error *err);
