/*
 * Exports for web/src/engine/markers.ts: markers and counters. The answer with texts of several markers is one JSON
 * text.
 */
#include "tree/interval_json.h"
#include "tree/timeline_counters.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

static struct marker_view *get_marker_view(struct session *session)
{
    if (!session->markers.view)
        session->markers.view =
            marker_view_new(engine_get_profile(session->engine), engine_get_full_range(session->engine), &session->err);
    return session->markers.view;
}

static const struct view *fail_unknown(struct session *session, const char *noun)
{
    error_set(&session->err, EINVAL, "unknown %s", noun);
    return NULL;
}

/* ---- the query: the input holds the threads, then the search ---- */

int session_marker_query(struct session *session, uint32_t thread_count, double from, double to, uint32_t search_length,
                         uint32_t places)
{
    struct marker_view *view = get_marker_view(session);
    const uint32_t *words = session_get_words(session);
    struct marker_query query = {words,         thread_count, {from, to}, (const char *)(words + thread_count),
                                 search_length, places};
    return view ? marker_view_set_query(view, &query, &session->err) : error_no_memory(&session->err);
}

/* Indexes of markers. The input holds pairs of words: enum marker_column, and 1 for descending order. */
const struct view *session_marker_sorted(struct session *session, uint32_t key_count)
{
    enum { MOST_KEYS = 4 };
    const uint32_t *words = session_get_words(session);
    struct marker_sort keys[MOST_KEYS];
    if (!session->markers.view)
        return fail_unknown(session, "query");
    key_count = key_count < MOST_KEYS ? key_count : MOST_KEYS;
    for (uint32_t i = 0; i < key_count; i++)
        keys[i] = (struct marker_sort){(enum marker_column)words[2 * i], words[2 * i + 1] != 0};
    size_t count;
    marker_view_get_matches(session->markers.view, &count);
    const uint32_t *sorted = marker_view_sort(session->markers.view, keys, key_count, &session->err);
    return sorted ? ANSWER(session, count, sorted) : NULL;
}

/* Returns an array of IntervalStats of intervals.ts, as JSON, for the markers of the query. */
const struct view *session_intervals(struct session *session)
{
    struct interval_list list = {0};
    if (!session->markers.view)
        return fail_unknown(session, "query");
    size_t count;
    const uint32_t *shown = marker_view_get_matches(session->markers.view, &count);
    session_begin_json(session);
    int code = interval_list_fill(&list, engine_get_profile(session->engine),
                                  marker_view_get_markers(session->markers.view), shown, count, &session->err);
    interval_list_write(&session->json, session->engine, &list);
    interval_list_destroy(&list);
    return session_answer_json(session, code);
}

/* ---- texts ---- */

struct marker_writer {
    struct session *session;
    const struct marker_context *context;
    struct json_writer *json;
    struct text_buffer text;
    struct payload payload;
};

static struct marker_writer begin_writer(struct session *session)
{
    session_begin_json(session);
    return (struct marker_writer){
        .session = session, .context = marker_view_get_context(session->markers.view), .json = &session->json};
}

static const struct view *answer_with_text(struct marker_writer *writer, int code)
{
    array_free(&writer->text);
    payload_destroy(&writer->payload);
    return session_answer_json(writer->session, code);
}

/* Limit of the text of a marker in a list, bytes; a truncated character becomes U+FFFD. */
enum { MOST_TEXT = 16384 };

static size_t limit_length(size_t length)
{
    return length < MOST_TEXT ? length : MOST_TEXT;
}

static void write_string(struct marker_writer *writer, const char *key, uint32_t string)
{
    const struct string_entry *entry = &writer->context->values.profile->strings.entries.data[string];
    json_key(writer->json, key);
    json_text(writer->json, entry->text, limit_length(entry->length));
}

static int write_label(struct marker_writer *writer, const char *key, const struct marker *marker,
                       enum marker_label label)
{
    writer->text.length = 0;
    int code =
        marker_label_append(&writer->text, writer->context, marker, label, &writer->payload, &writer->session->err);
    json_key(writer->json, key);
    json_text(writer->json, writer->text.data ? writer->text.data : "", limit_length(writer->text.length));
    return code;
}

