/*
 * `prof report --waits`: the waits of threads in groups, as in the page's Waits view; and the hint about --waits for
 * threads that waited nearly all the time.
 *
 *              ms  share        count  longest ms  p99 ms  mean ms  threads   first  waited for  kind  where
 *     about 1,230  12.3%  about 3,400      12.345   9.012    0.361        4  0.31 s  lock 0x10   Lock  insert < main
 *
 * A narrow terminal drops columns of numbers, the last one first, so that the names have room.
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_text.h"
#include "cmd/report/report_rows.h"

#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "base/path.h"
#include "tree/compared_waits.h"
#include "tree/runtime_frames.h"
#include "tree/wait_groups.h"
#include "tree/wait_json.h"
#include "tree/wait_names.h"

/* The columns of numbers, and of names. */
enum column {
    COLUMN_TOTAL,
    COLUMN_SHARE,
    COLUMN_COUNT,
    COLUMN_LONGEST,
    COLUMN_P99,
    COLUMN_MEAN,
    COLUMN_THREADS,
    COLUMN_FIRST,
    NUMBER_COLUMNS,
    NAME_COLUMNS = 3
};

enum { LEAST_NUMBERS = COLUMN_LONGEST, NAMES_ROOM = 44, WIDEST_NAME = 44, SEPARATOR = 2 };

static const char *const number_titles[NUMBER_COLUMNS] = {
    [COLUMN_TOTAL] = "ms",   [COLUMN_SHARE] = "share",  [COLUMN_COUNT] = "count",     [COLUMN_LONGEST] = "longest ms",
    [COLUMN_P99] = "p99 ms", [COLUMN_MEAN] = "mean ms", [COLUMN_THREADS] = "threads", [COLUMN_FIRST] = "first",
};

static const char *const grouping_names[WAIT_GROUPINGS] = {
    [WAITS_BY_REASON] = "reason", [WAITS_BY_OBJECT] = "object", [WAITS_BY_STACK] = "stack",
    [WAITS_BY_THREAD] = "thread", [WAITS_BY_WAKER] = "waker",   [WAITS_BY_OBJECT_AND_WAKER] = "object-waker"};

const char *report_get_wait_grouping_name(enum wait_grouping grouping)
{
    return grouping_names[grouping];
}

int report_require_wakers(const struct report *report)
{
    return engine_has_waits(report->engine) && profile_has_wakers(report->profile)
               ? EXIT_SUCCESS
               : ui_fail("%s has no wakers: 'prof record --wakers' records them if the kernel permits it "
                         "(see 'prof doctor')",
                         report->options.path);
}

static bool offers_grouping(const struct report *report, enum wait_grouping grouping)
{
    return !profile_is_comparison(report->profile) || can_compare_waits(grouping);
}

int report_choose_waits(struct report *report)
{
    const char *name = report->options.subject;
    report->wait_grouping = WAITS_BY_OBJECT;
    if (!engine_has_waits(report->engine))
        return ui_fail("%s has no recorded waits", report->options.path);
    for (int i = 0; name && i < WAIT_GROUPINGS; i++)
        if (strcmp(grouping_names[i], name) == 0 && offers_grouping(report, (enum wait_grouping)i)) {
            report->wait_grouping = (enum wait_grouping)i;
            return wait_grouping_has_wakers(report->wait_grouping) ? report_require_wakers(report) : EXIT_SUCCESS;
        }
    if (name && profile_is_comparison(report->profile))
        return ui_usage(report->options.table->command, "--waits takes reason, object, thread or waker, not '%s'",
                        name);
    report->has_object = name;
    return EXIT_SUCCESS;
}

/* ---- words ---- */

static const char *get_reason(const struct report *report, uint32_t reason)
{
    return get_wait_reason_name(report->engine, reason);
}

static const char *get_object(const struct report *report, const struct wait_group *group)
{
    return get_wait_object_name(report->engine, group);
}

static const char *get_waker(const struct report *report, const struct wait_group *group)
{
    return get_wait_waker_name(report->engine, group);
}

