/*
 * Tables as comma-separated values (RFC 4180, with bare newlines): a line of titles, then a line for each row. Numbers
 * are ms, bytes, or counts. Texts that a spreadsheet would evaluate as a formula get a leading
 * apostrophe, because names are untrusted.
 */
#include "export/exporters.h"

#include "base/sink_writer.h"
#include "tree/line_costs.h"
#include "tree/marker_view.h"

#include <float.h>

struct csv {
    const struct export_view *view;
    const struct profile *profile;
    struct sink_writer *out;
    struct error *err;
    bool in_row; /* the row has a field: the next field needs a comma */
};

static void write_separator(struct csv *csv)
{
    if (csv->in_row)
        sink_put(csv->out, ",", 1);
    csv->in_row = true;
}

static void end_row(struct csv *csv)
{
    sink_put(csv->out, "\n", 1);
    csv->in_row = false;
}

static void write_text(struct csv *csv, const char *text)
{
    bool is_formula = *text && strchr("=+-@\t\r", *text) != NULL;
    write_separator(csv);
    if (!is_formula && !strpbrk(text, ",\"\n\r")) {
        sink_put_z(csv->out, text);
        return;
    }
    sink_put_z(csv->out, is_formula ? "\"'" : "\"");
    for (const char *quote; (quote = strchr(text, '"')) != NULL; text = quote + 1) {
        sink_put(csv->out, text, (size_t)(quote - text) + 1);
        sink_put(csv->out, "\"", 1);
    }
    sink_put_z(csv->out, text);
    sink_put_z(csv->out, "\"");
}

static void write_string(struct csv *csv, uint32_t string)
{
    write_text(csv, profile_text(csv->profile, string));
}

/* Writes a number, or an empty field for an unknown number. A time in ms gets at most six decimals (ns), because the
 * later digits of a sum of many times are rounding errors. */
static void write_number(struct csv *csv, double value)
{
    static const double least = 0.5e-6;
    char digits[DBL_MAX_10_EXP + 16];
    write_separator(csv);
    if (!isfinite(value))
        return;
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%.6f", fabs(value) < least ? 0 : value);
    while (digits[length - 1] == '0')
        length--;
    sink_put(csv->out, digits, length - (digits[length - 1] == '.'));
}

static void write_titles(struct csv *csv, const char *const *titles)
{
    for (; *titles; titles++)
        write_text(csv, *titles);
    end_row(csv);
}

#define PUT_TITLES(csv, ...) write_titles((csv), (const char *const[]){__VA_ARGS__, NULL})

static void write_func(struct csv *csv, uint32_t func)
{
    struct func_names names = get_func_names(csv->profile, func);
    write_string(csv, names.name);
    write_string(csv, names.lib);
    write_string(csv, names.file);
    write_number(csv, names.line ? names.line : NAN);
}

/* ---- trees and lists ---- */

static int write_call_tree(struct csv *csv)
{
    enum { MOST_ROWS = 1 << 20 }; /* limit for an inverted tree, which can have as many rows as all stacks together */
    struct tree_rows rows = {0};
    size_t limit = csv->view->is_inverted ? MOST_ROWS : SIZE_MAX;
    int code = engine_list_descendants(csv->view->engine, NODE_NONE, limit, &rows, csv->err);
    PUT_TITLES(csv, "depth", "total", "self", "unit", "function", "library", "file", "line");
    for (size_t i = 0; !code && i < rows.length; i++) {
        write_number(csv, rows.depth[i]);
        write_number(csv, rows.total[i]);
        write_number(csv, rows.self[i]);
        write_text(csv, csv->view->weight.unit);
        write_func(csv, rows.func[i]);
        end_row(csv);
    }
    tree_rows_destroy(&rows);
    return code;
}

static int write_functions(struct csv *csv)
{
    struct func_timings functions = {0};
    int code = engine_list_functions(csv->view->engine, FUNCS_BY_SELF, &functions, csv->err);
    PUT_TITLES(csv, "total", "self", "unit", "function", "library", "file", "line");
    for (size_t i = 0; !code && i < functions.length; i++) {
        write_number(csv, functions.rows[i].total);
        write_number(csv, functions.rows[i].self);
        write_text(csv, csv->view->weight.unit);
        write_func(csv, functions.rows[i].func);
        end_row(csv);
    }
    if (!code)
        func_timings_destroy(&functions);
    return code;
}

static const char *get_group_name(const struct csv *csv, enum group_kind kind, uint32_t index)
{
    if (kind == GROUP_LIBRARY)
        return index == PROFILE_NONE ? "" : profile_text(csv->profile, csv->profile->resources.data[index].name);
    return index < csv->profile->categories.length
               ? profile_text(csv->profile, csv->profile->categories.data[index].name)
               : "";
}

