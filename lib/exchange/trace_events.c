/*
 * Chrome's trace events, as Chrome, node --trace-events-enabled, Perfetto's converters, clang -ftime-trace, Bazel and
 * many others write them: an object with traceEvents, or the array alone, whose end may be missing. Profile and
 * ProfileChunk events are samples, and in older traces CpuProfile events, which hold a whole profile. V8 may write
 * samples out of order; each lasts until the next one. Complete events and pairs of begin and end are markers; in a
 * file without samples they are stacks, too, as they nest in their thread.
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU)
 */
#include "exchange/importers.h"
#include "exchange/v8_nodes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_STREAMS = 512 }; /* an event is looked up among all of them */

struct stream_sample {
    double time; /* ms */
    size_t row;
    uint32_t stack;
};

struct stream { /* the samples of one Profile event */
    uint64_t pid;
    uint32_t id; /* text of the tree */
    uint32_t thread;
    double time; /* ms: of the last sample that was read */
    ARRAY(struct stream_sample) samples;
    struct v8_nodes nodes;
    struct hash callers; /* id of a node that another one has as its child -> stack of that + 1 */
};

struct slice {
    uint32_t thread, name;
    double start, end; /* ms; end is NAN as long as it is open */
    size_t place;      /* among all */
};

struct trace {
    struct json_tree tree; /* of one event at a time */
    struct profile_builder *builder;
    struct error *err;
    ARRAY(struct stream) streams;
    ARRAY(struct slice) slices;
    ARRAY(uint32_t) opened; /* of slices: the one that is open around it, + 1 */
    struct hash open_of;    /* thread -> innermost open slice + 1 */
    size_t number;          /* of the event */
    bool has_samples;
};

static uint32_t get(const struct trace *trace, uint32_t node, const char *key)
{
    return json_tree_get(&trace->tree, node, key);
}

/* A pid or tid, which a few writers have as text. */
static uint64_t id_of(const struct trace *trace, uint32_t node)
{
    const struct string_entry *text = json_tree_text(&trace->tree, node);
    if (text)
        return hash_bytes(text->text, text->length) >> 16;
    return json_tree_whole(&trace->tree, node, UINT64_C(1) << 53, 0);
}

static uint32_t string_of(struct trace *trace, uint32_t node)
{
    const struct string_entry *text = json_tree_text(&trace->tree, node);
    return builder_string(trace->builder, text ? (struct builder_text){text->text, text->length}
                                               : (struct builder_text){"(no name)", 9});
}

static uint32_t thread_of(struct trace *trace)
{
    return builder_thread(trace->builder, id_of(trace, get(trace, 0, "pid")), id_of(trace, get(trace, 0, "tid")),
                          PROFILE_NONE);
}

/* ---- samples ---- */

static struct stream *add_stream(struct trace *trace, uint64_t pid, uint32_t id)
{
    if (trace->streams.length == MOST_STREAMS)
        return NULL;
    uint32_t thread = thread_of(trace);
    struct stream *stream = thread == PROFILE_NONE ? NULL : array_push_zero(&trace->streams);
    if (!stream || !v8_nodes_init(&stream->nodes, trace->builder))
        return NULL;
    stream->pid = pid;
    stream->id = id;
    stream->thread = thread;
    return stream;
}

static struct stream *find_stream(struct trace *trace)
{
    uint64_t pid = id_of(trace, get(trace, 0, "pid"));
    uint32_t node = get(trace, 0, "id");
    uint32_t id = json_tree_is(&trace->tree, node, JSON_STRING) ? trace->tree.nodes.data[node].text : STRING_NONE;
    for (size_t i = trace->streams.length; i-- > 0;)
        if (trace->streams.data[i].pid == pid && trace->streams.data[i].id == id)
            return &trace->streams.data[i];
    return add_stream(trace, pid, id);
}

