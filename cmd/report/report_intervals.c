/*
 * `prof report --intervals`: percentiles of the markers with a duration, by name, with the time split by the state of
 * the thread, and a histogram if the report is about one name.
 *
 *     count  p50 ms  p90 ms  p99 ms  longest ms  total ms  running  runnable  waiting  name     waits
 *     1,000   0.412    1.20    4.01        12.3       523    61.2%      2.1%    36.7%  request  Lock 30.1%, Disk 6.6%
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_rows.h"
#include "cmd/report/report_text.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/interval_json.h"
#include "tree/marker_view.h"
#include "tree/wait_names.h"

enum { COUNT_WIDTH = 9, LENGTH_WIDTH = 9, LONGEST_WIDTH = 12, STATE_WIDTH = 10, WIDEST_NAME = 32 };

/* Drops the names that the report is not about. */
static int select_subject(struct interval_list *list, const struct report *report, struct error *err)
{
    const char *subject = report->options.subject;
    size_t i = 0;
    while (subject && i < list->names.length &&
           strcmp(profile_text(report->profile, list->names.data[i].name), subject) != 0)
        i++;
    if (!subject)
        return 0;
    if (i == list->names.length)
        return error_set(err, ENOENT, "no marker with a duration has the name '%s'; --intervals lists the names",
                         subject);
    list->names.data[0] = list->names.data[i];
    list->names.length = 1;
    memmove(list->waits.data, list->waits.data + i * list->reasons, list->reasons * sizeof(*list->waits.data));
    return 0;
}

static int fill_list(struct interval_list *list, const struct report *report, struct error *err)
{
    struct marker_view *view;
    int code = report_query_markers(report, report->options.search, &view, err);
    size_t count = 0;
    const uint32_t *shown = code ? NULL : marker_view_get_matches(view, &count);
    if (!code)
        code = interval_list_fill(list, report->profile, marker_view_get_markers(view), shown, count, err);
    marker_view_free(view);
    return code ? code : select_subject(list, report, err);
}

/* ---- text ---- */

static void format_length(char out[QUANTITY_TEXT_MAX], double ms)
{
    if (ms >= 100)
        format_count(out, ms);
    else
        snprintf(out, QUANTITY_TEXT_MAX, "%.*f", ms >= 10 ? 1 : ms >= 1 ? 2 : 3, ms);
}

static void print_length(double ms, int width)
{
    char text[QUANTITY_TEXT_MAX];
    format_length(text, ms);
    ui_print("%*s", width, text);
}

/* Appends the reasons of waits, the longest first. */
static void append_waits(const struct report *report, const struct interval_list *list, size_t row, uint32_t runnable,
                         char *text)
{
    enum { MOST_REASONS = 4 };
    double total = list->names.data[row].total, before = INFINITY;
    for (int shown = 0; shown < MOST_REASONS; shown++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < list->reasons; i++) {
            double wait = get_interval_waits(list, row)[i];
            if (i != runnable && wait > 0 && wait < before &&
                (best == SIZE_MAX || wait > get_interval_waits(list, row)[best]))
                best = i;
        }
        if (best == SIZE_MAX)
            break;
        before = get_interval_waits(list, row)[best];
        report_append_format(text, "%s%s %.1f%%", *text ? ", " : "",
                             get_wait_reason_name(report->engine, (uint32_t)best), 100 * before / total);
    }
    if (list->names.data[row].rest > 0.001 * total)
        report_append_format(text, "%snot known %.1f%%", *text ? ", " : "", 100 * list->names.data[row].rest / total);
}

static void print_row(const struct report *report, const struct interval_list *list, size_t row)
{
    const struct interval_stats *stats = &list->names.data[row];
    uint32_t runnable = find_runnable_reason(report->profile);
    double ready = runnable < list->reasons ? get_interval_waits(list, row)[runnable] : 0;
    char count[QUANTITY_TEXT_MAX], waits[REPORT_LINE_SIZE] = "";
    format_count(count, stats->count);
    ui_print("%*s", COUNT_WIDTH, count);
    const double lengths[] = {stats->p50, stats->p90, stats->p99};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        print_length(lengths[i], LENGTH_WIDTH);
    print_length(stats->longest, LONGEST_WIDTH);
    print_length(stats->total, LONGEST_WIDTH);
    ui_print("%*.1f%%%*.1f%%  ", STATE_WIDTH - 1, 100 * stats->running / stats->total, STATE_WIDTH - 1,
             100 * ready / stats->total);
    unsigned used = COUNT_WIDTH + 3 * LENGTH_WIDTH + 2 * LONGEST_WIDTH + 2 * STATE_WIDTH + 2, width = WIDEST_NAME;
    used += report_print_text(report, profile_text(report->profile, stats->name), width);
    append_waits(report, list, row, runnable, waits);
    fputs("  ", stdout);
    report_print_color(report, COLOR_DIM);
    report_print_text(report, waits, report_measure_room(report, used + 2));
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

static void print_histogram(const struct interval_stats *stats)
{
    enum { BAR = 50 };
    uint32_t most = 0;
    size_t first = INTERVAL_BUCKETS, last = 0;
    for (size_t i = 0; i < INTERVAL_BUCKETS; i++) {
        most = stats->histogram[i] > most ? stats->histogram[i] : most;
        if (stats->histogram[i] && first == INTERVAL_BUCKETS)
            first = i;
        if (stats->histogram[i])
            last = i;
    }
    ui_print("\n%*s%*s\n", LONGEST_WIDTH, "up to ms", LONGEST_WIDTH, "count");
    for (size_t i = first; i <= last && i < INTERVAL_BUCKETS; i++) {
        char count[QUANTITY_TEXT_MAX];
        format_count(count, stats->histogram[i]);
        print_length(ldexp(1, (int)i + INTERVAL_FIRST_OCTAVE + 1), LONGEST_WIDTH);
        ui_print("%*s  ", LONGEST_WIDTH, count);
        for (uint32_t at = 0; at < (uint64_t)stats->histogram[i] * BAR / most; at++)
            putchar('#');
        putchar('\n');
    }
}

int report_print_intervals(const struct report *report, struct error *err)
{
    enum { USUAL_ROWS = 60 };
    struct interval_list list = {0};
    size_t limit = report_get_row_limit(report, USUAL_ROWS);
    int code = fill_list(&list, report, err);
    if (!code && !list.names.length)
        puts("No markers with a duration.");
    if (!code && list.names.length) {
        report_print_title(report, "%*s%*s%*s%*s%*s%*s%*s%*s  name", COUNT_WIDTH, "count", LENGTH_WIDTH, "p50 ms",
                           LENGTH_WIDTH, "p90 ms", LENGTH_WIDTH, "p99 ms", LONGEST_WIDTH, "longest ms", LONGEST_WIDTH,
                           "total ms", STATE_WIDTH, "running", STATE_WIDTH, "runnable");
    }
    for (size_t i = 0; !code && i < list.names.length && i < limit; i++)
        print_row(report, &list, i);
    if (!code)
        report_print_hidden_count(list.names.length, limit);
    if (!code && report->options.subject)
        print_histogram(&list.names.data[0]);
    interval_list_destroy(&list);
    return code;
}

/* ---- JSON ---- */

int report_write_intervals(struct json_writer *json, const struct report *report, struct error *err)
{
    struct interval_list list = {0};
    int code = fill_list(&list, report, err);
    size_t limit = report_get_row_limit(report, SIZE_MAX);
    list.names.length = list.names.length > limit ? limit : list.names.length;
    json_key(json, "intervals");
    interval_list_write(json, report->engine, &list);
    interval_list_destroy(&list);
    return code;
}
