/*
 * `prof report --json`: one object with metadata and rows, depth first, for scripts. The JSON has all rows unless
 * options exclude some.
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_head.h"
#include "cmd/report/report_node.h"
#include "cmd/report/report_notes.h"
#include "cmd/report/report_threads.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_lines.h"
#include "cmd/report/report_rows.h"
#include "cmd/report/report_compared.h"
#include "cmd/report/report_compared_lines.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/order.h"
#include "tree/profile_info.h"
#include "tree/stack_view.h"

static const char *find_text(const struct report *report, uint32_t string)
{
    bool is_known = string < report->profile->strings.entries.length;
    return is_known ? strings_text(&report->profile->strings, string) : NULL;
}

static void write_profile_string(struct json_writer *json, const char *key, const struct report *report,
                                 uint32_t string)
{
    json_member_text(json, key, find_text(report, string));
}

static void write_func(struct json_writer *json, const struct report *report, uint32_t func)
{
    static const char *const texts[] = {
        [INLINED_NEVER] = "never", [INLINED_SOMETIMES] = "sometimes", [INLINED_ALWAYS] = "always"};
    struct func_names names = get_func_names(report->profile, func);
    write_profile_string(json, "name", report, names.name);
    write_profile_string(json, "lib", report, names.lib);
    write_profile_string(json, "file", report, names.file);
    json_member_text(json, "inlined", texts[report_get_inlining(report, func)]);
}

static void write_side(struct json_writer *json, const char *key, double total, double self)
{
    json_member_open(json, key, '{');
    json_member_double(json, "total", total);
    json_member_double(json, "self", self);
    json_close(json, '}');
}

/* Writes total and self weight; in a comparison, the weights of both sides and their change. */
static void write_figures(struct json_writer *json, const struct report *report, double total, double self,
                          const struct side_figures sides[PROFILE_SIDES])
{
    if (!profile_is_comparison(report->profile)) {
        json_member_double(json, "total", total);
        json_member_double(json, "self", self);
        return;
    }
    write_side(json, "base", sides[SIDE_BASE].total, sides[SIDE_BASE].self);
    write_side(json, "new", sides[SIDE_NEW].total, sides[SIDE_NEW].self);
    write_side(json, "change", total, self);
}

/* `ids`: see report_node_ids_new(); NULL: the rows have no ids.
 * A node that is too light or too deep is skipped together with its descendants, whose totals are at most as large.
 * (With negative weights a descendant can have a larger total; it is skipped nevertheless.) */
static void write_tree(struct json_writer *json, const struct report *report, const struct tree_rows *rows,
                       uint64_t *ids)
{
    uint32_t skip_below = UINT32_MAX;
    struct row_counts counts = {0};
    uint32_t depth = report->options.depth ? report->options.depth : UINT32_MAX;
    for (size_t i = 0; i < rows->length && !counts.limit; i++) {
        if (rows->depth[i] > skip_below)
            continue;
        skip_below = UINT32_MAX;
        double weight = rows->rank ? rows->rank[i] : rows->total[i];
        if (rows->depth[i] >= depth || !report_count_row(report, &counts, weight, SIZE_MAX)) {
            skip_below = rows->depth[i];
            continue;
        }
        json_open(json, '{');
        json_member_double(json, "depth", rows->depth[i]);
        if (ids)
            report_write_node_id(json, report_make_node_id(report, rows, i, ids));
        write_func(json, report, rows->func[i]);
        struct side_figures sides[PROFILE_SIDES] = {{0, 0}, {0, 0}};
        if (rows->rank) {
            sides[SIDE_BASE] = (struct side_figures){rows->base_total[i], rows->base_self[i]};
            sides[SIDE_NEW] = (struct side_figures){rows->new_total[i], rows->new_self[i]};
        }
        write_figures(json, report, rows->total[i], rows->self[i], sides);
        json_close(json, '}');
    }
}