/* Finds the funcs that called into the longest wait of a group, root first. */
static int find_callers(const struct report *report, const struct wait_group *group, enum wait_grouping grouping,
                        struct node_path *path, struct error *err)
{
    path->length = 0;
    if (!append_call_path(report->engine, group->node, path))
        return error_no_memory(err);
    if (grouping != WAITS_BY_STACK && path->length && group->func != PROFILE_NONE)
        path->length--;
    return 0;
}

/* Returns the func that is `depth` calls above the wait. */
static const char *get_caller(const struct report *report, const struct node_path *path, size_t depth)
{
    return report_get_func_name(report, path->data[path->length - 1 - depth]);
}

/* Appends the file and the line of a function. */
static void append_line(const struct report *report, uint32_t func, uint32_t line, char *text)
{
    if (func == PROFILE_NONE || !line)
        return;
    struct func_names names = get_func_names(report->profile, func);
    const char *file = profile_text(report->profile, names.file);
    if (file[0])
        report_append_format(text, " (%.60s:%u)", path_get_base_name(file), line);
}

/* Appends where the waker ended the wait. */
static void append_waker_place(const struct report *report, const struct wait_group *group, char *text)
{
    if (group->waker_func == PROFILE_NONE)
        return;
    report_append_format(text, " in ");
    report_append_func(report, group->waker_func, text);
    append_line(report, group->waker_func, group->waker_line, text);
}

/* Appends the callers from the program's innermost frame, and the function that this frame called to wait:
 * "lookup (map.c:12) < serve < main via pthread_mutex_lock". */
static void append_callers(const struct report *report, const struct wait_group *group, const struct node_path *path,
                           char *text)
{
    enum { MOST_CALLERS = 3 };
    size_t own = count_runtime_frames(report->profile, path->data, path->length);
    for (size_t i = own; i < path->length && i < own + MOST_CALLERS; i++) {
        uint32_t func = path->data[path->length - 1 - i];
        report_append_format(text, "%s", i > own ? " < " : "");
        report_append_func(report, func, text);
        if (i == own && func == group->own_func)
            append_line(report, group->own_func, group->own_line, text);
    }
    if (own) {
        report_append_format(text, " via ");
        report_append_func(report, path->data[path->length - own], text);
    }
}

/* ---- the table ---- */

struct row {
    char numbers[NUMBER_COLUMNS][QUANTITY_TEXT_MAX];
    char names[NAME_COLUMNS][REPORT_LINE_SIZE];
};

struct table {
    ARRAY(struct row) rows;
    unsigned widths[NUMBER_COLUMNS], name_widths[NAME_COLUMNS];
    unsigned numbers, names; /* shown columns */
};

/* Writes three digits, because the histogram of the percentiles is not more precise. */
static void write_length(char out[QUANTITY_TEXT_MAX], double ms, bool is_known)
{
    if (!is_known)
        snprintf(out, QUANTITY_TEXT_MAX, "-");
    else if (ms >= 100)
        format_count(out, ms);
    else
        snprintf(out, QUANTITY_TEXT_MAX, "%.*f", ms >= 10 ? 1 : ms >= 1 ? 2 : 3, ms);
}

static void fill_numbers(const struct report *report, const struct wait_group *group, double there, struct row *row)
{
    struct time_range full = engine_get_full_range(report->engine);
    format_estimate(row->numbers[COLUMN_TOTAL], group->total, group->total_error, "ms");
    snprintf(row->numbers[COLUMN_SHARE], QUANTITY_TEXT_MAX, "%.1f%%", there > 0 ? 100 * group->total / there : 0);
    if (group->count > 0)
        format_estimate(row->numbers[COLUMN_COUNT], fmax(1, round(group->count)), group->count_error, "");
    else
        snprintf(row->numbers[COLUMN_COUNT], QUANTITY_TEXT_MAX, "-");
    write_length(row->numbers[COLUMN_LONGEST], group->longest, group->longest > 0);
    write_length(row->numbers[COLUMN_P99], group->percentile_99, !isnan(group->percentile_99));
    write_length(row->numbers[COLUMN_MEAN], group->total / group->count, group->count > 0);
    snprintf(row->numbers[COLUMN_THREADS], QUANTITY_TEXT_MAX, "%u", group->threads);
    if (isnan(group->first))
        snprintf(row->numbers[COLUMN_FIRST], QUANTITY_TEXT_MAX, "-");
    else
        snprintf(row->numbers[COLUMN_FIRST], QUANTITY_TEXT_MAX, "%.3f s", (group->first - full.from) / 1000);
}