static int no_stream(const struct trace *trace)
{
    if (trace->streams.length == MOST_STREAMS)
        return error_set(trace->err, EINVAL, "event %zu: there are more than %d profiles in the trace", trace->number,
                         MOST_STREAMS);
    return error_no_memory(trace->err);
}

static int begin_stream(struct trace *trace)
{
    struct stream *stream = find_stream(trace);
    if (!stream)
        return no_stream(trace);
    double start = json_tree_number(&trace->tree, get(trace, get(trace, get(trace, 0, "args"), "data"), "startTime"));
    stream->time = isfinite(start) ? start / 1000 : 0;
    stream->thread = thread_of(trace);
    return stream->thread == PROFILE_NONE ? error_no_memory(trace->err) : 0;
}

static bool note_children(struct stream *stream, const struct json_tree *tree, uint32_t node, uint32_t stack)
{
    uint32_t list = json_tree_get(tree, node, "children");
    for (uint32_t child = json_tree_first(tree, list); child != JSON_TREE_NONE;
         child = json_tree_next(tree, list, child))
        if (!hash_set(&stream->callers, json_tree_whole(tree, child, UINT64_C(1) << 53, UINT64_MAX), stack + 1))
            return false;
    return true;
}

/* A node names its caller, or the caller, which comes before it, names its children. */
static int add_nodes(struct trace *trace, struct stream *stream, uint32_t list)
{
    const struct json_tree *tree = &trace->tree;
    for (uint32_t node = json_tree_first(tree, list); node != JSON_TREE_NONE; node = json_tree_next(tree, list, node)) {
        uint64_t id = json_tree_whole(tree, json_tree_get(tree, node, "id"), UINT64_C(1) << 53, UINT64_MAX);
        uint64_t parent = json_tree_whole(tree, json_tree_get(tree, node, "parent"), UINT64_C(1) << 53, UINT64_MAX);
        uint32_t caller =
            parent == UINT64_MAX ? hash_get(&stream->callers, id) : hash_get(&stream->nodes.stacks, parent);
        uint32_t stack = caller == HASH_MISSING ? PROFILE_NONE : caller - 1;
        if (v8_nodes_has_frame(tree, node)) {
            stack = builder_stack(trace->builder, stack, v8_nodes_frame(&stream->nodes, tree, node));
            if (stack == PROFILE_NONE)
                return error_no_memory(trace->err);
        }
        if (!hash_set(&stream->nodes.stacks, id, stack + 1) || !note_children(stream, tree, node, stack))
            return error_no_memory(trace->err);
    }
    return 0;
}

static int add_samples(struct trace *trace, struct stream *stream, uint32_t profile, uint32_t deltas)
{
    const struct json_tree *tree = &trace->tree;
    uint32_t samples = get(trace, profile, "samples"), delta = json_tree_first(tree, deltas);
    int code = add_nodes(trace, stream, get(trace, profile, "nodes"));
    for (uint32_t node = json_tree_first(tree, samples); !code && node != JSON_TREE_NONE;
         node = json_tree_next(tree, samples, node)) {
        uint32_t stack = hash_get(&stream->nodes.stacks, json_tree_whole(tree, node, UINT64_C(1) << 53, UINT64_MAX));
        double step = delta == JSON_TREE_NONE ? NAN : json_tree_number(tree, delta);
        if (stack == HASH_MISSING || !isfinite(step))
            return error_set(trace->err, EINVAL, "event %zu: a sample has no node, or no time", trace->number);
        delta = json_tree_next(tree, deltas, delta);
        stream->time += step / 1000;
        trace->has_samples = true;
        const struct stream_sample sample = {stream->time, stream->samples.length, stack - 1};
        if (!array_push(&stream->samples, sample))
            code = error_no_memory(trace->err);
    }
    return code;
}