static void write_changes_header(struct json_writer *json, const struct report *report,
                                 const struct func_changes *changes)
{
    const char *note = report_describe_verdicts(changes, report, false);
    if (changes->are_runs) {
        json_member_open(json, "deviation", '[');
        json_double(json, changes->deviation[SIDE_BASE]);
        json_double(json, changes->deviation[SIDE_NEW]);
        json_close(json, ']');
    }
    if (changes->has_wall_time) {
        json_member_open(json, "wall_time", '{');
        json_member_double(json, "base", changes->wall_time.base);
        json_member_double(json, "new", changes->wall_time.new);
        if (changes->are_runs)
            change_interval_write(json, &changes->wall_time);
        json_close(json, '}');
    }
    json_key(json, "note");
    if (note)
        json_text_z(json, note);
    else
        json_null(json);
}

/* Writes a list of functions; in a comparison, with their intervals. */
static void write_functions(struct json_writer *json, const struct report *report, const struct func_timings *functions,
                            const struct func_changes *changes)
{
    struct row_counts counts = {0};
    json_member_open(json, "functions", '[');
    for (size_t i = 0; i < functions->length && !counts.limit; i++) {
        const struct func_timing *row = &functions->rows[i];
        const struct change_estimate *estimate = changes ? get_func_change(changes, row->func) : NULL;
        if (!report_count_row(report, &counts, fmax(fabs(row->total), fabs(row->self)), SIZE_MAX))
            continue;
        json_open(json, '{');
        write_func(json, report, row->func);
        write_figures(json, report, row->total, row->self, row->sides);
        if (estimate)
            change_estimate_write(json, estimate);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int write_changes(struct json_writer *json, const struct report *report, struct error *err)
{
    struct func_changes changes;
    int code = report_find_changes(&changes, report, err);
    if (!code) {
        json_member_open(json, "total_change", '{');
        change_estimate_write(json, &changes.all);
        json_close(json, '}');
        json_member_text(json, "units", changes.are_intervals ? "intervals" : changes.are_runs ? "runs" : "blocks");
        write_changes_header(json, report, &changes);
        write_functions(json, report, &changes.functions, &changes);
    }
    func_changes_destroy(&changes);
    return code;
}

static void write_inlined(struct json_writer *json, const struct report *report, const struct line_costs *costs,
                          uint32_t line)
{
    json_member_open(json, "inlined", '[');
    for (size_t i = 0; i < costs->inlined.length; i++) {
        if (costs->inlined.data[i].line != line)
            continue;
        json_open(json, '{');
        write_func(json, report, costs->inlined.data[i].func);
        json_member_double(json, "total", costs->inlined.data[i].total);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int write_lines(struct json_writer *json, const struct report *report, struct error *err)
{
    struct line_costs costs = {0};
    int code = report_sum_line_costs(report, &costs, err);
    struct row_counts counts = {0};
    write_profile_string(json, "file", report, report->profile->sources.data[report->source].filename);
    json_member_double(json, "file_total", costs.total);
    json_member_double(json, "file_self", costs.self);
    json_member_open(json, "lines", '[');
    for (size_t i = 0; !code && i < costs.lines.length && !counts.limit; i++) {
        const struct line_cost *row = &costs.lines.data[i];
        if (!report_count_row(report, &counts, row->total, SIZE_MAX))
            continue;
        json_open(json, '{');
        json_member_double(json, "line", row->line);
        json_member_double(json, "total", row->total);
        json_member_double(json, "self", row->self);
        write_inlined(json, report, &costs, row->line);
        json_close(json, '}');
    }
    json_close(json, ']');
    line_costs_destroy(&costs);
    return code;
}

static int write_compared_file(struct json_writer *json, const struct report *report, struct error *err)
{
    struct report_compared_file file = {.all = {.line = 0}};
    int code = report_compare_file(&file, report, err);
    struct row_counts counts = {0};
    write_profile_string(json, "file", report, report->profile->sources.data[report->source].filename);
    json_member_open(json, "file_figures", '{');
    write_figures(json, report, file.all.total, file.all.self, file.all.sides);
    json_close(json, '}');
    json_member_open(json, "lines", '[');
    for (size_t i = 0; !code && i < file.lines.length && !counts.limit; i++) {
        const struct compared_file_line *row = &file.lines.data[i];
        if (!report_count_row(report, &counts, fmax(fabs(row->total), fabs(row->self)), SIZE_MAX))
            continue;
        json_open(json, '{');
        json_member_double(json, "line", row->line);
        write_figures(json, report, row->total, row->self, row->sides);
        json_close(json, '}');
    }
    json_close(json, ']');
    array_free(&file.lines);
    return code;
}

static int write_hot_lines(struct json_writer *json, const struct report *report, struct error *err)
{
    struct hot_lines hot = {0};
    int code = report_list_hot_lines(report, &hot, err);
    json_member_double(json, "self_with_line", hot.known);
    json_member_open(json, "hot_lines", '[');
    struct row_counts counts = {0};
    for (size_t i = 0; !code && i < hot.rows.length && !counts.limit; i++) {
        const struct hot_line *row = &hot.rows.data[i];
        if (!report_count_row(report, &counts, row->self, SIZE_MAX))
            continue;
        json_open(json, '{');
        write_func(json, report, row->func);
        json_member_text(json, "file", report_get_source_file(report, row->func));
        json_member_double(json, "line", row->line);
        json_member_double(json, "self", row->self);
        json_close(json, '}');
    }
    json_close(json, ']');
    hot_lines_destroy(&hot);
    return code;
}

static int write_compared_lines(struct json_writer *json, const struct report *report, struct error *err)
{
    struct report_compared_lines lines = {.known = {0, 0}};
    int code = report_compare_lines(&lines, report, err);
    struct row_counts counts = {0};
    json_member_open(json, "self_with_line", '{');
    json_member_double(json, "base", lines.known[SIDE_BASE]);
    json_member_double(json, "new", lines.known[SIDE_NEW]);
    json_close(json, '}');
    json_member_open(json, "hot_lines", '[');
    for (size_t i = 0; !code && i < lines.rows.length && !counts.limit; i++) {
        const struct compared_line *row = &lines.rows.data[i];
        if (!report_count_row(report, &counts, get_line_change(row), SIZE_MAX))
            continue;
        json_open(json, '{');
        write_func(json, report, row->func);
        json_member_double(json, "line", row->line);
        json_member_double(json, "base", row->self[SIDE_BASE]);
        json_member_double(json, "new", row->self[SIDE_NEW]);
        json_member_double(json, "change", get_line_change(row));
        json_close(json, '}');
    }
    json_close(json, ']');
    array_free(&lines.rows);
    return code;
}

static void write_groups(struct json_writer *json, const struct report *report, const struct func_timings *groups)
{
    json_member_open(json,
                     report->options.kind == REPORT_LIBRARIES ? "libraries"
                     : report->options.kind == REPORT_GROUPS  ? "groups"
                                                              : "categories",
                     '[');
    for (size_t i = 0; i < groups->length && i < report_get_row_limit(report, SIZE_MAX); i++) {
        json_open(json, '{');
        json_member_text(json, "name", report_get_group_name(report, groups->rows[i].func));
        write_figures(json, report, groups->rows[i].total, groups->rows[i].self, groups->rows[i].sides);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int write_list(struct json_writer *json, const struct report *report, struct error *err)
{
    struct func_timings list = {0};
    bool functions = report->options.kind == REPORT_FUNCTIONS;
    if (functions && profile_is_comparison(report->profile))
        return write_changes(json, report, err);
    int code = functions ? engine_list_functions(report->engine, FUNCS_BY_SELF, &list, err)
                         : report_list_groups(report, &list, err);
    if (!code && functions)
        write_functions(json, report, &list, NULL);
    else if (!code)
        write_groups(json, report, &list);
    func_timings_destroy(&list);
    return code;
}

/* Writes a tree as an array under `name`: the tree of the engine, or one side of a butterfly. */
static int write_whole_tree(struct json_writer *json, const struct report *report, const char *name,
                            struct butterfly *butterfly, enum butterfly_side side, struct error *err)
{
    struct tree_rows rows = {0};
    int code = butterfly ? butterfly_list_descendants(butterfly, side, NODE_NONE, SIZE_MAX, &rows, err)
                         : engine_list_descendants(report->engine, NODE_NONE, SIZE_MAX, &rows, err);
    uint64_t *ids = NULL;
    if (!code && !butterfly && !(ids = report_node_ids_new(report, &rows)))
        code = error_no_memory(err);
    json_member_open(json, name, '[');
    if (!code)
        write_tree(json, report, &rows, ids);
    json_close(json, ']');
    free(ids);
    tree_rows_destroy(&rows);
    return code;
}

static int write_butterfly(struct json_writer *json, const struct report *report, struct error *err)
{
    struct butterfly butterfly;
    int code = engine_compute_butterfly(report->engine, report->focus, &butterfly, err);
    bool is_made = code == 0;
    json_member_open(json, "butterfly", '{');
    json_member_text(json, "name", report_get_focus_name(report));
    if (!code) {
        write_figures(json, report, butterfly.total, butterfly.self, butterfly.side_figures);
        code = write_whole_tree(json, report, "callers", &butterfly, BUTTERFLY_CALLERS, err);
    }
    if (!code)
        code = write_whole_tree(json, report, "callees", &butterfly, BUTTERFLY_CALLEES, err);
    if (is_made)
        butterfly_destroy(&butterfly);
    json_close(json, '}');
    return code;
}

static int write_rows(struct json_writer *json, const struct report *report, struct error *err)
{
    int code;
    switch (report->options.kind) {
    case REPORT_THREADS:
        return 0; /* write_threads() has written the threads */
    case REPORT_PROCESSES:
        return report_write_processes(json, report, err);
    case REPORT_TREE:
        code = report->callers.length ? report_write_node(json, report, err) : 0;
        return code ? code : write_whole_tree(json, report, "tree", NULL, 0, err);
    case REPORT_BUTTERFLY:
        return write_butterfly(json, report, err);
    case REPORT_LINES:
        return profile_is_comparison(report->profile) ? write_compared_file(json, report, err)
                                                      : write_lines(json, report, err);
    case REPORT_HOT_LINES:
        return profile_is_comparison(report->profile) ? write_compared_lines(json, report, err)
                                                      : write_hot_lines(json, report, err);
    case REPORT_ANNOTATION:
        return report_write_annotation(json, report, err);
    case REPORT_WAITS:
        return profile_is_comparison(report->profile) ? report_write_compared_waits(json, report, err)
               : report->has_object                   ? report_write_object(json, report, err)
                                                      : report_write_waits(json, report, err);
    case REPORT_CRITICAL_PATH:
        code = report_write_path(json, report, err);
        return code ? code : write_whole_tree(json, report, "tree", NULL, 0, err);
    case REPORT_COUNTERS:
        return report_write_counters(json, report, err);
    case REPORT_INTERVALS:
        return report_write_intervals(json, report, err);
    case REPORT_MARKERS:
        return report_write_markers(json, report, err);
    case REPORT_SUMMARY:
        return report_write_summary(json, report, err);
    default:
        return write_list(json, report, err);
    }
}

/* Writes the threads in the order of the profile, or the busiest threads if --limit hides some. */
static int write_threads(struct json_writer *json, const struct report *report, struct error *err)
{
    size_t length = report->threads.length, limit = report_get_row_limit(report, SIZE_MAX);
    struct order_entry *order = malloc((length + 1) * sizeof(*order));
    for (size_t i = 0; order && i < length; i++)
        order[i] = (struct order_entry){report_sum_cpu_time(report, report->threads.data[i]), report->threads.data[i]};
    int code = !order ? error_no_memory(err) : limit < length ? order_sort_heaviest_first(order, length, err) : 0;
    json_member_open(json, "threads", '[');
    for (size_t i = 0; !code && i < length && i < limit; i++) {
        const uint32_t index = order[i].index;
        const struct thread *thread = &report->profile->threads.data[index];
        json_open(json, '{');
        json_member_double(json, "index", index);
        write_profile_string(json, "name", report, thread->name);
        write_profile_string(json, "pid", report, thread->pid);
        write_profile_string(json, "tid", report, thread->tid);
        json_member_double(json, "samples", report_count_thread_samples(report, index));
        json_member_double(json, "cpu_ms", report_sum_cpu_time(report, index));
        if (thread->slices.length)
            json_member_double(json, "migrations", report_count_migrations(report, index));
        json_close(json, '}');
    }
    json_close(json, ']');
    free(order);
    return code;
}

static void write_events(struct json_writer *json, const struct report *report)
{
    const struct profile_meta *meta = &report->profile->meta;
    json_member_open(json, "events", '[');
    for (size_t i = 0; i < meta->events.length; i++) {
        struct event_count count = report_get_event_count(report, i);
        json_open(json, '{');
        write_profile_string(json, "name", report, meta->events.data[i].name);
        json_member_double(json, "period", meta->events.data[i].period);
        json_member_double(json, "total", count.total);
        json_member_double(json, "samples", count.samples);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_transforms(struct json_writer *json, const struct report *report)
{
    json_member_open(json, "transforms", '[');
    for (size_t i = 0; i < report->options.transforms.length; i++) {
        json_open(json, '{');
        json_member_text(json, "kind", report->options.transforms.data[i].option);
        json_member_text(json, "of", report->options.transforms.data[i].text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_comparison(struct json_writer *json, const struct report *report)
{
    static const char *const keys[] = {[SIDE_BASE] = "base", [SIDE_NEW] = "new"};
    const struct profile_comparison *comparison = report_get_comparison(report);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        size_t intervals = engine_count_intervals(report->engine, (enum profile_side)side);
        json_member_open(json, keys[side], '{');
        write_profile_string(json, "name", report, comparison->name[side]);
        json_member_double(json, "runs", comparison->runs[side]);
        if (intervals)
            json_member_double(json, "intervals", (double)intervals);
        json_member_double(json, "total", report->side_totals[side]);
        json_close(json, '}');
    }
    json_member_double(json, "change", report->side_totals[SIDE_NEW] - report->side_totals[SIDE_BASE]);
    json_member_double(json, "scale", comparison->scale);
    write_profile_string(json, "scaled_by", report, comparison->scaled_by);
}

/* Writes a text of any length, shortened in a summary. */
static void write_head_text(struct json_writer *json, const struct report *report, const char *key, const char *text)
{
    enum { LONGEST_OF_SUMMARY = 100 };
    if (report->options.kind != REPORT_SUMMARY || !text) {
        json_member_text(json, key, text);
        return;
    }
    json_key(json, key);
    json_text(json, text, strnlen(text, LONGEST_OF_SUMMARY));
}

int report_print_json(const struct report *report, struct error *err)
{
    struct json_writer *json = malloc(sizeof(*json));
    double lost = 0;
    int code = json ? count_lost_samples(report->profile, &lost, err) : error_no_memory(err);
    if (code) {
        free(json);
        return code;
    }
    ui_init_json(json, &ui_sink, err);
    json_open(json, '{');
    json_member_unsigned(json, "version", JSON_VERSION);
    write_head_text(json, report, "product", find_text(report, report->profile->meta.product));
    write_head_text(json, report, "command", find_text(report, report->profile->meta.arguments));
    bool has_times = !report->profile->meta.has_no_times;
    json_member_double(json, "interval_ms", has_times ? report->profile->meta.interval : NAN);
    json_member_double(json, "from_ms", has_times ? report->range.from : NAN);
    json_member_double(json, "to_ms", has_times ? report->range.to : NAN);
    json_member_double(json, report_get_counted_noun(report).key, report_count_samples(report));
    json_member_double(json, "lost", lost);
    write_head_text(json, report, "unit", report->weight.unit);
    json_member_double(json, "total", report->total);
    if (profile_is_comparison(report->profile))
        write_comparison(json, report);
    if (report->options.kind != REPORT_SUMMARY) {
        write_events(json, report);
        code = write_threads(json, report, err);
        write_transforms(json, report);
        if (!code && !profile_is_comparison(report->profile))
            code = report_write_notes(json, report, SIZE_MAX, SIZE_MAX, err);
    }
    if (!code)
        code = write_rows(json, report, err);
    json_close(json, '}');
    int written = json_writer_finish(json);
    free(json);
    putchar('\n');
    return code ? code : written;
}
