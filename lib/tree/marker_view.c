#include "tree/marker_view.h"

#include "base/search.h"
#include "tree/order.h"

enum { MOST_SORT_KEYS = 4 };

struct thread_markers {
    struct marker_list list;
    bool is_made;
};

/* A requested graph of a thread. */
struct thread_graph {
    uint32_t thread, graph; /* index of the graph among the graphs of all schemas */
    struct marker_points points;
};

struct marker_view {
    struct marker_schemas schemas;
    struct marker_context context;
    struct time_range whole;
    struct thread_markers *threads;
    ARRAY(struct thread_graph) graphs;

    ARRAY(uint32_t) chosen; /* the threads of the query */
    struct marker_list list;
    struct marker_texts texts; /* searchable texts of the list, NULL before the first search */
    uint8_t *found;            /* by the last search */
    struct text_buffer search;

    struct time_range range;
    ARRAY(uint32_t) shown, sorted;
    struct text_buffer details; /* details of all markers of the list, empty before the first sort by details */
    ARRAY(size_t) details_end;
    struct marker_chart chart;

    unsigned places; /* of the query */
    bool has_list, has_texts, has_shown, has_details, has_chart;
};

/* ---- life ---- */

struct marker_view *marker_view_new(const struct profile *profile, struct time_range whole, struct error *err)
{
    struct marker_view *view = calloc(1, sizeof(*view));
    if (view)
        view->threads = calloc(profile->threads.length + 1, sizeof(*view->threads));
    if (!view || !view->threads) {
        free(view);
        error_no_memory(err);
        return NULL;
    }
    view->whole = whole;
    view->context = (struct marker_context){{profile, whole.from}, &view->schemas};
    uint32_t schema = profile->meta.marker_schema;
    const struct string_entry none = {0};
    const struct string_entry *json = schema == PROFILE_NONE ? &none : &profile->strings.entries.data[schema];
    if (marker_schemas_read(&view->schemas, json->text, json->length, err)) {
        marker_view_free(view);
        return NULL;
    }
    return view;
}

void marker_view_free(struct marker_view *view)
{
    if (!view)
        return;
    for (size_t i = 0; i < view->context.values.profile->threads.length; i++)
        array_free(&view->threads[i].list);
    free(view->threads);
    for (size_t i = 0; i < view->graphs.length; i++)
        array_free(&view->graphs.data[i].points);
    array_free(&view->graphs);
    marker_schemas_destroy(&view->schemas);
    array_free(&view->chosen);
    array_free(&view->list);
    marker_texts_destroy(&view->texts);
    free(view->found);
    array_free(&view->search);
    array_free(&view->shown);
    array_free(&view->sorted);
    array_free(&view->details);
    array_free(&view->details_end);
    marker_chart_destroy(&view->chart);
    free(view);
}

const struct marker_context *marker_view_get_context(const struct marker_view *view)
{
    return &view->context;
}

/* ---- the list ---- */

const struct marker_list *marker_view_get_thread_markers(struct marker_view *view, uint32_t thread, struct error *err)
{
    struct thread_markers *markers = &view->threads[thread];
    if (!markers->is_made &&
        marker_list_add_thread(&markers->list, view->context.values.profile, &view->schemas, thread, view->whole, err))
        return NULL;
    markers->is_made = true;
    return &markers->list;
}

static int add_thread(struct marker_view *view, uint32_t thread, struct error *err)
{
    const struct marker_list *markers = marker_view_get_thread_markers(view, thread, err);
    return markers && array_append(&view->list, markers->data, markers->length) ? 0 : error_no_memory(err);
}

static bool is_named_before(const struct marker_query *query, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (query->threads[i] == query->threads[at])
            return true;
    return false;
}

static int update_list(struct marker_view *view, const struct marker_query *query, struct error *err)
{
    if (view->has_list && array_equals(&view->chosen, query->threads, query->thread_count))
        return 0;
    view->has_list = view->has_texts = view->has_details = view->has_shown = false;
    view->chosen.length = view->list.length = view->search.length = 0;
    size_t thread_count = view->context.values.profile->threads.length;
    int code = 0;
    for (size_t i = 0; !code && i < query->thread_count; i++) {
        uint32_t thread = query->threads[i];
        if (!array_push(&view->chosen, thread))
            code = error_no_memory(err);
        else if (thread < thread_count && !is_named_before(query, i))
            code = add_thread(view, thread, err);
    }
    if (!code && query->thread_count > 1)
        code = marker_list_sort(&view->list, 0, err);
    view->has_list = code == 0;
    return code;
}

/* ---- the query ---- */

