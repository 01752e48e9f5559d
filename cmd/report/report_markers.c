/*
 * `prof report --markers`: the markers of the threads, by start, as in the page's marker table. With --markers,
 * --search searches markers instead of stacks, as in the page.
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_text.h"
#include "cmd/report/report_rows.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/marker_view.h"

enum { START_COLUMNS = 13, DURATION_COLUMNS = 12, NAME_COLUMNS = 28 };

struct marker_report {
    const struct report *report;
    struct marker_view *view;
    const uint32_t *shown;
    size_t count;
    struct text_buffer text;
    struct payload payload;
};

int report_query_markers(const struct report *report, const char *search, struct marker_view **view, struct error *err)
{
    const struct marker_query query = {.threads = report->threads.data,
                                       .thread_count = report->threads.length,
                                       .range = report->range,
                                       .search = search,
                                       .search_length = strlen(search)};
    *view = marker_view_new(report->profile, engine_get_full_range(report->engine), err);
    return *view ? marker_view_set_query(*view, &query, err) : error_no_memory(err);
}

static int query_markers(struct marker_report *markers, const struct report *report, struct error *err)
{
    *markers = (struct marker_report){.report = report};
    int code = report_query_markers(report, report->options.search, &markers->view, err);
    if (code)
        return code;
    markers->shown = marker_view_get_matches(markers->view, &markers->count);
    return 0;
}

static void destroy_marker_report(struct marker_report *markers)
{
    marker_view_free(markers->view);
    array_free(&markers->text);
    payload_destroy(&markers->payload);
}

static const struct marker *get_marker_at(const struct marker_report *markers, size_t at)
{
    return &marker_view_get_markers(markers->view)->data[markers->shown[at]];
}

/* Formats the Details column of a marker, NUL-terminated. NULL if memory ran out. */
static const char *format_details(struct marker_report *markers, const struct marker *marker, struct error *err)
{
    markers->text.length = 0;
    if (marker_label_append(&markers->text, marker_view_get_context(markers->view), marker, MARKER_TABLE_LABEL,
                            &markers->payload, err))
        return NULL;
    if (!text_append(&markers->text, "", 1)) {
        error_no_memory(err);
        return NULL;
    }
    return markers->text.data;
}

static const char *get_marker_name(const struct marker_report *markers, const struct marker *marker)
{
    return strings_text(&markers->report->profile->strings, marker->name);
}

static int print_marker(struct marker_report *markers, const struct marker *marker, struct error *err)
{
    const struct report *report = markers->report;
    double zero = marker_view_get_context(markers->view)->values.zero;
    char duration[QUANTITY_TEXT_MAX] = "";
    const char *details = format_details(markers, marker, err);
    if (!details)
        return -1;
    if (marker->kind != MARKER_INSTANT)
        format_number(duration, "duration", marker->end - marker->start);
    char *micro = strstr(duration, "\xc2\xb5");
    if (micro && !report->utf8) {
        *micro = 'u';
        memmove(micro + 1, micro + 2, strlen(micro + 1));
    }
    ui_print("%*.3f ", START_COLUMNS, marker->start - zero);
    report_print_right_aligned(report, duration, DURATION_COLUMNS);
    fputs("  ", stdout);
    unsigned used = report_print_text(report, get_marker_name(markers, marker), NAME_COLUMNS);
    if (*details) {
        ui_print("%*s", NAME_COLUMNS + 2 - (int)used, "");
        report_print_text(report, details,
                          report_measure_room(report, START_COLUMNS + DURATION_COLUMNS + NAME_COLUMNS + 5));
    }
    putchar('\n');
    return 0;
}

int report_print_markers(const struct report *report, struct error *err)
{
    enum { USUAL_LIMIT = 400 };
    struct marker_report markers;
    size_t limit = report_get_row_limit(report, USUAL_LIMIT);
    int code = query_markers(&markers, report, err);
    if (!code)
        ui_print("%*s %*s  %-*s  details\n", START_COLUMNS, "start, ms", DURATION_COLUMNS, "duration", NAME_COLUMNS,
                 "marker");
    size_t i = 0;
    for (; !code && i < markers.count && i < limit; i++)
        code = print_marker(&markers, get_marker_at(&markers, i), err);
    if (!code && markers.count == 0)
        puts("No markers.");
    struct row_counts counts = {.limit = i < markers.count ? limit : 0};
    if (!code)
        report_print_omissions(report, &counts, "marker");
    destroy_marker_report(&markers);
    return code;
}

static int write_marker(struct json_writer *json, struct marker_report *markers, const struct marker *marker,
                        struct error *err)
{
    static const char *const kinds[] = {"instant", "interval", "without start", "without end"};
    const struct profile *profile = markers->report->profile;
    double zero = marker_view_get_context(markers->view)->values.zero;
    const char *details = format_details(markers, marker, err);
    if (!details)
        return -1;
    json_open(json, '{');
    json_member_text(json, "name", get_marker_name(markers, marker));
    json_member_text(json, "category",
                     strings_text(&profile->strings, profile->categories.data[marker->category].name));
    json_member_unsigned(json, "thread", marker->thread);
    json_member_double(json, "start", marker->start - zero);
    json_member_double(json, "end", marker->end - zero);
    json_member_text(json, "kind", kinds[marker->kind]);
    json_member_text(json, "details", details);
    json_close(json, '}');
    return 0;
}

int report_write_markers(struct json_writer *json, const struct report *report, struct error *err)
{
    struct marker_report markers;
    size_t limit = report_get_row_limit(report, SIZE_MAX);
    int code = query_markers(&markers, report, err);
    json_member_open(json, "markers", '[');
    for (size_t i = 0; !code && i < markers.count && i < limit; i++)
        code = write_marker(json, &markers, get_marker_at(&markers, i), err);
    json_close(json, ']');
    destroy_marker_report(&markers);
    return code;
}