static void write_marker(struct marker_writer *writer, const struct marker *marker)
{
    write_string(writer, "name", marker->name);
    json_member_double(writer->json, "category", marker->category);
    json_member_double(writer->json, "thread", marker->thread);
    json_member_double(writer->json, "start", marker->start);
    json_member_double(writer->json, "end", marker->end);
    json_member_double(writer->json, "kind", marker->kind);
}

/* Returns an array of MarkerRow of markers.ts, as JSON. The input holds indexes of markers. */
const struct view *session_marker_texts(struct session *session, uint32_t count, int label)
{
    if (!session->markers.view)
        return fail_unknown(session, "query");
    struct marker_writer writer = begin_writer(session);
    const struct marker_list *list = marker_view_get_markers(session->markers.view);
    const uint32_t *words = session_get_words(session);
    int code = 0;
    json_open(writer.json, '[');
    for (uint32_t i = 0; !code && i < count; i++) {
        if (words[i] >= list->length)
            continue;
        const struct marker *marker = &list->data[words[i]];
        json_open(writer.json, '{');
        json_member_double(writer.json, "marker", words[i]);
        write_marker(&writer, marker);
        code = write_label(&writer, "label", marker,
                           label == MARKER_CHART_LABEL ? MARKER_CHART_LABEL : MARKER_TABLE_LABEL);
        json_close(writer.json, '}');
    }
    json_close(writer.json, ']');
    return answer_with_text(&writer, code);
}

static int write_fields(struct marker_writer *writer, const struct marker *marker)
{
    struct marker_field_list fields = {0};
    int code = payload_read(&writer->payload, writer->context->values.profile, marker, &writer->session->err);
    if (!code)
        code = list_marker_fields(&fields, writer->context, marker, &writer->payload, &writer->session->err);
    json_member_open(writer->json, "fields", '[');
    for (size_t i = 0; !code && i < fields.length; i++) {
        const struct marker_field_text *field = &fields.data[i];
        writer->text.length = 0;
        if (!marker_field_append(&writer->text, writer->context, field))
            code = error_no_memory(&writer->session->err);
        json_open(writer->json, '{');
        json_key(writer->json, "key");
        json_text(writer->json, field->value->key, field->value->key_length);
        json_key(writer->json, "label");
        if (field->field)
            json_text_z(writer->json, field->field->label);
        else
            json_text(writer->json, field->value->key, field->value->key_length);
        json_key(writer->json, "value");
        json_text(writer->json, writer->text.data ? writer->text.data : "", writer->text.length);
        json_member_bool(writer->json, "hidden", field->field && field->field->hidden);
        json_close(writer->json, '}');
    }
    json_close(writer->json, ']');
    array_free(&fields);
    return code;
}

/* Writes the payload as in the file; for an interval, the payload of the end, if any. */
static void write_payload(struct marker_writer *writer, const struct marker *marker)
{
    const struct profile *profile = writer->context->values.profile;
    const struct marker_table *markers = &profile->threads.data[marker->thread].markers;
    uint32_t data = marker->end_row == PROFILE_NONE ? PROFILE_NONE : markers->data[marker->end_row];
    data = data == PROFILE_NONE ? markers->data[marker->row] : data;
    json_key(writer->json, "payload");
    if (data == PROFILE_NONE)
        json_text_z(writer->json, "");
    else
        json_text(writer->json, strings_text(&profile->strings, data), profile->strings.entries.data[data].length);
}

/* Writes the funcs of the stack in the payload's field `cause`, root first. */
static void write_cause(struct marker_writer *writer)
{
    const struct profile *profile = writer->context->values.profile;
    const struct payload_value *cause = payload_find(&writer->payload, "cause");
    const char *at = cause ? memmem(cause->json, cause->length, "\"stack\":", 8) : NULL;
    char *end = NULL;
    double number = at ? strtod(at + 8, &end) : -1;
    json_member_open(writer->json, "cause", '[');
    if (at && end != at + 8 && number >= 0 && number < (double)profile->stacks.length) {
        enum { MOST_FRAMES = 1000 };
        uint32_t stack = (uint32_t)number, frames[MOST_FRAMES];
        size_t depth = 0;
        for (; stack != PROFILE_NONE && depth < MOST_FRAMES; stack = profile->stacks.prefix[stack])
            frames[depth++] = profile->frames.func[profile->stacks.frame[stack]];
        while (depth > 0)
            json_unsigned(writer->json, frames[--depth]);
    }
    json_close(writer->json, ']');
}