static int update_search(struct marker_view *view, const struct marker_query *query, struct error *err)
{
    if (array_equals(&view->search, query->search, query->search_length))
        return 0;
    view->has_shown = false;
    view->search.length = 0;
    if (query->search_length == 0)
        return 0;
    int code = view->has_texts ? 0 : marker_texts_make(&view->texts, &view->context, &view->list, err);
    view->has_texts = code == 0;
    uint8_t *found = code ? NULL : realloc(view->found, view->list.length + 1);
    if (!found)
        return code ? code : error_no_memory(err);
    view->found = found;
    code = marker_search(&view->texts, &view->context, &view->list, query->search, query->search_length, found, err);
    if (!code && !text_append(&view->search, query->search, query->search_length))
        code = error_no_memory(err);
    return code;
}

static bool is_shown_in(const struct marker_view *view, const struct marker *marker, unsigned places)
{
    return places == 0 || marker->schema == SCHEMA_NONE ||
           (view->schemas.items.data[marker->schema].places & places) != 0;
}

static bool overlaps_range(const struct marker *marker, struct time_range range)
{
    if (marker->start >= range.to)
        return false;
    return marker->end > range.from || (marker->end == range.from && marker->start == marker->end);
}

int marker_view_set_query(struct marker_view *view, const struct marker_query *query, struct error *err)
{
    int code = update_list(view, query, err);
    if (!code)
        code = update_search(view, query, err);
    if (code)
        return code;
    if (view->has_shown && view->range.from == query->range.from && view->range.to == query->range.to &&
        view->places == query->places)
        return 0;
    view->has_chart = view->has_shown = false;
    view->shown.length = 0;
    if (!array_reserve(&view->shown, view->list.length))
        return error_no_memory(err);
    for (uint32_t i = 0; i < view->list.length; i++) {
        const struct marker *marker = &view->list.data[i];
        if (overlaps_range(marker, query->range) && is_shown_in(view, marker, query->places) &&
            (view->search.length == 0 || view->found[i]))
            view->shown.data[view->shown.length++] = i;
    }
    view->range = query->range;
    view->places = query->places;
    view->has_shown = true;
    return 0;
}

const struct marker_list *marker_view_get_markers(const struct marker_view *view)
{
    return &view->list;
}

const uint32_t *marker_view_get_matches(const struct marker_view *view, size_t *count)
{
    *count = view->shown.length;
    return view->shown.data;
}

const struct marker_chart *marker_view_lay_out(struct marker_view *view, struct error *err)
{
    if (!view->has_chart && marker_chart_make(&view->chart, view->context.values.profile, &view->list, view->shown.data,
                                              view->shown.length, err))
        return NULL;
    view->has_chart = true;
    return &view->chart;
}

/* ---- tracks ---- */

int marker_view_list_track_rects(struct marker_view *view, uint32_t thread, const struct marker_window *window,
                                 unsigned places, struct marker_rects *rects, struct error *err)
{
    const struct marker_list *list = marker_view_get_thread_markers(view, thread, err);
    size_t category_count = view->context.values.profile->categories.length;
    double *passed = malloc((category_count + 1) * sizeof(*passed)); /* for each category, end of its last rect */
    size_t *last = malloc((category_count + 1) * sizeof(*last));
    bool done = list && passed && last;
    rects->length = 0;
    for (size_t i = 0; done && i < category_count; i++)
        passed[i] = -INFINITY;
    for (uint32_t i = 0; done && i < list->length && list->data[i].start < window->to; i++) {
        const struct marker *marker = &list->data[i];
        if (marker->end < window->from || marker->schema == SCHEMA_NONE || !is_shown_in(view, marker, places))
            continue;
        if (marker->end <= passed[marker->category]) {
            rects->count[last[marker->category]]++;
            continue;
        }
        done = marker_rects_add(rects, marker->category, i, 1, marker->start, marker->end);
        passed[marker->category] = fmax(marker->end, marker->start + window->pixel);
        last[marker->category] = rects->length - 1;
    }
    free(passed);
    free(last);
    return done ? 0 : error_no_memory(err);
}

const struct marker_points *marker_view_get_points(struct marker_view *view, uint32_t thread, uint32_t schema,
                                                   uint32_t graph, struct error *err)
{
    const uint32_t index = view->schemas.items.data[schema].first_graph + graph;
    for (size_t i = 0; i < view->graphs.length; i++)
        if (view->graphs.data[i].thread == thread && view->graphs.data[i].graph == index)
            return &view->graphs.data[i].points;
    struct thread_graph made = {.thread = thread, .graph = index};
    const struct marker_list *list = marker_view_get_thread_markers(view, thread, err);
    if (!list ||
        marker_points_read(&made.points, &view->context, list, schema, view->schemas.graphs.data[index].key, err) ||
        !array_push(&view->graphs, made)) {
        array_free(&made.points);
        error_no_memory(err);
        return NULL;
    }
    return &view->graphs.data[view->graphs.length - 1].points;
}

/* Finds the kind of the marker in a row of the table, by its payload alone. */
static uint32_t find_row_schema(const struct marker_view *view, const struct marker_table *markers, size_t row,
                                struct text_buffer *decoded)
{
    if (markers->data[row] == PROFILE_NONE)
        return SCHEMA_NONE;
    const struct string_entry *entry = &view->context.values.profile->strings.entries.data[markers->data[row]];
    size_t length;
    const char *type = find_payload_type(entry->text, entry->length, &length, decoded);
    return type ? marker_schemas_find(&view->schemas, type, length) : SCHEMA_NONE;
}

