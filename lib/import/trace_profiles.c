/*
 * V8 samples in Chrome traces: a Profile event starts the samples of a thread. ProfileChunk events, possibly on other
 * threads, add call nodes, samples, and the µs between samples. A chunk refers to nodes of chunks with earlier times,
 * which may be anywhere in the file. A full trace buffer loses chunks: a sample whose node is lost has no stack. Older
 * traces hold a whole profile in a CpuProfile event.
 */
#include "base/search.h"
#include "import/trace_events.h"

#include "import/v8_nodes.h"

enum { MOST_STREAMS = 512 }; /* limit of streams, because each event searches all streams */

#define MOST_ID (UINT64_C(1) << 53)

struct stream_sample {
    double time; /* ms */
    size_t row;
    uint32_t stack;
};

struct stream { /* the stream of samples of one Profile event */
    uint64_t pid, id;
    uint32_t thread;
    double time, end; /* ms: time of the last sample, and its end */
    ARRAY(struct stream_sample) samples;
    struct v8_nodes nodes;
    struct hash callers; /* id of a child node -> 1 + stack of its parent node */
};

struct profiles {
    struct trace *trace;
    const struct json_tree *tree;
    const struct trace_profile_event *event;
    ARRAY(struct stream) streams;
    size_t most_samples; /* of a stream */
    size_t without_node, without_caller, without_time;
};

static uint32_t find_value(const struct profiles *profiles, uint32_t node, const char *key)
{
    return json_tree_get(profiles->tree, node, key);
}

static uint64_t read_whole_number(const struct profiles *profiles, uint32_t node)
{
    return json_tree_get_integer(profiles->tree, node, MOST_ID, UINT64_MAX);
}

/* Converts µs to ms. Returns NAN if the text is no number. */
static double read_time(const struct profiles *profiles, uint32_t node, const char *key)
{
    return json_tree_get_number_or_text(profiles->tree, find_value(profiles, node, key)) / 1000;
}

/* Returns NULL beyond the limit, or if memory runs out. */
static struct stream *add_stream(struct profiles *profiles, double start)
{
    const struct trace_profile_event *event = profiles->event;
    struct profile_builder *builder = profiles->trace->builder;
    if (profiles->streams.length == MOST_STREAMS) {
        error_set(profiles->trace->err, EINVAL, "event %zu: the trace has more than %d profiles", event->number,
                  MOST_STREAMS);
        return NULL;
    }
    error_no_memory(profiles->trace->err);
    uint32_t thread = builder_add_thread(builder, event->pid, event->tid, PROFILE_NONE);
    struct stream *stream = array_push_zero(&profiles->streams);
    if (!stream)
        return NULL;
    v8_nodes_init(&stream->nodes, builder);
    stream->pid = event->pid;
    stream->id = event->id;
    stream->thread = thread;
    stream->time = stream->end = start;
    return stream;
}

static struct stream *find_stream(struct profiles *profiles)
{
    for (size_t i = profiles->streams.length; i-- > 0;)
        if (profiles->streams.data[i].pid == profiles->event->pid &&
            profiles->streams.data[i].id == profiles->event->id)
            return &profiles->streams.data[i];
    return NULL;
}

static bool index_children(struct profiles *profiles, struct stream *stream, uint32_t node, uint32_t stack)
{
    const struct json_tree *tree = profiles->tree;
    uint32_t list = find_value(profiles, node, "children");
    for (uint32_t child = json_tree_get_first(tree, list); child != JSON_TREE_NONE;
         child = json_tree_get_next(tree, list, child))
        if (!hash_set(&stream->callers, read_whole_number(profiles, child), stack + 1))
            return false;
    return true;
}

/* Adds nodes. A node has the id of its caller, or the caller, which comes first, lists its children. */
static int add_nodes(struct profiles *profiles, struct stream *stream, uint32_t list)
{
    struct trace *trace = profiles->trace;
    const struct json_tree *tree = profiles->tree;
    for (uint32_t node = json_tree_get_first(tree, list); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, list, node)) {
        uint64_t id = read_whole_number(profiles, find_value(profiles, node, "id"));
        uint64_t parent = read_whole_number(profiles, find_value(profiles, node, "parent"));
        uint32_t caller =
            parent == UINT64_MAX ? hash_get(&stream->callers, id) : hash_get(&stream->nodes.stacks, parent);
        uint32_t stack = caller == HASH_MISSING ? PROFILE_NONE : caller - 1;
        profiles->without_caller += parent != UINT64_MAX && caller == HASH_MISSING;
        if (v8_nodes_has_frame(tree, node))
            stack = builder_add_stack(trace->builder, stack, v8_nodes_add_frame(&stream->nodes, tree, node));
        if (!hash_set(&stream->nodes.stacks, id, stack + 1) || !index_children(profiles, stream, node, stack))
            return error_no_memory(trace->err);
    }
    return 0;
}

static int add_samples(struct profiles *profiles, struct stream *stream, uint32_t profile, uint32_t deltas)
{
    const struct json_tree *tree = profiles->tree;
    uint32_t samples = find_value(profiles, profile, "samples"), delta = json_tree_get_first(tree, deltas);
    int code = add_nodes(profiles, stream, find_value(profiles, profile, "nodes"));
    for (uint32_t node = json_tree_get_first(tree, samples); !code && node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, samples, node)) {
        uint64_t id = read_whole_number(profiles, node);
        uint32_t stack = id == UINT64_MAX ? HASH_MISSING : hash_get(&stream->nodes.stacks, id);
        double step = delta == JSON_TREE_NONE ? NAN : json_tree_get_number_or_text(tree, delta);
        if (delta != JSON_TREE_NONE)
            delta = json_tree_get_next(tree, deltas, delta);
        if (!isfinite(step)) {
            profiles->without_time++;
            continue;
        }
        profiles->without_node += stack == HASH_MISSING;
        stream->time += step / 1000;
        const struct stream_sample sample = {stream->time, stream->samples.length,
                                             stack == HASH_MISSING ? PROFILE_NONE : stack - 1};
        if (!array_push(&stream->samples, sample))
            code = error_no_memory(profiles->trace->err);
    }
    return code;
}

