/*
 * The stack chart: the stacks of one thread over time, as rects. A rect is a call node, from the first sample with the
 * node on the stack to the first sample without the node. Callees lie on their callers.
 *
 * A sample lasts until the next one; the last sample lasts one interval. But if the thread slept (the next sample is
 * more than four intervals away, and less than half of the time between is CPU time), the sample lasts one interval.
 * After this interval, the chart shows the common frames of both samples.
 *
 * In a thread with recorded waits, a wait lasts from its first row to its second. Between other rows the thread first
 * ran, with the stack of find_running_stack(), then waited shortly: from half an interval on, the chart leaves this
 * time empty. The weight of the query decides whether the chart shows running, waits or both. A runnable thread
 * continues the functions that it ran. The rects of these functions stay open during the wait, and the wait is a
 * further rect above them.
 *
 * The chart has as many columns as the screen has pixels. Each sample is rounded to whole columns; a sample narrower
 * than a column shares a column with the next sample. In a shared column, the frames that all its samples have in
 * common are rects as usual. Above the common frames, the column shows the categories of its longest sample, and
 * adjacent columns of one category are one aggregate. A wait in a shared column cuts the rects, but hides no sample,
 * however short. No rect is narrower than a column, and no sample is omitted.
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
    double first, last;  /* ms; may lie outside of the range; an aggregated rect has the times of its columns */
    uint32_t start, end; /* columns */
    uint32_t node;   /* call node, also if the query is inverted; NODE_NONE for an aggregate and for a runnable wait */
    uint32_t parent; /* index of the caller's rect; STACK_NO_RECT for the first row and for a rect without a node */
    uint32_t depth;
    uint32_t func; /* PROFILE_NONE for an aggregated rect */
    uint32_t category;
    uint32_t matches; /* 0 if a search is active and this func does not match */
};

enum { STACK_NO_RECT = UINT32_MAX };

/* Callers precede callees, and the rects of one depth are ordered from left to right. Starts zeroed. */
ARRAY_TYPE(struct stack_rects, struct stack_rect);

/* Computes the chart of a thread, with the transforms and the search of the current query, but not its range and
 * threads. Uncounted samples and long waits without a sample leave a gap. Takes time linear in the samples of the
 * range. */
int engine_compute_stack_chart(struct engine *engine, const struct stack_chart_request *request,
                               struct stack_rects *rects, struct error *err);
