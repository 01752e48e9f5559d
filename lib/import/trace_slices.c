/*
 * Slices of Chrome traces: complete events, and pairs of begin and end events of a thread, or of an asynchronous id. An
 * end event closes the innermost open slice of its name (of any name if the event has no name) and all slices inside.
 * The end of the trace closes the others. Each slice is a marker. In a trace without samples, slices of threads are
 * also stacks.
 */
#include "base/search.h"
#include "import/trace_events.h"

enum { MARKER_PHASE_INTERVAL = 1, MARKER_PHASE_END = 3 }; /* of struct marker_table */

static void add_marker(struct trace *trace, const struct trace_slice *slice, uint8_t phase)
{
    struct builder_marker marker = {
        .name = slice->name, .phase = phase, .start = slice->start, .end = slice->end, .data = PROFILE_NONE};
    builder_add_marker(trace->builder, slice->thread, marker);
}

/* ---- pairs ---- */

DEFINE_COMPARE(compare_by_time, struct trace_slice,
               ORDER_THEN(a->track, b->track, ORDER_THEN(a->start, b->start, ORDER(a->place, b->place))))

struct open_slices {
    ARRAY(uint32_t) rows; /* indexes in trace->slices, innermost slice last */
    struct hash of_name;  /* number of open slices per name */
};

static uint32_t count_open_named(const struct open_slices *open, uint32_t name)
{
    uint32_t count = hash_get(&open->of_name, name);
    return count == HASH_MISSING ? 0 : count;
}

static void close_innermost(struct trace *trace, struct open_slices *open, double time)
{
    struct trace_slice *slice = &trace->slices.data[open->rows.data[--open->rows.length]];
    slice->end = fmax(time, slice->start);
    slice->kind = SLICE_WHOLE;
    *hash_at(&open->of_name, slice->name) -= 1;
}

static bool apply_event(struct trace *trace, struct open_slices *open, uint32_t row)
{
    struct trace_slice *slice = &trace->slices.data[row];
    if (slice->kind == SLICE_OPENS)
        return hash_set(&open->of_name, slice->name, count_open_named(open, slice->name) + 1) &&
               array_push(&open->rows, row);
    if (slice->kind == SLICE_WHOLE || (slice->name != PROFILE_NONE && count_open_named(open, slice->name) == 0))
        return true; /* the slice began before the trace */
    slice->end = slice->start;
    bool has_name = slice->name == PROFILE_NONE;
    while (open->rows.length) {
        const struct trace_slice *innermost = &trace->slices.data[open->rows.data[open->rows.length - 1]];
        has_name = has_name || innermost->name == slice->name;
        close_innermost(trace, open, slice->start);
        if (has_name)
            break;
    }
    return true;
}

static int pair_events(struct trace *trace)
{
    struct open_slices open = {0};
    size_t count = trace->slices.length;
    int code = 0;
    array_sort(&trace->slices, compare_by_time);
    for (size_t i = 0; !code && i < count; i++) {
        if (!apply_event(trace, &open, (uint32_t)i))
            code = error_no_memory(trace->err);
        if (i + 1 == count || trace->slices.data[i + 1].track != trace->slices.data[i].track)
            while (open.rows.length)
                close_innermost(trace, &open, trace->end);
    }
    array_free(&open.rows);
    hash_destroy(&open.of_name);
    return code;
}

/* ---- slices as stacks ---- */

DEFINE_COMPARE(compare_by_nesting, struct trace_slice,
               ORDER_THEN(a->track, b->track,
                          ORDER_THEN(a->start, b->start, ORDER_THEN(b->end, a->end, ORDER(a->place, b->place)))))

struct open_stack {
    uint32_t stack;
    double end;
};

struct sweep {
    uint32_t thread;
    double time;
    ARRAY(struct open_stack) open;
};

/* Adds samples of the open slices up to `time`, where slices may end. */
static void add_samples_until(struct trace *trace, struct sweep *sweep, double time)
{
    for (;;) {
        const struct open_stack *top = sweep->open.length ? &sweep->open.data[sweep->open.length - 1] : NULL;
        double until = top && top->end < time ? top->end : time;
        if (until > sweep->time && isfinite(until)) {
            builder_add_sample(trace->builder, sweep->thread, 0, top ? top->stack : PROFILE_NONE, sweep->time,
                               top ? until - sweep->time : 0);
            sweep->time = until;
        }
        if (!top || top->end > time)
            return;
        sweep->open.length--;
    }
}

static int open_slice(struct trace *trace, struct sweep *sweep, const struct trace_slice *slice)
{
    if (slice->thread != sweep->thread) {
        if (sweep->thread != PROFILE_NONE)
            add_samples_until(trace, sweep, INFINITY);
        sweep->thread = slice->thread;
        sweep->time = slice->start;
    }
    add_samples_until(trace, sweep, slice->start);
    struct builder_frame frame = {.name = builder_text(profile_text(trace->builder->profile, slice->name)),
                                  .category = 1};
    const struct open_stack *around = sweep->open.length ? &sweep->open.data[sweep->open.length - 1] : NULL;
    double end = around ? fmin(slice->end, around->end) : slice->end;
    uint32_t stack = builder_add_stack(trace->builder, around ? around->stack : PROFILE_NONE,
                                       builder_add_frame(trace->builder, &frame));
    return array_push(&sweep->open, (struct open_stack){stack, end}) ? 0 : error_no_memory(trace->err);
}

static int add_stacks(struct trace *trace)
{
    struct sweep sweep = {.thread = PROFILE_NONE};
    int code = 0;
    array_sort(&trace->slices, compare_by_nesting);
    for (size_t i = 0; !code && i < trace->slices.length; i++) {
        const struct trace_slice *slice = &trace->slices.data[i];
        if (slice->kind == SLICE_WHOLE && slice->track < TRACE_ASYNC && slice->end > slice->start)
            code = open_slice(trace, &sweep, slice);
    }
    bool has_stacks = sweep.thread != PROFILE_NONE;
    if (!code && has_stacks) {
        add_samples_until(trace, &sweep, INFINITY);
        builder_warn(trace->builder, "The trace has no samples: stacks come from the nested events of each thread.");
    }
    array_free(&sweep.open);
    return code;
}

int trace_add_slices(struct trace *trace, bool are_samples)
{
    int code = pair_events(trace);
    for (size_t i = 0; !code && i < trace->slices.length; i++) {
        struct trace_slice *slice = &trace->slices.data[i];
        bool has_begun_before = slice->kind == SLICE_CLOSES && isnan(slice->end);
        if (slice->kind == SLICE_WHOLE)
            add_marker(trace, slice, MARKER_PHASE_INTERVAL);
        else if (has_begun_before && slice->track >= TRACE_ASYNC && slice->name != PROFILE_NONE) {
            const struct trace_slice end = {
                .thread = slice->thread, .name = slice->name, .start = NAN, .end = slice->start};
            add_marker(trace, &end, MARKER_PHASE_END);
        }
    }
    return code || !are_samples || !trace->slices.length ? code : add_stacks(trace);
}