bool marker_view_has_kind(const struct marker_view *view, uint32_t thread, uint32_t schema)
{
    const struct marker_table *markers = &view->context.values.profile->threads.data[thread].markers;
    struct text_buffer decoded = {0};
    bool found = false;
    for (size_t i = 0; !found && schema != SCHEMA_NONE && i < markers->length; i++)
        found = find_row_schema(view, markers, i, &decoded) == schema;
    array_free(&decoded);
    return found;
}

unsigned marker_view_find_places(const struct marker_view *view, uint32_t thread)
{
    const struct marker_table *markers = &view->context.values.profile->threads.data[thread].markers;
    struct text_buffer decoded = {0};
    unsigned all = 0, found = 0;
    for (size_t i = 0; i < view->schemas.items.length; i++)
        all |= view->schemas.items.data[i].places;
    for (size_t i = 0; found != all && i < markers->length; i++) {
        uint32_t schema = find_row_schema(view, markers, i, &decoded);
        found |= schema == SCHEMA_NONE ? 0 : view->schemas.items.data[schema].places;
    }
    array_free(&decoded);
    return found;
}

/* ---- sorting ---- */

static int compute_details(struct marker_view *view, struct error *err)
{
    struct payload payload = {0};
    int code = array_reserve(&view->details, 1) ? 0 : error_no_memory(err); /* not NULL, even if all are empty */
    view->details.length = view->details_end.length = 0;
    for (size_t i = 0; !code && i < view->list.length; i++) {
        code =
            marker_label_append(&view->details, &view->context, &view->list.data[i], MARKER_TABLE_LABEL, &payload, err);
        if (!code && !array_push(&view->details_end, view->details.length))
            code = error_no_memory(err);
    }
    payload_destroy(&payload);
    view->has_details = code == 0;
    return code;
}

static int compare_texts(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t shorter = a_length < b_length ? a_length : b_length;
    int order = shorter ? memcmp(a, b, shorter) : 0;
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_names(const struct marker_view *view, uint32_t a, uint32_t b)
{
    const struct string_entry *strings = view->context.values.profile->strings.entries.data;
    return a == b ? 0 : compare_texts(strings[a].text, strings[a].length, strings[b].text, strings[b].length);
}

static int compare_details(const struct marker_view *view, uint32_t a, uint32_t b)
{
    const size_t *ends = view->details_end.data;
    size_t a_begin = a ? ends[a - 1] : 0, b_begin = b ? ends[b - 1] : 0;
    return compare_texts(view->details.data + a_begin, ends[a] - a_begin, view->details.data + b_begin,
                         ends[b] - b_begin);
}

static double get_marker_duration(const struct marker *marker)
{
    return marker->kind == MARKER_INSTANT ? -1 : marker->end - marker->start;
}

static int compare_by(const struct marker_view *view, enum marker_column column, uint32_t a, uint32_t b)
{
    const struct marker *left = &view->list.data[a], *right = &view->list.data[b];
    switch (column) {
    case MARKER_DURATION:
        return (get_marker_duration(left) > get_marker_duration(right)) -
               (get_marker_duration(left) < get_marker_duration(right));
    case MARKER_NAME:
        return compare_names(view, left->name, right->name);
    case MARKER_DETAILS:
        return compare_details(view, a, b);
    default:
        return ORDER(left->start, right->start);
    }
}

struct sort_request {
    const struct marker_view *view;
    const struct marker_sort *keys;
    size_t count;
};

static bool is_marker_after(const void *context, uint32_t a, uint32_t b)
{
    const struct sort_request *request = context;
    for (size_t i = 0; i < request->count; i++) {
        int order = compare_by(request->view, request->keys[i].column, a, b);
        if (order)
            return request->keys[i].descending ? order < 0 : order > 0;
    }
    return false;
}

const uint32_t *marker_view_sort(struct marker_view *view, const struct marker_sort *keys, size_t key_count,
                                 struct error *err)
{
    size_t length = view->shown.length;
    view->sorted.length = 0;
    if (!array_reserve(&view->sorted, length + 1)) {
        error_no_memory(err);
        return NULL;
    }
    if (length)
        memcpy(view->sorted.data, view->shown.data, length * sizeof(*view->sorted.data));
    view->sorted.length = length;
    key_count = key_count < MOST_SORT_KEYS ? key_count : MOST_SORT_KEYS;
    for (size_t i = 0; i < key_count; i++)
        if (keys[i].column == MARKER_DETAILS && !view->has_details && compute_details(view, err))
            return NULL;
    struct sort_request request = {view, keys, key_count};
    return order_sort_numbers(view->sorted.data, length, is_marker_after, &request, err) ? NULL : view->sorted.data;
}
