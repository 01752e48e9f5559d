/*
 * Chrome's trace events (the "Trace Event Format"), for the Performance panel of Chrome's developer tools, Perfetto and
 * speedscope: names of processes and threads, each marker as an event, and for each thread a sampled profile of V8's
 * kind ("Profile" and "ProfileChunk"). In V8's format a sample lasts until the next one. So a sample ends at its time
 * in the profile, and "(idle)" fills time without weight. If the weight is no time, each sample lasts one interval.
 * Times are in µs.
 */
#include "export/exporters.h"

#include "base/json_write.h"
#include "tree/marker_view.h"

enum { ID_ROOT = 1, ID_IDLE, ID_NODES };

struct trace_sample {
    uint32_t id;
    double start; /* µs */
};

struct trace {
    const struct export_view *view;
    const struct profile *profile;
    const struct call_nodes *nodes;
    struct json_writer *json;
    uint8_t *used; /* for each call node, whether the thread uses the node */
    ARRAY(struct trace_sample) spans;
    double end;    /* µs, of the last span */
    double factor; /* factor from a weight to µs */
    bool failed;
};

static void add_span(struct trace *trace, uint32_t id, double start)
{
    size_t length = trace->spans.length;
    if (length && trace->spans.data[length - 1].id == id)
        return;
    if (!array_push(&trace->spans, (struct trace_sample){id, start}))
        trace->failed = true;
}

static void add_sample(void *context, uint32_t stack, double weight, double time)
{
    struct trace *trace = context;
    uint32_t node = trace->nodes->of_stack[stack];
    double duration = fabs(weight) * trace->factor, start = time * 1000 - duration;
    if (duration == 0)
        return;
    if (trace->spans.length == 0)
        trace->end = start;
    else if (start > trace->end + 1)
        add_span(trace, ID_IDLE, trace->end);
    else
        start = trace->end; /* starts at the end of the previous span, so that rounded times add up */
    add_span(trace, node + ID_NODES, start);
    trace->end = start + duration;
    for (; node != NODE_NONE && !trace->used[node]; node = trace->nodes->prefix[node])
        trace->used[node] = 1;
}

static int64_t hash_text(const struct trace *trace, uint32_t string, uint32_t otherwise)
{
    const char *text = profile_text(trace->profile, string);
    size_t digits = strspn(text, "0123456789");
    return digits && digits <= 10 ? strtoll(text, NULL, 10) : (int64_t)otherwise;
}

static void begin_event(struct trace *trace, const char *name, const char *phase, const char *category, uint32_t thread)
{
    const struct thread *of = &trace->profile->threads.data[thread];
    json_open(trace->json, '{');
    json_member_text(trace->json, "name", name);
    json_member_text(trace->json, "ph", phase);
    json_member_text(trace->json, "cat", category);
    json_key(trace->json, "pid");
    json_signed(trace->json, hash_text(trace, of->pid, 0));
    json_key(trace->json, "tid");
    json_signed(trace->json, hash_text(trace, of->tid, thread));
}

static void write_time(struct trace *trace, const char *key, double time)
{
    json_key(trace->json, key);
    json_decimal(trace->json, (int64_t)llround(time * 1000), 3);
}

static void write_name(struct trace *trace, const char *kind, uint32_t thread, uint32_t name)
{
    begin_event(trace, kind, "M", "__metadata", thread);
    json_member_unsigned(trace->json, "ts", 0);
    json_member_open(trace->json, "args", '{');
    json_member_text(trace->json, "name", profile_text(trace->profile, name));
    json_close(trace->json, '}');
    json_close(trace->json, '}');
}

/* ---- samples ---- */

static void write_node(struct trace *trace, uint32_t id, uint32_t parent, const char *name, const char *file,
                       uint32_t line)
{
    json_open(trace->json, '{');
    json_member_unsigned(trace->json, "id", id);
    if (parent)
        json_member_unsigned(trace->json, "parent", parent);
    json_member_open(trace->json, "callFrame", '{');
    json_member_text(trace->json, "functionName", name);
    json_member_text(trace->json, "url", file);
    json_key(trace->json, "scriptId");
    json_unsigned(trace->json, 0);
    json_key(trace->json, "lineNumber"); /* from 0 */
    json_signed(trace->json, line ? (int64_t)line - 1 : -1);
    json_key(trace->json, "columnNumber");
    json_signed(trace->json, -1);
    json_close(trace->json, '}');
    json_close(trace->json, '}');
}

static void write_nodes(struct trace *trace)
{
    json_member_open(trace->json, "nodes", '[');
    write_node(trace, ID_ROOT, 0, "(root)", "", 0);
    write_node(trace, ID_IDLE, ID_ROOT, "(idle)", "", 0);
    for (uint32_t node = 0; node < trace->nodes->length; node++) {
        if (!trace->used[node])
            continue;
        struct func_names names = get_func_names(trace->profile, trace->nodes->func[node]);
        uint32_t parent = trace->nodes->prefix[node];
        const char *name = profile_text(trace->profile, names.name);
        write_node(trace, node + ID_NODES, parent == NODE_NONE ? ID_ROOT : parent + ID_NODES,
                   *name ? name : "(no name)",
                   profile_text(trace->profile, names.file != PROFILE_NONE ? names.file : names.lib), names.line);
    }
    json_close(trace->json, ']');
}