/* Returns MarkerDetails of markers.ts, as JSON. With a `thread`, `marker` is an index among the markers of this
 * thread; with PROFILE_NONE, among the markers of the query. */
const struct view *session_marker_details(struct session *session, uint32_t thread, uint32_t index)
{
    struct marker_view *view = get_marker_view(session);
    if (!view)
        return NULL;
    bool is_known = thread < engine_get_profile(session->engine)->threads.length;
    const struct marker_list *list =
        is_known ? marker_view_get_thread_markers(view, thread, &session->err) : marker_view_get_markers(view);
    if (list && index >= list->length)
        return fail_unknown(session, "marker");
    if (!list)
        return NULL;
    struct marker_writer writer = begin_writer(session);
    const struct marker *marker = &list->data[index];
    const struct marker_schemas *schemas = writer.context->schemas;
    const struct marker_schema *schema = marker->schema == SCHEMA_NONE ? NULL : &schemas->items.data[marker->schema];
    json_open(writer.json, '{');
    json_member_double(writer.json, "marker", index);
    write_marker(&writer, marker);
    int code = write_label(&writer, "label", marker, MARKER_TABLE_LABEL);
    if (!code)
        code = write_label(&writer, "title", marker, MARKER_TOOLTIP_LABEL);
    json_member_text(writer.json, "type", schema ? schema->name : "");
    json_member_text(writer.json, "description", schema && schema->description ? schema->description : "");
    if (!code)
        code = write_fields(&writer, marker);
    write_payload(&writer, marker);
    write_cause(&writer);
    json_close(writer.json, '}');
    return answer_with_text(&writer, code);
}

/* ---- the chart ---- */

/* Returns one column of struct marker_row (24 bytes). */
const struct view *session_marker_chart(struct session *session)
{
    const struct marker_chart *chart =
        session->markers.view ? marker_view_lay_out(session->markers.view, &session->err) : NULL;
    if (!chart)
        return NULL;
    return ANSWER_ARRAY(session, &chart->rows);
}

static const struct view *answer_rects(struct session *session)
{
    const struct marker_rects *rects = &session->markers.rects;
    return ANSWER(session, rects->length, rects->row, rects->marker, rects->count, rects->start, rects->end);
}

/* Returns columns: row, marker, count, start, end. */
const struct view *session_marker_rects(struct session *session, double from, double to, double pixel,
                                        uint32_t first_row, uint32_t last_row)
{
    const struct marker_chart *chart =
        session->markers.view ? marker_view_lay_out(session->markers.view, &session->err) : NULL;
    struct marker_window window = {from, to, pixel, first_row, last_row};
    if (!chart || marker_chart_list_rects(&session->markers.rects, chart,
                                          marker_view_get_markers(session->markers.view), &window, &session->err))
        return NULL;
    return answer_rects(session);
}

/* Returns the rects of one thread's markers in its track; the row is the category. */
const struct view *session_marker_strip(struct session *session, uint32_t thread, double from, double to, double pixel,
                                        uint32_t places)
{
    struct marker_view *view = get_marker_view(session);
    if (thread >= engine_get_profile(session->engine)->threads.length)
        return fail_unknown(session, "thread");
    if (!view)
        return NULL;
    struct marker_window window = {.from = from, .to = to, .pixel = pixel};
    if (marker_view_list_track_rects(view, thread, &window, places, &session->markers.rects, &session->err))
        return NULL;
    return answer_rects(session);
}