static const char *get_title(const struct report *report, const struct wait_group *group, const struct node_path *path)
{
    switch (report->wait_grouping) {
    case WAITS_BY_REASON:
        return get_reason(report, group->reason);
    case WAITS_BY_OBJECT:
    case WAITS_BY_OBJECT_AND_WAKER:
        return get_object(report, group);
    case WAITS_BY_THREAD:
        return report_get_thread_name(report, group->thread);
    case WAITS_BY_WAKER:
        return get_waker(report, group);
    default:
        return path->length ? get_caller(report, path, count_runtime_frames(report->profile, path->data, path->length))
                            : "(no callers)";
    }
}

static void fill_names(const struct report *report, const struct wait_group *group, const struct node_path *path,
                       struct row *row)
{
    enum wait_grouping by = report->wait_grouping;
    char *details = row->names[2];
    report_append_format(row->names[0], "%s", get_title(report, group, path));
    report_append_format(row->names[1], "%s",
                         by == WAITS_BY_REASON             ? get_object(report, group)
                         : by == WAITS_BY_OBJECT_AND_WAKER ? get_waker(report, group)
                                                           : get_reason(report, group->reason));
    if (wait_grouping_has_wakers(by) && group->waker_func != PROFILE_NONE) {
        report_append_format(details, "ended");
        append_waker_place(report, group, details);
        report_append_format(details, "; ");
    }
    if (by != WAITS_BY_REASON && by != WAITS_BY_OBJECT && by != WAITS_BY_OBJECT_AND_WAKER)
        report_append_format(details, "%.60s%s", get_object(report, group), path->length ? " in " : "");
    append_callers(report, group, path, details);
    if (isnan(group->from))
        return;
    double at = (group->from - engine_get_full_range(report->engine).from) / 1000;
    report_append_format(details, "%slongest at %.3f s", *details ? "; " : "", at);
    if (by != WAITS_BY_THREAD)
        report_append_format(details, " in %.40s", report_get_thread_name(report, group->thread));
    if (!wait_grouping_has_wakers(by) && group->waker != PROFILE_NONE)
        report_append_format(details, ", ended by %.40s", get_waker(report, group));
    if (group->runnable > 0 && by != WAITS_BY_REASON && group->runnable < group->total)
        report_append_format(details, "; %.1f ms runnable", group->runnable);
}

static const char *get_name_title(const struct report *report, unsigned column)
{
    static const char *const titles[WAIT_GROUPINGS] = {
        [WAITS_BY_REASON] = "kind",   [WAITS_BY_OBJECT] = "waited for", [WAITS_BY_STACK] = "called from",
        [WAITS_BY_THREAD] = "thread", [WAITS_BY_WAKER] = "ended by",    [WAITS_BY_OBJECT_AND_WAKER] = "waited for"};
    const char *second = report->wait_grouping == WAITS_BY_REASON             ? "waited for"
                         : report->wait_grouping == WAITS_BY_OBJECT_AND_WAKER ? "ended by"
                                                                              : "kind";
    return column == 0 ? titles[report->wait_grouping] : column == 1 ? second : "where";
}

static unsigned get_max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Chooses the widths, and the columns of numbers that leave room for the names. */
static void choose_columns(const struct report *report, struct table *table)
{
    unsigned used = 0;
    for (unsigned i = 0; i < NUMBER_COLUMNS; i++) {
        table->widths[i] = (unsigned)strlen(number_titles[i]);
        for (size_t at = 0; at < table->rows.length; at++)
            table->widths[i] = get_max(table->widths[i], (unsigned)strlen(table->rows.data[at].numbers[i]));
        table->widths[i] += SEPARATOR;
        used += table->widths[i];
    }
    table->numbers = NUMBER_COLUMNS;
    while (report->width && table->numbers > LEAST_NUMBERS && used + NAMES_ROOM > report->width)
        used -= table->widths[--table->numbers];
    unsigned left = report_measure_room(report, used);
    for (unsigned i = 0; i + 1 < NAME_COLUMNS; i++) {
        unsigned most = i == 0 && left && left < 2 * WIDEST_NAME ? get_max(left / 2, 8) : WIDEST_NAME;
        table->name_widths[i] = report_measure_text(report, get_name_title(report, i));
        for (size_t at = 0; at < table->rows.length; at++)
            table->name_widths[i] =
                get_max(table->name_widths[i], report_measure_text(report, table->rows.data[at].names[i]));
        if (table->name_widths[i] > most)
            table->name_widths[i] = most;
    }
}

