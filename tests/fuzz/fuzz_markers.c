/*
 * Markers with any schema, payload and search: three texts separated by NULs. Two rows of each phase have the payload;
 * the test calls every function that a view uses.
 */
#include "support/marker_rows.h"
#include "tree/marker_view.h"
#include "tree/samply_waits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 8 };

static bool make_markers(struct profile *profile, uint32_t payload)
{
    struct thread *thread = profile_add_thread(profile);
    if (!thread || profile_add_category(profile, "Other", "grey") == PROFILE_NONE)
        return false;
    struct marker_table *markers = &thread->markers;
    if (!marker_rows_make(markers, ROWS))
        return false;
    for (uint32_t i = 0; i < ROWS; i++) {
        markers->name[i] = strings_add_z(&profile->strings, i % 2 ? "a" : "b");
        markers->start[i] = i;
        markers->end[i] = i + 2;
        markers->phase[i] = (uint8_t)(i / 2);
        markers->data[i] = payload;
    }
    return true;
}

static void draw_graphs(struct marker_view *view, const struct marker_window *window)
{
    enum { WIDTH = 16 };
    float values[WIDTH];
    uint32_t markers[WIDTH];
    struct error err;
    const struct marker_schemas *schemas = marker_view_get_context(view)->schemas;
    for (uint32_t i = 0; i < schemas->items.length; i++)
        for (uint32_t k = 0; k < schemas->items.data[i].graph_count; k++) {
            const struct marker_points *points = marker_view_get_points(view, 0, i, k, &err);
            if (points)
                draw_marker_graph(points, k % 2 == 0, window->from, window->to, values, markers, WIDTH);
        }
}

static void look_at(struct marker_view *view, const struct marker_query *query)
{
    static const struct marker_sort by_details = {MARKER_DETAILS, true};
    struct error err;
    struct text_buffer text = {0};
    struct payload payload = {0};
    struct marker_rects rects = {0};
    struct marker_window window = {0, 10, 0.5, 0, 100};
    double totals[WAIT_STATES];
    if (marker_view_set_query(view, query, &err))
        return;
    const struct marker_list *list = marker_view_get_markers(view);
    const struct marker_chart *chart = marker_view_lay_out(view, &err);
    if (chart)
        marker_chart_list_rects(&rects, chart, list, &window, &err);
    marker_view_sort(view, &by_details, 1, &err);
    marker_view_list_track_rects(view, 0, &window, marker_view_find_places(view, 0), &rects, &err);
    draw_graphs(view, &window);
    list_on_cpu_rects(&rects, totals, marker_view_get_context(view), list, &window, &err);
    for (size_t i = 0; i < list->length; i++)
        for (int label = MARKER_TABLE_LABEL; label <= MARKER_TOOLTIP_LABEL; label++)
            marker_label_append(&text, marker_view_get_context(view), &list->data[i], (enum marker_label)label,
                                &payload, &err);
    marker_rects_destroy(&rects);
    payload_destroy(&payload);
    array_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *limit = text + size;
    const char *first = size ? memchr(text, 0, size) : NULL;
    const char *second = first ? memchr(first + 1, 0, (size_t)(limit - first - 1)) : NULL;
    struct profile profile;
    struct error err;
    if (!second)
        return 0;
    profile_init(&profile);
    profile.meta.marker_schema = strings_add(&profile.strings, text, (size_t)(first - text));
    if (make_markers(&profile, strings_add(&profile.strings, first + 1, (size_t)(second - first - 1)))) {
        const uint32_t thread = 0;
        struct marker_query query = {&thread, 1, whole_time, second + 1, (size_t)(limit - second - 1), 0};
        struct marker_view *view = marker_view_new(&profile, (struct time_range){0, 10}, &err);
        if (view)
            look_at(view, &query);
        marker_view_free(view);
    }
    profile_destroy(&profile);
    return 0;
}