/* Returns the graph of a marker kind: per pixel, a value, and the thread's marker with the value. */
const struct view *session_marker_graph(struct session *session, uint32_t thread, uint32_t schema, uint32_t graph,
                                        double from, double to, uint32_t width)
{
    struct marker_view *view = get_marker_view(session);
    if (!view)
        return NULL;
    const struct marker_schemas *schemas = marker_view_get_context(view)->schemas;
    if (thread >= engine_get_profile(session->engine)->threads.length || schema >= schemas->items.length ||
        graph >= schemas->items.data[schema].graph_count)
        return fail_unknown(session, "graph");
    session->markers.graph_values.length = session->markers.graph_markers.length = 0;
    const struct marker_points *points = marker_view_get_points(view, thread, schema, graph, &session->err);
    if (!points)
        return NULL;
    if (!array_reserve(&session->markers.graph_values, (size_t)width + 1) ||
        !array_reserve(&session->markers.graph_markers, (size_t)width + 1))
        return no_memory(session);
    bool is_bar = schemas->graphs.data[schemas->items.data[schema].first_graph + graph].is_bar;
    draw_marker_graph(points, is_bar, from, to, session->markers.graph_values.data, session->markers.graph_markers.data,
                      width);
    return ANSWER(session, width, session->markers.graph_values.data, session->markers.graph_markers.data);
}

/* Returns the columns of session_marker_rects(), where the row is enum wait_state; then WAIT_STATES doubles: ms of
 * each state. */
const struct view *session_waits(struct session *session, uint32_t thread, double from, double to, double pixel)
{
    struct marker_view *view = get_marker_view(session);
    if (!view || thread >= engine_get_profile(session->engine)->threads.length)
        return NULL;
    const struct marker_list *list = marker_view_get_thread_markers(view, thread, &session->err);
    struct marker_window window = {.from = from, .to = to, .pixel = pixel};
    if (!list || list_on_cpu_rects(&session->markers.rects, session->markers.wait_totals, marker_view_get_context(view),
                                   list, &window, &session->err))
        return NULL;
    answer_rects(session);
    session->view.columns[5] = session->markers.wait_totals;
    return &session->view;
}

/* ---- counters ---- */

static const struct counter *find_counter(struct session *session, uint32_t counter)
{
    const struct profile *profile = engine_get_profile(session->engine);
    return counter < profile->counters.length ? &profile->counters.data[counter] : NULL;
}

static struct counter_display get_counter_display(const struct session *session, const struct counter *counter)
{
    struct counter_display display;
    read_counter_display(&display, engine_get_profile(session->engine), counter);
    return display;
}

/* A float for each pixel. */
const struct view *session_counter_graph(struct session *session, uint32_t index, double from, double to,
                                         uint32_t width)
{
    const struct counter *counter = find_counter(session, index);
    session->markers.graph_values.length = 0;
    if (!counter)
        return fail_unknown(session, "counter");
    if (!array_reserve(&session->markers.graph_values, (size_t)width + 1))
        return no_memory(session);
    draw_counter_graph(counter, get_counter_display(session, counter).is_rate, from, to,
                       session->markers.graph_values.data, width);
    return ANSWER(session, width, session->markers.graph_values.data);
}

static const struct view *answer_numbers(struct session *session, uint32_t count)
{
    return ANSWER(session, count, session->markers.counter_numbers);
}

/* Returns time, change, rate and running sum; empty without a sample at the time. */
const struct view *session_counter_at(struct session *session, uint32_t index, double time)
{
    const struct counter *counter = find_counter(session, index);
    struct counter_value value;
    if (!counter || !find_counter_value(&value, counter, get_counter_display(session, counter).is_rate, time))
        return answer_numbers(session, 0);
    const double numbers[] = {value.time, value.change, value.rate, value.accumulated};
    memcpy(session->markers.counter_numbers, numbers, sizeof(numbers));
    return answer_numbers(session, 4);
}

/* Returns the sum of changes, and the minimum and maximum running sum. */
const struct view *session_counter_totals(struct session *session, uint32_t index, double from, double to)
{
    const struct counter *counter = find_counter(session, index);
    struct counter_totals totals = {0};
    if (counter)
        sum_counter(&totals, counter, get_counter_display(session, counter).starts_at_zero, from, to);
    const double numbers[] = {totals.total, totals.low, totals.high};
    memcpy(session->markers.counter_numbers, numbers, sizeof(numbers));
    return answer_numbers(session, 3);
}
