/*
 * `prof report --lines FILE`: the weight of each line of a source file, beside its text if available; and --hot-lines:
 * the lines of all files with the most self weight.
 */
#include "cmd/report/report_lines.h"

#include "cmd/report/report_text.h"
#include "cmd/report/report_source.h"
#include "cmd/report/report_rows.h"
#include "cmd/report/report_tree.h"

#include "cmd/common/ui.h"

#include "tree/line_costs.h"

/* Relative rounding error of a sum: a total and its only part may differ by it. */
#define ROUNDING 1e-9

/* ---- which file ---- */

static const char *get_source_name(const struct report *report, uint32_t source)
{
    return profile_text(report->profile, report->profile->sources.data[source].filename);
}

/* Returns whether `wanted` is the source's whole path, or its last parts, such as "parse.c" or "src/parse.c". */
static bool matches_source(const struct report *report, uint32_t source, const char *wanted, bool whole)
{
    const char *name = get_source_name(report, source);
    size_t length = strlen(name), end = strlen(wanted);
    if (whole || length <= end)
        return strcmp(name, wanted) == 0;
    return strcmp(name + length - end, wanted) == 0 && name[length - end - 1] == '/';
}

static size_t count_matching_sources(const struct report *report, const char *wanted, bool whole, uint32_t *last)
{
    size_t count = 0;
    for (uint32_t source = 0; source < report->profile->sources.length; source++)
        if (matches_source(report, source, wanted, whole)) {
            *last = source;
            count++;
        }
    return count;
}

static int print_ambiguous_source(const struct report *report, const char *wanted)
{
    enum { MOST_NAMED = 12 };
    ui_fail("several source files have the name %s:", wanted);
    size_t named = 0;
    for (uint32_t source = 0; source < report->profile->sources.length && named < MOST_NAMED; source++)
        if (matches_source(report, source, wanted, false)) {
            ui_print_message("  %.200s", get_source_name(report, source));
            named++;
        }
    return EXIT_FAILURE;
}

int report_resolve_source(struct report *report)
{
    const char *wanted = report->options.kind == REPORT_LINES ? report->options.subject : NULL;
    if (!wanted)
        return EXIT_SUCCESS;
    if (count_matching_sources(report, wanted, true, &report->source) > 0)
        return EXIT_SUCCESS;
    size_t count = count_matching_sources(report, wanted, false, &report->source);
    if (count > 1)
        return print_ambiguous_source(report, wanted);
    return count == 1
               ? EXIT_SUCCESS
               : ui_fail(
                     "no function of %s comes from a file %s; only code that is compiled with -g names its source files",
                     report->options.path, wanted);
}

int report_sum_line_costs(const struct report *report, struct line_costs *costs, struct error *err)
{
    struct counted_stacks counted = engine_get_counted_stacks(report->engine);
    struct line_request request = {report->source, PROFILE_NONE, {NULL, PROFILE_NONE}};
    return line_costs_compute(costs, report->profile, &counted, &request, err);
}

/* ---- printing ---- */

enum { NUMBER_COLUMNS = 8, MOST_HOT_LINES = 60 };

static void print_inlined(const struct report *report, const struct line_costs *costs, uint32_t line)
{
    for (size_t i = 0; i < costs->inlined.length; i++) {
        const struct inlined_cost *row = &costs->inlined.data[i];
        if (row->line != line)
            continue;
        ui_print("%*s  inlined: ", (int)report->figures_columns + NUMBER_COLUMNS, "");
        report_print_name(report, report_get_func_name(report, row->func), 80);
        ui_print(", %.1f%%\n", report_compute_percent(report, row->total));
    }
}

int report_print_lines(const struct report *report, struct error *err)
{
    struct line_costs costs = {0};
    int code = report_sum_line_costs(report, &costs, err);
    struct source_text text = {0};
    struct row_counts counts = {0};
    if (!code) {
        source_text_read(&text, report, get_source_name(report, report->source));
        report_print_columns(report, "line");
        report_print_weights(report, costs.total, costs.self);
        report_print_shortened(report, get_source_name(report, report->source),
                               report_measure_room(report, report->figures_columns));
        putchar('\n');
    }
    for (size_t i = 0; !code && i < costs.lines.length && !counts.limit; i++) {
        const struct line_cost *row = &costs.lines.data[i];
        if (!report_count_row(report, &counts, row->total, SIZE_MAX))
            continue;
        report_print_weights(report, row->total, row->self);
        const char *line = row->line ? source_text_get_line(&text, row->line) : "(unknown line)";
        ui_print("%*u%s", NUMBER_COLUMNS - 2, row->line, line && *line ? "  " : "");
        report_print_text(report, line ? line : "",
                          report_measure_room(report, report->figures_columns + NUMBER_COLUMNS));
        putchar('\n');
        print_inlined(report, &costs, row->line);
    }
    if (!code)
        report_print_omissions(report, &counts, "line");
    source_text_destroy(&text);
    line_costs_destroy(&costs);
    return code;
}

/* ---- the hottest lines of all files ---- */

const char *report_get_source_file(const struct report *report, uint32_t func)
{
    return get_source_name(report, report->profile->funcs.source[func]);
}

int report_list_hot_lines(const struct report *report, struct hot_lines *hot, struct error *err)
{
    struct counted_stacks counted = engine_get_counted_stacks(report->engine);
    return hot_lines_compute(hot, report->profile, &counted, SIZE_MAX, err);
}

static void print_hot_line(const struct report *report, const struct hot_line *row)
{
    char weight[QUANTITY_TEXT_MAX], text[REPORT_LINE_SIZE] = "";
    report_format_weight(report, row->self, weight);
    report_append_format(text, "%.1f%%", report_compute_percent(report, row->self));
    ui_print("%*s", NUMBER_COLUMNS, text);
    report_print_right_aligned(report, weight, report->self_columns + 2);
    fputs("  ", stdout);
    snprintf(text, sizeof(text), ":%u  ", row->line);
    unsigned used = NUMBER_COLUMNS + report->self_columns + 4 + (unsigned)strlen(text);
    used += report_print_shortened(report, report_get_source_file(report, row->func),
                                   report->width ? report->width / 3 : 0);
    ui_print("%s", text);
    report_print_name(report, report_get_func_name(report, row->func), report_measure_room(report, used));
    putchar('\n');
}

int report_print_hot_lines(const struct report *report, struct error *err)
{
    struct hot_lines hot = {0};
    struct row_counts counts = {0};
    int code = report_list_hot_lines(report, &hot, err);
    if (!code) {
        report_print_color(report, COLOR_BOLD);
        ui_print("%*s", NUMBER_COLUMNS, "self %");
        report_print_right_aligned(report, "self", report->self_columns + 2);
        puts("  line and function");
        report_print_color(report, COLOR_NORMAL);
    }
    for (size_t i = 0; !code && i < hot.rows.length && !counts.limit; i++)
        if (report_count_row(report, &counts, hot.rows.data[i].self, MOST_HOT_LINES))
            print_hot_line(report, &hot.rows.data[i]);
    if (!code) {
        report_print_omissions(report, &counts, "line");
        double unknown = report->total - hot.known;
        if (fabs(unknown) > fabs(report->total) * ROUNDING)
            ui_print("%.1f%% of the self time has no line number%s\n", report_compute_percent(report, unknown),
                     fabs(unknown) > fabs(report->total) / 2 ? "; code that is compiled with -g has lines" : "");
    }
    hot_lines_destroy(&hot);
    return code;
}
