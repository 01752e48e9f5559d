/*
 * Chrome's trace events, as Chrome, node --trace-events-enabled, Perfetto's converters, clang -ftime-trace, Bazel and
 * many others write them: an object with traceEvents, or only its array, whose end may be missing. Events may have any
 * order. Profile and ProfileChunk events become samples, and so do the members samples and stackFrames beside the
 * events. Complete events and pairs of begin and end become markers. In a file without samples, these events also
 * become stacks. Counter events become counters. Times are in µs, and may be quoted.
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU)
 */
#include "import/trace_events.h"

#include "import/importers.h"

#define MOST_ID (UINT64_C(1) << 53)

static uint32_t find_value(const struct trace *trace, uint32_t node, const char *key)
{
    return json_tree_get(&trace->tree, node, key);
}

uint64_t trace_parse_id(const char *text, size_t length)
{
    bool is_number = length && length < 16 && strspn(text, "0123456789") == length;
    return is_number ? strtoull(text, NULL, 10) : hash_bytes(text, length) >> 16;
}

uint64_t trace_read_id(const struct json_tree *tree, uint32_t node)
{
    const struct string_entry *text = json_tree_get_text(tree, node);
    return text ? trace_parse_id(text->text, text->length) : json_tree_get_integer(tree, node, MOST_ID, 0);
}

static uint32_t add_string(struct trace *trace, uint32_t node)
{
    const struct string_entry *text = json_tree_get_text(&trace->tree, node);
    return builder_add_string(trace->builder,
                              text ? (struct builder_text){text->text, text->length} : builder_text("(no name)"));
}

static uint64_t read_pid(const struct trace *trace)
{
    return trace_read_id(&trace->tree, find_value(trace, 0, "pid"));
}

static uint32_t find_thread(struct trace *trace)
{
    return builder_add_thread(trace->builder, read_pid(trace), trace_read_id(&trace->tree, find_value(trace, 0, "tid")),
                              PROFILE_NONE);
}

/* Returns a time in ms, or NAN if the event lacks the key. */
static double read_time(const struct trace *trace, const char *key)
{
    return json_tree_get_number_or_text(&trace->tree, find_value(trace, 0, key)) / 1000;
}

/* Finds "id", or "id2": {"local": ...} or {"global": ...}. */
static uint32_t find_id(const struct trace *trace, bool *is_global)
{
    uint32_t id = find_value(trace, 0, "id"), other = find_value(trace, 0, "id2"),
             global = find_value(trace, other, "global");
    *is_global = global != JSON_TREE_NONE;
    return id != JSON_TREE_NONE ? id : *is_global ? global : find_value(trace, other, "local");
}

/* ---- kinds of events ---- */

static int add_profile_event(struct trace *trace, int kind, uint64_t at, uint64_t size)
{
    bool is_global;
    struct trace_profile_event event = {.kind = kind,
                                        .ts = read_time(trace, "ts") * 1000,
                                        .pid = read_pid(trace),
                                        .tid = trace_read_id(&trace->tree, find_value(trace, 0, "tid")),
                                        .id = trace_read_id(&trace->tree, find_id(trace, &is_global)),
                                        .number = trace->number,
                                        .at = at,
                                        .size = size};
    if (!isfinite(event.ts)) /* the event has no time, so only its position counts */
        event.ts = trace->profiles.length ? trace->profiles.data[trace->profiles.length - 1].ts : 0;
    return array_push(&trace->profiles, event) ? 0 : error_no_memory(trace->err);
}

static int add_slice(struct trace *trace, uint32_t thread, char phase, double time)
{
    uint32_t name = find_value(trace, 0, "name");
    struct trace_slice slice = {.track = thread,
                                .thread = thread,
                                .name = PROFILE_NONE,
                                .kind = strchr("BbS", phase)   ? SLICE_OPENS
                                        : strchr("EeF", phase) ? SLICE_CLOSES
                                                               : SLICE_WHOLE,
                                .start = time,
                                .end = NAN,
                                .place = trace->slices.length};
    const struct string_entry *text = json_tree_get_text(&trace->tree, name);
    if (slice.kind != SLICE_CLOSES || (text && text->length))
        slice.name = add_string(trace, name);
    if (strchr("beSF", phase)) {
        bool is_global;
        uint64_t id = trace_read_id(&trace->tree, find_id(trace, &is_global));
        const struct string_entry *category = json_tree_get_text(&trace->tree, find_value(trace, 0, "cat"));
        uint64_t hash = hash_mix(id, category ? hash_bytes(category->text, category->length) : 0);
        slice.track = TRACE_ASYNC | hash_mix(hash, is_global ? 0 : read_pid(trace));
    }
    if (slice.kind == SLICE_WHOLE)
        slice.end = time + fmax(read_time(trace, "dur"), 0);
    trace->end = fmax(trace->end, slice.end);
    return array_push(&trace->slices, slice) ? 0 : error_no_memory(trace->err);
}