static int write_groups(struct csv *csv, enum group_kind kind)
{
    struct func_timings groups = {0};
    int code = engine_list_groups(csv->view->engine, kind, &groups, csv->err);
    PUT_TITLES(csv, "total", "self", "unit", kind == GROUP_LIBRARY ? "library" : "category");
    for (size_t i = 0; !code && i < groups.length; i++) {
        write_number(csv, groups.rows[i].total);
        write_number(csv, groups.rows[i].self);
        write_text(csv, csv->view->weight.unit);
        write_text(csv, get_group_name(csv, kind, groups.rows[i].func));
        end_row(csv);
    }
    if (!code)
        func_timings_destroy(&groups);
    return code;
}

static int write_hot_lines(struct csv *csv)
{
    struct hot_lines hot = {0};
    const struct counted_stacks counted = engine_get_counted_stacks(csv->view->engine);
    int code = hot_lines_compute(&hot, csv->profile, &counted, SIZE_MAX, csv->err);
    PUT_TITLES(csv, "self", "unit", "file", "line", "function");
    for (size_t i = 0; !code && i < hot.rows.length; i++) {
        struct func_names names = get_func_names(csv->profile, hot.rows.data[i].func);
        write_number(csv, hot.rows.data[i].self);
        write_text(csv, csv->view->weight.unit);
        write_string(csv, names.file);
        write_number(csv, hot.rows.data[i].line);
        write_string(csv, names.name);
        end_row(csv);
    }
    hot_lines_destroy(&hot);
    return code;
}

static int write_threads(struct csv *csv)
{
    bool has_cpu_times = profile_has_weight(csv->profile, WEIGH_CPU_TIME);
    PUT_TITLES(csv, "index", "thread", "tid", "process", "pid", "samples", "CPU time, ms");
    for (size_t i = 0; i < csv->view->thread_count; i++) {
        uint32_t index = csv->view->threads[i];
        const struct thread *thread = &csv->profile->threads.data[index];
        write_number(csv, index);
        write_string(csv, thread->name);
        write_string(csv, thread->tid);
        write_string(csv, thread->process_name);
        write_string(csv, thread->pid);
        write_number(csv, count_weighed_samples(csv->profile, index, WEIGH_SAMPLES, TABLE_SAMPLES, csv->view->range));
        write_number(csv, has_cpu_times
                              ? engine_get_thread_total(csv->view->engine, index, WEIGH_CPU_TIME, TABLE_SAMPLES)
                              : NAN);
        end_row(csv);
    }
    return 0;
}

/* ---- markers ---- */

static int write_marker(struct csv *csv, const struct marker_view *markers, const struct marker *marker,
                        struct text_buffer *text, struct payload *payload)
{
    const struct marker_context *context = marker_view_get_context(markers);
    const struct thread *thread = &csv->profile->threads.data[marker->thread];
    text->length = 0;
    int code = marker_label_append(text, context, marker, MARKER_TABLE_LABEL, payload, csv->err);
    if (code || !text_append(text, "", 1))
        return code ? code : error_no_memory(csv->err);
    write_number(csv, marker->start - context->values.zero);
    write_number(csv, marker->kind == MARKER_INSTANT ? NAN : marker->end - marker->start);
    write_string(csv, marker->name);
    write_string(csv, csv->profile->categories.data[marker->category].name);
    write_string(csv, thread->name);
    write_string(csv, thread->tid);
    write_text(csv, text->data);
    end_row(csv);
    return 0;
}

static int write_markers(struct csv *csv)
{
    struct marker_view *markers = marker_view_new(csv->profile, engine_get_full_range(csv->view->engine), csv->err);
    const struct marker_query query = {.threads = csv->view->threads,
                                       .thread_count = csv->view->thread_count,
                                       .range = csv->view->range,
                                       .search = csv->view->search,
                                       .search_length = strlen(csv->view->search)};
    struct text_buffer text = {0};
    struct payload payload = {0};
    size_t count = 0;
    int code = markers ? marker_view_set_query(markers, &query, csv->err) : error_no_memory(csv->err);
    const uint32_t *shown = code ? NULL : marker_view_get_matches(markers, &count);
    PUT_TITLES(csv, "start, ms", "duration, ms", "marker", "category", "thread", "tid", "details");
    for (size_t i = 0; !code && i < count; i++)
        code = write_marker(csv, markers, &marker_view_get_markers(markers)->data[shown[i]], &text, &payload);
    marker_view_free(markers);
    array_free(&text);
    payload_destroy(&payload);
    return code;
}

/* ---- counters and waits ---- */