static int add_chunk(struct trace *trace)
{
    struct stream *stream = find_stream(trace);
    uint32_t data = get(trace, get(trace, 0, "args"), "data");
    return stream ? add_samples(trace, stream, get(trace, data, "cpuProfile"), get(trace, data, "timeDeltas"))
                  : no_stream(trace);
}

/* A whole profile in one event. */
static int add_whole_profile(struct trace *trace)
{
    uint32_t profile = get(trace, get(trace, get(trace, 0, "args"), "data"), "cpuProfile");
    struct stream *stream = add_stream(trace, id_of(trace, get(trace, 0, "pid")), STRING_NONE);
    if (!stream)
        return no_stream(trace);
    double start = json_tree_number(&trace->tree, get(trace, profile, "startTime"));
    stream->time = isfinite(start) ? start / 1000 : 0;
    return add_samples(trace, stream, profile, get(trace, profile, "timeDeltas"));
}

static int compare_samples(const void *a, const void *b)
{
    const struct stream_sample *left = a, *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

static int end_stream(struct trace *trace, struct stream *stream)
{
    size_t count = stream->samples.length;
    struct stream_sample *samples = stream->samples.data;
    if (count)
        qsort(samples, count, sizeof(*samples), compare_samples);
    for (size_t i = 0; i < count; i++) {
        double weight = i + 1 < count ? samples[i + 1].time - samples[i].time : 0;
        if (!builder_sample(trace->builder, stream->thread, 0, samples[i].stack, samples[i].time, weight))
            return error_no_memory(trace->err);
    }
    return 0;
}

/* ---- slices ---- */

static int add_marker(struct trace *trace, uint32_t thread, uint32_t name, uint8_t phase, double start, double end)
{
    struct builder_marker marker = {.name = name, .phase = phase, .start = start, .end = end, .data = PROFILE_NONE};
    return builder_marker(trace->builder, thread, marker) ? 0 : error_no_memory(trace->err);
}

static int open_slice(struct trace *trace, uint32_t thread, uint32_t name, double time)
{
    uint32_t around = hash_get(&trace->open_of, thread);
    if (!array_push(&trace->slices, (struct slice){thread, name, time, NAN, trace->slices.length}))
        return error_no_memory(trace->err);
    while (trace->opened.length < trace->slices.length)
        if (!array_push(&trace->opened, 0))
            return error_no_memory(trace->err);
    trace->opened.data[trace->slices.length - 1] = around == HASH_MISSING ? 0 : around;
    return hash_set(&trace->open_of, thread, (uint32_t)trace->slices.length) ? 0 : error_no_memory(trace->err);
}

static int close_slice(struct trace *trace, uint32_t thread, double time)
{
    uint32_t open = hash_get(&trace->open_of, thread);
    if (open == HASH_MISSING || open == 0)
        return 0; /* it began before the trace did */
    struct slice *slice = &trace->slices.data[open - 1];
    slice->end = fmax(time, slice->start);
    if (!hash_set(&trace->open_of, thread, trace->opened.data[open - 1]))
        return error_no_memory(trace->err);
    return add_marker(trace, thread, slice->name, 1, slice->start, slice->end);
}

static int add_named(struct trace *trace, char phase, double time)
{
    uint32_t thread = thread_of(trace), name = string_of(trace, get(trace, 0, "name"));
    if (thread == PROFILE_NONE || name == STRING_NONE)
        return error_no_memory(trace->err);
    if (phase == 'B')
        return open_slice(trace, thread, name, time);
    if (phase == 'E')
        return close_slice(trace, thread, time);
    if (phase == 'b' || phase == 'S')
        return add_marker(trace, thread, name, 2, time, NAN);
    if (phase == 'e' || phase == 'F')
        return add_marker(trace, thread, name, 3, NAN, time);
    if (phase != 'X')
        return add_marker(trace, thread, name, 0, time, NAN);
    double duration = json_tree_number(&trace->tree, get(trace, 0, "dur")) / 1000;
    double end = isfinite(duration) && duration > 0 ? time + duration : time;
    if (!array_push(&trace->slices, (struct slice){thread, name, time, end, trace->slices.length}))
        return error_no_memory(trace->err);
    return add_marker(trace, thread, name, 1, time, end);
}

/* ---- events ---- */

static int add_metadata(struct trace *trace)
{
    uint32_t name = get(trace, 0, "name"), value = get(trace, get(trace, 0, "args"), "name");
    bool is_thread = json_tree_text_is(&trace->tree, name, "thread_name");
    if ((!is_thread && !json_tree_text_is(&trace->tree, name, "process_name")) ||
        !json_tree_is(&trace->tree, value, JSON_STRING))
        return 0;
    uint32_t thread = thread_of(trace), text = string_of(trace, value);
    if (thread == PROFILE_NONE || text == STRING_NONE)
        return error_no_memory(trace->err);
    *(is_thread ? &trace->builder->threads.data[thread].name : &trace->builder->threads.data[thread].process_name) =
        text;
    return 0;
}

static int add_event(struct trace *trace)
{
    const struct string_entry *phase = json_tree_text(&trace->tree, get(trace, 0, "ph"));
    if (!phase || phase->length != 1)
        return 0;
    uint32_t name = get(trace, 0, "name");
    if (phase->text[0] == 'M')
        return add_metadata(trace);
    if (phase->text[0] == 'P' && json_tree_text_is(&trace->tree, name, "Profile"))
        return begin_stream(trace);
    if (phase->text[0] == 'P' && json_tree_text_is(&trace->tree, name, "ProfileChunk"))
        return add_chunk(trace);
    if (strchr("PIi", phase->text[0]) && json_tree_text_is(&trace->tree, name, "CpuProfile"))
        return add_whole_profile(trace);
    if (!strchr("BEXbeSFiIRn", phase->text[0]))
        return 0;
    double time = json_tree_number(&trace->tree, get(trace, 0, "ts")) / 1000;
    if (!isfinite(time))
        return error_set(trace->err, EINVAL, "event %zu has no time (ts)", trace->number);
    return add_named(trace, phase->text[0], time);
}

/* ---- slices as stacks ---- */

static int compare_slices(const void *a, const void *b)
{
    const struct slice *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    if (left->end != right->end)
        return left->end > right->end ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

struct open_slice {
    uint32_t stack;
    double end;
};

struct sweep {
    uint32_t thread;
    double time;
    ARRAY(struct open_slice) open;
};

/* Samples of what is open until `time`, at which slices may end. */
static int sweep_until(struct trace *trace, struct sweep *sweep, double time)
{
    for (;;) {
        const struct open_slice *top = sweep->open.length ? &sweep->open.data[sweep->open.length - 1] : NULL;
        double until = top && top->end < time ? top->end : time;
        if (until > sweep->time && isfinite(until)) {
            if (!builder_sample(trace->builder, sweep->thread, 0, top ? top->stack : PROFILE_NONE, sweep->time,
                                top ? until - sweep->time : 0))
                return error_no_memory(trace->err);
            sweep->time = until;
        }
        if (!top || top->end > time)
            return 0;
        sweep->open.length--;
    }
}

static int sweep_slices(struct trace *trace, struct sweep *sweep)
{
    int code = 0;
    for (size_t i = 0; !code && i < trace->slices.length; i++) {
        const struct slice *slice = &trace->slices.data[i];
        if (!(slice->end > slice->start))
            continue; /* open to the end, or without a duration */
        if (slice->thread != sweep->thread) {
            code = sweep->thread == PROFILE_NONE ? 0 : sweep_until(trace, sweep, INFINITY);
            sweep->thread = slice->thread;
            sweep->time = slice->start;
        }
        if (!code)
            code = sweep_until(trace, sweep, slice->start);
        const char *name = profile_text(trace->builder->profile, slice->name);
        struct builder_frame frame = {.name = builder_text(name), .category = 1};
        uint32_t caller = sweep->open.length ? sweep->open.data[sweep->open.length - 1].stack : PROFILE_NONE;
        double outer = sweep->open.length ? sweep->open.data[sweep->open.length - 1].end : INFINITY;
        uint32_t stack = builder_stack(trace->builder, caller, builder_frame(trace->builder, &frame));
        if (!code &&
            (stack == PROFILE_NONE || !array_push(&sweep->open, (struct open_slice){stack, fmin(slice->end, outer)})))
            code = error_no_memory(trace->err);
    }
    if (!code && sweep->thread != PROFILE_NONE)
        code = sweep_until(trace, sweep, INFINITY);
    return code;
}

static int add_stacks(struct trace *trace)
{
    struct sweep sweep = {.thread = PROFILE_NONE};
    if (trace->slices.length == 0)
        return 0;
    for (size_t i = 0; i < trace->slices.length; i++)
        if (isnan(trace->slices.data[i].end))
            trace->slices.data[i].end = trace->slices.data[i].start;
    qsort(trace->slices.data, trace->slices.length, sizeof(*trace->slices.data), compare_slices);
    int code = sweep_slices(trace, &sweep);
    array_free(&sweep.open);
    return code ? code
                : builder_warn(trace->builder,
                               "The trace has no samples: its stacks are its events, as they nest in their thread.",
                               trace->err);
}

/* ---- the text ---- */

static int wrong_at(const struct json *json, struct error *err)
{
    return error_set(err, EINVAL, "at byte %llu: %s", (unsigned long long)json->offset, json->problem);
}

static int read_events(struct trace *trace, struct json *json, bool may_end)
{
    enum json_type type;
    while ((type = json_next(json)) != JSON_ARRAY_CLOSE) {
        if (type <= JSON_END) {
            if (may_end && json->ended && json->at == json->end && trace->number)
                return 0;
            return wrong_at(json, trace->err);
        }
        int code = json_tree_read_value(&trace->tree, json, type, trace->err);
        if (!code)
            code = add_event(trace);
        if (code)
            return code;
        trace->number++;
    }
    return 0;
}

static int read_text(struct trace *trace, struct json *json)
{
    enum json_type type = json_next(json);
    if (type == JSON_ARRAY_OPEN)
        return read_events(trace, json, true);
    while ((type = json_next(json)) == JSON_KEY) {
        bool are_events = json_is(json, "traceEvents");
        type = json_next(json);
        if (are_events && type == JSON_ARRAY_OPEN) {
            int code = read_events(trace, json, false);
            if (code)
                return code;
        } else if (type <= JSON_END || !json_skip(json, type))
            return wrong_at(json, trace->err);
    }
    return type == JSON_OBJECT_CLOSE ? 0 : wrong_at(json, trace->err);
}

static int end_streams(struct trace *trace)
{
    int code = 0;
    for (size_t i = 0; !code && i < trace->streams.length; i++)
        code = end_stream(trace, &trace->streams.data[i]);
    return code;
}

int trace_events_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct trace trace = {.builder = builder, .err = err};
    struct json json;
    json_init_whole(&json, text, size);
    builder->weight_type = WEIGHT_TRACING_MS;
    int code = read_text(&trace, &json);
    if (!code)
        code = trace.has_samples ? end_streams(&trace) : add_stacks(&trace);
    for (size_t i = 0; i < trace.streams.length; i++) {
        v8_nodes_destroy(&trace.streams.data[i].nodes);
        hash_destroy(&trace.streams.data[i].callers);
        array_free(&trace.streams.data[i].samples);
    }
    array_free(&trace.streams);
    array_free(&trace.slices);
    array_free(&trace.opened);
    hash_destroy(&trace.open_of);
    json_tree_destroy(&trace.tree);
    json_destroy(&json);
    return code;
}