/* The last column has the rest of the line. */
static void print_name(const struct report *report, const struct table *table, unsigned column, const char *text,
                       unsigned *used)
{
    *used += SEPARATOR;
    bool is_last = column == NAME_COLUMNS - 1;
    unsigned width = is_last ? report_measure_room(report, *used) : table->name_widths[column];
    if (report->width && *used + 4 > report->width)
        return;
    if (report->width && !is_last && *used + width > report->width)
        width = report->width - *used;
    ui_print("%*s", SEPARATOR, "");
    unsigned printed = is_last ? report_print_text(report, text, width) : report_print_shortened(report, text, width);
    if (!is_last && printed < width)
        ui_print("%*s", (int)(width - printed), "");
    *used += is_last ? printed : width;
}

static void print_head(const struct report *report, const struct table *table)
{
    unsigned used = 0;
    report_print_color(report, COLOR_BOLD);
    for (unsigned i = 0; i < table->numbers; i++) {
        ui_print("%*s", (int)table->widths[i], number_titles[i]);
        used += table->widths[i];
    }
    for (unsigned i = 0; i < NAME_COLUMNS; i++)
        print_name(report, table, i, get_name_title(report, i), &used);
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

static void print_row(const struct report *report, const struct table *table, const struct row *row)
{
    unsigned used = 0;
    for (unsigned i = 0; i < table->numbers; i++) {
        ui_print("%*s", (int)table->widths[i], row->numbers[i]);
        used += table->widths[i];
    }
    for (unsigned i = 0; i < NAME_COLUMNS; i++) {
        if (i == NAME_COLUMNS - 1)
            report_print_color(report, COLOR_DIM);
        print_name(report, table, i, row->names[i], &used);
    }
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

static void print_totals(const struct wait_totals *totals)
{
    char waited[QUANTITY_TEXT_MAX], lifetime[QUANTITY_TEXT_MAX], runnable[QUANTITY_TEXT_MAX],
        text[REPORT_LINE_SIZE] = "";
    format_time(waited, totals->waited);
    format_time(lifetime, totals->there);
    format_time(runnable, totals->runnable);
    report_append_format(text, "Off CPU for %s of %s", waited, lifetime);
    if (totals->runnable > 0)
        report_append_format(text, ", %s runnable", runnable);
    ui_print("%s\n", text);
    putchar('\n');
}

int report_print_waits(const struct report *report, struct error *err)
{
    enum { USUAL_ROWS = 40 };
    struct wait_groups groups = {0};
    struct node_path path = {0};
    struct table table = {0};
    int code = engine_group_waits(report->engine, report->wait_grouping, &groups, err);
    size_t limit = report_get_row_limit(report, USUAL_ROWS);
    for (size_t i = 0; !code && i < groups.list.length && i < limit; i++) {
        const struct wait_group *group = &groups.list.data[i];
        code = find_callers(report, group, report->wait_grouping, &path, err);
        if (!code && !array_push_zero(&table.rows))
            code = error_no_memory(err);
        if (code)
            break;
        fill_numbers(report, group, groups.totals.there, &table.rows.data[i]);
        fill_names(report, group, &path, &table.rows.data[i]);
    }
    if (!code) {
        print_totals(&groups.totals);
        choose_columns(report, &table);
        print_head(report, &table);
        for (size_t i = 0; i < table.rows.length; i++)
            print_row(report, &table, &table.rows.data[i]);
        if (!report->options.is_live)
            report_print_hidden_count(groups.list.length, limit);
        if (report->wait_grouping == WAITS_BY_OBJECT && groups.list.length && !report->options.is_live)
            ui_print("\n--waits=OBJECT shows who waits for an object%s.\n",
                     profile_has_wakers(report->profile) ? ", and who ends the waits" : "");
    }
    array_free(&table.rows);
    array_free(&path);
    wait_groups_destroy(&groups);
    return code;
}

/* ---- JSON ---- */

static int write_group(struct json_writer *json, const struct report *report, enum wait_grouping by,
                       const struct wait_group *group, struct node_path *path, struct error *err)
{
    int code = find_callers(report, group, by, path, err);
    json_open(json, '{');
    if (by == WAITS_BY_THREAD)
        json_member_double(json, "thread", group->key);
    if (group->waker != PROFILE_NONE)
        json_member_text(json, "waker", get_waker(report, group));
    json_member_text(json, "reason", get_reason(report, group->reason));
    json_member_text(json, "object", get_object(report, group));
    json_member_double(json, "total_ms", group->total);
    json_member_double(json, "total_error_ms", group->total_error);
    json_member_double(json, "runnable_ms", group->runnable);
    json_member_double(json, "count", round(group->count));
    if (group->count > 0)
        json_member_double(json, "count_error", group->count_error);
    json_member_double(json, "threads", group->threads);
    if (group->count > 0)
        json_member_double(json, "mean_ms", group->total / group->count);
    if (!isnan(group->percentile_99))
        json_member_double(json, "p99_ms", group->percentile_99);
    if (!isnan(group->first)) {
        json_member_open(json, "first", '{');
        json_member_double(json, "at_ms", group->first);
        json_member_double(json, "thread", group->first_thread);
        json_close(json, '}');
    }
    wait_place_write(json, "where", report->profile, group->own_func, group->own_line);
    wait_place_write(json, "waker_where", report->profile, group->waker_func, group->waker_line);
    longest_wait_write(json, &(struct longest_wait){group->longest, group->from, group->to, group->thread});
    json_member_double(json, "runtime_callers", count_runtime_frames(report->profile, path->data, path->length));
    json_member_open(json, "callers", '[');
    for (size_t i = path->length; i-- > 0;)
        json_text_z(json, report_get_func_name(report, path->data[i]));
    json_close(json, ']');
    json_close(json, '}');
    return code;
}

int report_write_waits(struct json_writer *json, const struct report *report, struct error *err)
{
    struct wait_groups groups = {0};
    struct node_path path = {0};
    int code = 0;
    json_member_open(json, "waits", '{');
    for (int by = 0; !code && by < WAIT_GROUPINGS; by++) {
        if (wait_grouping_has_wakers((enum wait_grouping)by) && !profile_has_wakers(report->profile))
            continue;
        code = engine_group_waits(report->engine, (enum wait_grouping)by, &groups, err);
        if (!code && by == 0) {
            json_member_double(json, "there_ms", groups.totals.there);
            json_member_double(json, "off_cpu_ms", groups.totals.waited);
            json_member_double(json, "runnable_ms", groups.totals.runnable);
            json_member_double(json, "count", round(groups.totals.count));
        }
        char key[32];
        snprintf(key, sizeof(key), "by_%s", by == WAITS_BY_OBJECT_AND_WAKER ? "object_and_waker" : grouping_names[by]);
        json_member_open(json, key, '[');
        for (size_t i = 0; !code && i < groups.list.length && i < report_get_row_limit(report, SIZE_MAX); i++)
            code = write_group(json, report, (enum wait_grouping)by, &groups.list.data[i], &path, err);
        json_close(json, ']');
    }
    json_close(json, '}');
    array_free(&path);
    wait_groups_destroy(&groups);
    return code;
}

/* ---- the hint for threads with little CPU time ---- */

void report_describe_waiting(const struct report *report, const struct wait_totals *totals, char *text)
{
    static const double mostly_waiting = 0.1;
    text[0] = '\0';
    if (totals->waited > (1 - mostly_waiting) * totals->there && totals->ran < mostly_waiting * totals->there) {
        char ran[QUANTITY_TEXT_MAX], lifetime[QUANTITY_TEXT_MAX];
        format_time(ran, totals->ran);
        format_time(lifetime, totals->there);
        report_append_format(
            text, "The thread%s ran for %s of %s: --off-cpu shows where %s waited, --waits shows the reasons.",
            report->threads.length == 1 ? "" : "s", ran, lifetime, report->threads.length == 1 ? "it" : "they");
    }
}