static int write_counters(struct csv *csv)
{
    double zero = engine_get_full_range(csv->view->engine).from;
    PUT_TITLES(csv, "counter", "category", "pid", "time, ms", "change");
    for (size_t i = 0; i < csv->profile->counters.length; i++) {
        const struct counter *counter = &csv->profile->counters.data[i];
        for (size_t j = 0; j < counter->length; j++) {
            if (counter->time[j] < csv->view->range.from || counter->time[j] >= csv->view->range.to)
                continue;
            write_string(csv, counter->name);
            write_string(csv, counter->category);
            write_string(csv, counter->pid);
            write_number(csv, counter->time[j] - zero);
            write_number(csv, counter->count[j]);
            end_row(csv);
        }
    }
    return 0;
}

static const char *get_wait_reason_name(const struct csv *csv, uint32_t reason)
{
    uint32_t idle = engine_get_idle_category(csv->view->engine);
    if (reason == PROFILE_NONE || idle >= csv->profile->categories.length)
        return "";
    const struct category *category = &csv->profile->categories.data[idle];
    return reason < category->subcategories.length ? profile_text(csv->profile, category->subcategories.data[reason])
                                                   : "";
}

static const char *get_wait_group_name(const struct csv *csv, const struct wait_group *group)
{
    if (group->key == PROFILE_NONE)
        return "";
    switch (csv->view->wait_grouping) {
    case WAITS_BY_REASON:
        return get_wait_reason_name(csv, group->key);
    case WAITS_BY_OBJECT:
    case WAITS_BY_OBJECT_AND_WAKER:
        return profile_text(csv->profile, get_func_names(csv->profile, group->key).name);
    case WAITS_BY_STACK:
        return profile_text(csv->profile,
                            get_func_names(csv->profile, engine_get_nodes(csv->view->engine)->func[group->key]).name);
    case WAITS_BY_THREAD:
        return profile_thread_name(csv->profile, group->key);
    default:
        return profile_text(csv->profile, group->key);
    }
}

static int write_waits(struct csv *csv)
{
    static const char *const titles[WAIT_GROUPINGS] = {
        [WAITS_BY_REASON] = "reason", [WAITS_BY_OBJECT] = "object", [WAITS_BY_STACK] = "caller",
        [WAITS_BY_THREAD] = "thread", [WAITS_BY_WAKER] = "waker",   [WAITS_BY_OBJECT_AND_WAKER] = "object"};
    struct wait_groups groups = {0};
    double zero = engine_get_full_range(csv->view->engine).from;
    int code = engine_group_waits(csv->view->engine, csv->view->wait_grouping, &groups, csv->err);
    PUT_TITLES(csv, titles[csv->view->wait_grouping], "total, ms", "runnable, ms", "waits", "longest, ms",
               "longest began, ms", "reason of the longest", "thread of the longest", "ended by");
    for (size_t i = 0; !code && i < groups.list.length; i++) {
        const struct wait_group *group = &groups.list.data[i];
        write_text(csv, get_wait_group_name(csv, group));
        write_number(csv, group->total);
        write_number(csv, group->runnable);
        write_number(csv, round(group->count));
        write_number(csv, group->longest);
        write_number(csv, group->from - zero);
        write_text(csv, get_wait_reason_name(csv, group->reason));
        write_string(csv, group->thread < csv->profile->threads.length ? csv->profile->threads.data[group->thread].name
                                                                       : PROFILE_NONE);
        write_string(csv, group->waker);
        end_row(csv);
    }
    wait_groups_destroy(&groups);
    return code;
}

static int write_table(struct csv *csv)
{
    switch (csv->view->table) {
    case EXPORT_FUNCTIONS:
        return write_functions(csv);
    case EXPORT_LIBRARIES:
        return write_groups(csv, GROUP_LIBRARY);
    case EXPORT_CATEGORIES:
        return write_groups(csv, GROUP_CATEGORY);
    case EXPORT_HOT_LINES:
        return write_hot_lines(csv);
    case EXPORT_MARKERS:
        return write_markers(csv);
    case EXPORT_THREADS:
        return write_threads(csv);
    case EXPORT_COUNTERS:
        return write_counters(csv);
    case EXPORT_WAITS:
        return write_waits(csv);
    default:
        return write_call_tree(csv);
    }
}

int export_csv(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    struct csv csv = {.view = view, .profile = engine_get_profile(view->engine), .err = err};
    csv.out = malloc(sizeof(*csv.out));
    if (!csv.out)
        return error_no_memory(err);
    sink_writer_init(csv.out, sink, err);
    int code = write_table(&csv);
    if (!code)
        code = sink_writer_finish(csv.out);
    free(csv.out);
    return code;
}