static void add_instant(struct trace *trace, uint32_t thread, double time)
{
    struct builder_marker marker = {
        .name = add_string(trace, find_value(trace, 0, "name")), .start = time, .end = NAN, .data = PROFILE_NONE};
    builder_add_marker(trace->builder, thread, marker);
}

/* Each argument is a series: "mem" with {"bytes": 5} counts bytes, "heap" with {"used": 5} is "heap used". */
static void add_levels(struct trace *trace, double time)
{
    const struct json_tree *tree = &trace->tree;
    const struct string_entry *name = json_tree_get_text(tree, find_value(trace, 0, "name"));
    uint32_t series = find_value(trace, 0, "args");
    for (uint32_t node = json_tree_get_first(tree, series); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, series, node)) {
        double value = json_tree_get_number_or_text(tree, node);
        uint32_t key = tree->nodes.data[node].key;
        const char *label = key == STRING_NONE ? "" : strings_text(&tree->texts, key);
        bool is_bytes = strcmp(label, "bytes") == 0;
        bool is_plain = is_bytes || !*label || strcmp(label, "value") == 0 || (name && strcmp(label, name->text) == 0);
        char text[256];
        int length =
            snprintf(text, sizeof(text), "%s%s%s", name ? name->text : "", is_plain ? "" : " ", is_plain ? "" : label);
        if (!isfinite(value))
            continue;
        uint32_t counter = builder_add_counter(
            trace->builder, read_pid(trace),
            (struct builder_text){text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1},
            is_bytes ? "bytes" : "");
        if (counter)
            builder_add_level(trace->builder, counter, time, value);
    }
}

static int add_name(struct trace *trace)
{
    uint32_t name = find_value(trace, 0, "name"), value = find_value(trace, find_value(trace, 0, "args"), "name");
    bool is_thread = json_tree_equals_text(&trace->tree, name, "thread_name");
    if ((!is_thread && !json_tree_equals_text(&trace->tree, name, "process_name")) ||
        !json_tree_has_type(&trace->tree, value, JSON_STRING))
        return 0;
    uint32_t text = add_string(trace, value), thread = is_thread ? find_thread(trace) : 0;
    if (thread == PROFILE_NONE)
        return error_no_memory(trace->err);
    if (is_thread)
        trace->builder->threads.data[thread].name = text;
    else if (!hash_set(&trace->process_names, read_pid(trace), text))
        return error_no_memory(trace->err);
    return 0;
}

/* ---- the text ---- */

static int add_event(struct trace *trace, uint64_t at, uint64_t size)
{
    const struct string_entry *text = json_tree_get_text(&trace->tree, find_value(trace, 0, "ph"));
    uint32_t name = find_value(trace, 0, "name");
    char phase = text && text->length == 1 ? text->text[0] : '\0';
    if (phase == 'M')
        return add_name(trace);
    if (phase == 'P' && json_tree_equals_text(&trace->tree, name, "Profile"))
        return add_profile_event(trace, TRACE_PROFILE, at, size);
    if (phase == 'P' && json_tree_equals_text(&trace->tree, name, "ProfileChunk"))
        return add_profile_event(trace, TRACE_CHUNK, at, size);
    if (phase && strchr("PIi", phase) && json_tree_equals_text(&trace->tree, name, "CpuProfile"))
        return add_profile_event(trace, TRACE_WHOLE_PROFILE, at, size);
    if (!phase || !strchr("BEXbeSFiIRnC", phase))
        return 0;
    double time = read_time(trace, "ts");
    if (!isfinite(time)) {
        trace->without_time++;
        return 0;
    }
    trace->end = fmax(trace->end, time);
    uint32_t thread = find_thread(trace);
    if (phase == 'C')
        add_levels(trace, time);
    else if (strchr("iIRn", phase))
        add_instant(trace, thread, time);
    else
        return add_slice(trace, thread, phase, time);
    return 0;
}