static void write_thread(struct trace *trace, uint32_t thread, uint32_t number)
{
    const struct weight *weight = &trace->view->weight;
    memset(trace->used, 0, trace->nodes->length + 1);
    trace->spans.length = 0;
    engine_weigh_thread(trace->view->engine, thread, weight->kind, weight->table, add_sample, trace);
    if (!trace->spans.length)
        return;
    double start = trace->spans.data[0].start;
    add_span(trace, ID_IDLE, trace->end); /* end of the last sample */
    for (int chunk = 0; chunk < 2; chunk++) {
        begin_event(trace, chunk ? "ProfileChunk" : "Profile", "P", "disabled-by-default-v8.cpu_profiler", thread);
        json_member_hex(trace->json, "id", number);
        write_time(trace, "ts", start);
        json_member_open(trace->json, "args", '{');
        json_member_open(trace->json, "data", '{');
        if (!chunk) {
            write_time(trace, "startTime", start);
        } else {
            json_member_open(trace->json, "cpuProfile", '{');
            write_nodes(trace);
            json_member_open(trace->json, "samples", '[');
            for (size_t i = 0; i < trace->spans.length; i++)
                json_unsigned(trace->json, trace->spans.data[i].id);
            json_close(trace->json, ']');
            json_close(trace->json, '}');
            int64_t last = llround(start * 1000);
            json_member_open(trace->json, "timeDeltas", '[');
            for (size_t i = 0; i < trace->spans.length; i++) {
                int64_t at = llround(trace->spans.data[i].start * 1000);
                json_decimal(trace->json, at - last, 3);
                last = at;
            }
            json_close(trace->json, ']');
            write_time(trace, "endTime", trace->end);
        }
        json_close(trace->json, '}');
        json_close(trace->json, '}');
        json_close(trace->json, '}');
    }
}

/* ---- markers ---- */

static int write_marker(struct trace *trace, const struct marker_view *markers, const struct marker *marker,
                        struct text_buffer *text, struct payload *payload, struct error *err)
{
    text->length = 0;
    int code = marker_label_append(text, marker_view_get_context(markers), marker, MARKER_TABLE_LABEL, payload, err);
    if (code)
        return code;
    bool is_instant = marker->kind == MARKER_INSTANT;
    begin_event(trace, profile_text(trace->profile, marker->name), is_instant ? "i" : "X",
                profile_text(trace->profile, trace->profile->categories.data[marker->category].name), marker->thread);
    write_time(trace, "ts", marker->start * 1000);
    if (is_instant)
        json_member_text(trace->json, "s", "t");
    else
        write_time(trace, "dur", (marker->end - marker->start) * 1000);
    json_member_open(trace->json, "args", '{');
    json_key(trace->json, "details");
    json_text(trace->json, text->length ? text->data : "", text->length);
    json_close(trace->json, '}');
    json_close(trace->json, '}');
    return 0;
}

static int write_markers(struct trace *trace, struct error *err)
{
    struct marker_view *markers = marker_view_new(trace->profile, engine_get_full_range(trace->view->engine), err);
    const struct marker_query query = {.threads = trace->view->threads,
                                       .thread_count = trace->view->thread_count,
                                       .range = trace->view->range,
                                       .search = ""};
    struct text_buffer text = {0};
    struct payload payload = {0};
    size_t count = 0;
    int code = markers ? marker_view_set_query(markers, &query, err) : error_no_memory(err);
    const uint32_t *shown = code ? NULL : marker_view_get_matches(markers, &count);
    for (size_t i = 0; !code && i < count; i++)
        code = write_marker(trace, markers, &marker_view_get_markers(markers)->data[shown[i]], &text, &payload, err);
    marker_view_free(markers);
    array_free(&text);
    payload_destroy(&payload);
    return code;
}

int export_chrome_trace(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    struct trace trace = {
        .view = view, .profile = engine_get_profile(view->engine), .nodes = engine_get_nodes(view->engine)};
    bool is_time = strcmp(view->weight.unit, "ms") == 0;
    trace.factor = (is_time ? 1 : trace.profile->meta.interval > 0 ? trace.profile->meta.interval : 1) * 1000;
    trace.json = malloc(sizeof(*trace.json));
    trace.used = malloc(trace.nodes->length + 1);
    int code = trace.json && trace.used ? 0 : error_no_memory(err);
    if (!code) {
        json_writer_init(trace.json, sink, err);
        json_open(trace.json, '{');
        json_member_open(trace.json, "traceEvents", '[');
        for (size_t i = 0; i < view->thread_count; i++) {
            const struct thread *thread = &trace.profile->threads.data[view->threads[i]];
            if (thread->is_main && thread->process_name != PROFILE_NONE)
                write_name(&trace, "process_name", view->threads[i], thread->process_name);
            write_name(&trace, "thread_name", view->threads[i], thread->name);
        }
        for (size_t i = 0; i < view->thread_count && !trace.failed; i++)
            write_thread(&trace, view->threads[i], (uint32_t)i + 1);
        code = trace.failed ? error_no_memory(err) : write_markers(&trace, err);
        json_close(trace.json, ']');
        json_member_text(trace.json, "displayTimeUnit", "ms");
        json_close(trace.json, '}');
    }
    if (!code)
        code = json_writer_finish(trace.json);
    array_free(&trace.spans);
    free(trace.json);
    free(trace.used);
    return code;
}