/* Returns the ms from the start of a chunk to its last sample. */
static double sum_deltas(const struct profiles *profiles, uint32_t deltas)
{
    const struct json_tree *tree = profiles->tree;
    double sum = 0;
    for (uint32_t node = json_tree_get_first(tree, deltas); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, deltas, node)) {
        double step = json_tree_get_number_or_text(tree, node);
        sum += isfinite(step) ? step / 1000 : 0;
    }
    return sum;
}

/* Adds a chunk. Chrome writes a chunk at the time of its last sample, which gives the start of a profile without a
 * Profile event. */
static int add_chunk(struct profiles *profiles)
{
    uint32_t data = find_value(profiles, find_value(profiles, 0, "args"), "data"),
             profile = find_value(profiles, data, "cpuProfile");
    uint32_t deltas = find_value(profiles, data, "timeDeltas");
    if (deltas == JSON_TREE_NONE)
        deltas = find_value(profiles, profile, "timeDeltas");
    struct stream *stream = find_stream(profiles);
    if (!stream)
        stream = add_stream(profiles, profiles->event->ts / 1000 - sum_deltas(profiles, deltas));
    if (!stream)
        return -EINVAL;
    double end = read_time(profiles, data, "endTime");
    stream->end = isfinite(end) ? end : stream->end;
    return add_samples(profiles, stream, profile, deltas);
}

static int add_event(struct profiles *profiles)
{
    const struct trace_profile_event *event = profiles->event;
    int code = trace_read_part(profiles->trace, event->at, event->size);
    if (code || event->kind == TRACE_CHUNK)
        return code ? code : add_chunk(profiles);
    uint32_t data = find_value(profiles, find_value(profiles, 0, "args"), "data"),
             profile = find_value(profiles, data, "cpuProfile");
    bool is_whole = event->kind == TRACE_WHOLE_PROFILE;
    double start = read_time(profiles, is_whole ? profile : data, "startTime");
    struct stream *stream = add_stream(profiles, isfinite(start) ? start : event->ts / 1000);
    if (!stream)
        return -EINVAL;
    double end = read_time(profiles, profile, "endTime");
    stream->end = isfinite(end) ? end : stream->end;
    return is_whole ? add_samples(profiles, stream, profile, find_value(profiles, profile, "timeDeltas")) : 0;
}

DEFINE_COMPARE(compare_events, struct trace_profile_event,
               ORDER_THEN(a->ts, b->ts,
                          ORDER_THEN(a->kind == TRACE_CHUNK, b->kind == TRACE_CHUNK, ORDER(a->number, b->number))))

DEFINE_COMPARE(compare_samples, struct stream_sample, ORDER_THEN(a->time, b->time, ORDER(a->row, b->row)))

/* Sorts samples, which V8 may write out of order; each lasts until the next sample. */
static void end_stream(struct profiles *profiles, struct stream *stream, bool *found)
{
    size_t count = stream->samples.length;
    struct stream_sample *samples = stream->samples.data;
    if (count)
        qsort(samples, count, sizeof(*samples), compare_samples);
    for (size_t i = 0; i < count; i++) {
        double until = i + 1 < count ? samples[i + 1].time : fmax(stream->end, samples[i].time);
        builder_add_sample(profiles->trace->builder, stream->thread, 0, samples[i].stack, samples[i].time,
                           until - samples[i].time);
        profiles->trace->end = fmax(profiles->trace->end, until);
    }
    if (count > 1 && count > profiles->most_samples)
        profiles->trace->builder->profile->meta.interval =
            fmax(1e-3, (samples[count - 1].time - samples[0].time) / (double)(count - 1));
    profiles->most_samples = count > profiles->most_samples ? count : profiles->most_samples;
    *found = *found || count > 0;
}

static void warn_count(const struct profiles *profiles, size_t count, const char *format)
{
    char text[160];
    snprintf(text, sizeof(text), format, count, count == 1 ? "" : "s");
    if (count)
        builder_warn(profiles->trace->builder, text);
}

static void warn_losses(const struct profiles *profiles)
{
    warn_count(profiles, profiles->without_node,
               "The trace lacks the call nodes of %zu sample%s, which appear without a stack.");
    warn_count(profiles, profiles->without_caller,
               "The trace lacks the callers of %zu call node%s: stacks through them are truncated.");
    warn_count(profiles, profiles->without_time, "prof ignored %zu sample%s of chunks without times.");
}

int trace_add_profiles(struct trace *trace, bool *found)
{
    struct profiles profiles = {.trace = trace, .tree = &trace->tree};
    int code = 0;
    array_sort(&trace->profiles, compare_events);
    for (size_t i = 0; !code && i < trace->profiles.length; i++) {
        profiles.event = &trace->profiles.data[i];
        code = add_event(&profiles);
    }
    for (size_t i = 0; !code && i < profiles.streams.length; i++)
        end_stream(&profiles, &profiles.streams.data[i], found);
    if (!code)
        warn_losses(&profiles);
    for (size_t i = 0; i < profiles.streams.length; i++) {
        v8_nodes_destroy(&profiles.streams.data[i].nodes);
        hash_destroy(&profiles.streams.data[i].callers);
        array_free(&profiles.streams.data[i].samples);
    }
    array_free(&profiles.streams);
    return code;
}