/* Fails for invalid JSON. A truncated text is no error, because the writer may have been killed. */
static int fail_unless_truncated(struct trace *trace, const struct json *json)
{
    trace->is_cut = json->ended && json->at == json->end;
    return trace->is_cut ? 0
                         : error_set(trace->err, EINVAL, "at byte %llu: %s", (unsigned long long)json->offset,
                                     json->problem ? json->problem : "a key in quotes was expected");
}

static int read_events(struct trace *trace, struct json *json)
{
    enum json_type type;
    for (; (type = json_next(json)) != JSON_ARRAY_CLOSE; trace->number++) {
        uint64_t at = json->offset;
        int code = type <= JSON_END ? -EINVAL : json_tree_read_value(&trace->tree, json, type, trace->err);
        if (code == -ENOMEM)
            return code;
        if (code)
            return fail_unless_truncated(trace, json);
        code = add_event(trace, at, json_count_read_bytes(json) - at);
        if (code)
            return code;
    }
    return 0;
}

static int read_text(struct trace *trace, struct json *json)
{
    enum json_type type = json_next(json);
    if (type == JSON_ARRAY_OPEN) {
        int code = read_events(trace, json);
        trace->is_cut = trace->is_cut && json->depth > 1; /* the closing bracket may be missing */
        return code;
    }
    while ((type = json_next(json)) == JSON_KEY) {
        bool are_events = json_is(json, "traceEvents"), are_samples = json_is(json, "samples");
        bool are_frames = json_is(json, "stackFrames");
        type = json_next(json);
        uint64_t at = json->offset;
        if (are_events && type == JSON_ARRAY_OPEN) {
            int code = read_events(trace, json);
            if (code || trace->is_cut)
                return code;
        } else if (type <= JSON_END || !json_skip(json, type))
            return fail_unless_truncated(trace, json);
        if (are_samples || are_frames)
            *(are_samples ? &trace->samples : &trace->frames) =
                (struct trace_part){at, json_count_read_bytes(json) - at};
    }
    return type == JSON_OBJECT_CLOSE ? 0 : fail_unless_truncated(trace, json);
}

int trace_read_part(struct trace *trace, uint64_t at, uint64_t size)
{
    struct json json;
    json_init_whole(&json, trace->text + at, size);
    json.allows_last_comma = true;
    int code = json_tree_read_value(&trace->tree, &json, json_next(&json), trace->err);
    json_destroy(&json);
    return code;
}

static void warn_of_losses(struct trace *trace, size_t size)
{
    char text[160];
    snprintf(text, sizeof(text), "The trace is truncated after %zu bytes: events at the end are missing.", size);
    if (trace->is_cut)
        builder_warn(trace->builder, text);
    snprintf(text, sizeof(text), "prof ignored %zu event%s without a time (ts).", trace->without_time,
             trace->without_time == 1 ? "" : "s");
    if (trace->without_time)
        builder_warn(trace->builder, text);
}

static int make_profile(struct trace *trace)
{
    struct profile_builder *builder = trace->builder;
    bool has_times = false, has_counts = false;
    int code = trace_add_profiles(trace, &has_times);
    builder->weight_type = WEIGHT_TRACING_MS;
    if (!code && !has_times)
        code = trace_add_samples(trace, &has_counts);
    if (has_counts)
        builder->weight_type = WEIGHT_SAMPLES;
    if (!code)
        code = trace_add_slices(trace, !has_times && !has_counts);
    builder->end = trace->end;
    for (size_t i = 0; i < builder->threads.length; i++) {
        uint32_t name = hash_get(&trace->process_names, builder->threads.data[i].pid);
        builder->threads.data[i].process_name = name == HASH_MISSING ? PROFILE_NONE : name;
    }
    return code;
}

int trace_events_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct trace trace = {.builder = builder, .err = err, .text = text, .end = -INFINITY};
    struct json json;
    json_init_whole(&json, text, size);
    json.allows_last_comma = true;
    builder->drops_empty_threads = true;
    int code = read_text(&trace, &json);
    if (!code)
        code = make_profile(&trace);
    if (!code)
        warn_of_losses(&trace, size);
    array_free(&trace.profiles);
    array_free(&trace.slices);
    hash_destroy(&trace.process_names);
    json_tree_destroy(&trace.tree);
    json_destroy(&json);
    return code;
}
