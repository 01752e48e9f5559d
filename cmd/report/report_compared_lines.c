/*
 * `prof diff --hot-lines` and `--lines FILE`: the source lines of all files by the change of their self time. prof
 * matches lines by file and number, and uses the base's file name of each function. A line below an inserted line
 * therefore has two rows, one as gone and one as new. --lines prints all lines of the file, by number.
 */
#include "cmd/report/report_compared_lines.h"

#include "cmd/report/report_text.h"
#include "cmd/report/report_lines.h"
#include "cmd/report/report_source.h"
#include "cmd/report/report_rows.h"
#include "cmd/report/report_compared.h"
#include "cmd/common/ui.h"

#include "base/hash.h"
#include "tree/line_costs.h"
#include "tree/order.h"

enum { MOST_LINES = 60, NUMBER_COLUMNS = 6 };

static uint64_t make_line_key(const struct report *report, const struct hot_line *row)
{
    return (uint64_t)report->profile->funcs.source[row->func] << 32 | row->line;
}

static bool add_side(struct report_compared_lines *lines, struct hash *places, const struct report *report,
                     const struct hot_lines *hot, enum profile_side side)
{
    for (size_t i = 0; i < hot->rows.length; i++) {
        const struct hot_line *row = &hot->rows.data[i];
        uint32_t *place = hash_at(places, make_line_key(report, row));
        if (!place)
            return false;
        bool is_new = *place == HASH_MISSING;
        if (is_new)
            *place = (uint32_t)lines->rows.length;
        struct compared_line *line = is_new ? array_push_zero(&lines->rows) : &lines->rows.data[*place];
        if (!line)
            return false;
        line->func = is_new ? row->func : line->func;
        line->line = row->line;
        line->self[side] += row->self;
    }
    return true;
}

DEFINE_MAGNITUDE(get_change_magnitude, struct compared_line, fabs(get_line_change(row)))

double get_line_change(const struct compared_line *row)
{
    return row->self[SIDE_NEW] - row->self[SIDE_BASE];
}

int report_compare_lines(struct report_compared_lines *lines, const struct report *report, struct error *err)
{
    struct hash places = {0};
    int code = 0;
    for (int side = 0; !code && side < PROFILE_SIDES; side++) {
        struct counted_stacks counted = engine_get_counted_stacks_of_side(report->engine, (enum profile_side)side);
        struct hot_lines hot = {0};
        code = hot_lines_compute(&hot, report->profile, &counted, SIZE_MAX, err);
        if (!code && !add_side(lines, &places, report, &hot, (enum profile_side)side))
            code = error_no_memory(err);
        lines->known[side] = hot.known;
        hot_lines_destroy(&hot);
    }
    hash_destroy(&places);
    return code ? code
                : order_sort_rows(lines->rows.data, sizeof(*lines->rows.data), lines->rows.length, get_change_magnitude,
                                  err);
}

/* ---- text ---- */

static void print_line(const struct report *report, const struct compared_line *row)
{
    char number[32];
    unsigned used = report_print_compared_self(report, row->self);
    snprintf(number, sizeof(number), ":%u  ", row->line);
    used += (unsigned)strlen(number);
    used += report_print_shortened(report, report_get_source_file(report, row->func),
                                   report->width ? report->width / 3 : 0);
    ui_print("%s", number);
    report_print_name(report, report_get_func_name(report, row->func), report_measure_room(report, used));
    putchar('\n');
}

/* Self time without a line number is in no row. */
static void print_unknown_lines(const struct report *report, const struct report_compared_lines *lines)
{
    double unknown[PROFILE_SIDES];
    char base[QUANTITY_TEXT_MAX], new[QUANTITY_TEXT_MAX];
    for (int side = 0; side < PROFILE_SIDES; side++)
        unknown[side] = fmax(0, report->side_totals[side] - lines->known[side]);
    if (unknown[SIDE_BASE] + unknown[SIDE_NEW] <
        0.001 * (fabs(report->side_totals[SIDE_BASE]) + fabs(report->side_totals[SIDE_NEW])))
        return;
    format_weight(base, unknown[SIDE_BASE], report->weight.unit);
    format_weight(new, unknown[SIDE_NEW], report->weight.unit);
    ui_print("Without a line number: %s %s of the base, %s %s of the new side.\n", base, report->weight.unit, new,
             report->weight.unit);
}

int report_print_compared_lines(const struct report *report, struct error *err)
{
    struct report_compared_lines lines = {.known = {0, 0}};
    struct row_counts counts = {0};
    int code = report_compare_lines(&lines, report, err);
    if (!code)
        report_print_compared_self_columns(report, "line and function");
    for (size_t i = 0; !code && i < lines.rows.length && !counts.limit; i++)
        if (report_count_row(report, &counts, get_line_change(&lines.rows.data[i]), MOST_LINES))
            print_line(report, &lines.rows.data[i]);
    if (!code) {
        report_print_omissions(report, &counts, "line");
        print_unknown_lines(report, &lines);
    }
    array_free(&lines.rows);
    return code;
}

/* ---- the lines of one file ---- */

static void set_changes(struct compared_file_line *row)
{
    row->total = row->sides[SIDE_NEW].total - row->sides[SIDE_BASE].total;
    row->self = row->sides[SIDE_NEW].self - row->sides[SIDE_BASE].self;
}

/* Merges two lists that are sorted by line number. */
static int merge_sides(struct report_compared_file *file, const struct line_costs sides[PROFILE_SIDES],
                       struct error *err)
{
    size_t next[PROFILE_SIDES] = {0, 0};
    for (;;) {
        struct compared_file_line row = {.line = UINT32_MAX};
        bool any = false;
        for (int side = 0; side < PROFILE_SIDES; side++)
            if (next[side] < sides[side].lines.length) {
                uint32_t line = sides[side].lines.data[next[side]].line;
                row.line = line < row.line ? line : row.line;
                any = true;
            }
        for (int side = 0; side < PROFILE_SIDES; side++)
            if (next[side] < sides[side].lines.length && sides[side].lines.data[next[side]].line == row.line) {
                const struct line_cost *cost = &sides[side].lines.data[next[side]++];
                row.sides[side] = (struct side_figures){cost->total, cost->self};
            }
        set_changes(&row);
        if (!any)
            return 0;
        if (!array_push(&file->lines, row))
            return error_no_memory(err);
    }
}

int report_compare_file(struct report_compared_file *file, const struct report *report, struct error *err)
{
    struct line_request request = {report->source, PROFILE_NONE, {NULL, PROFILE_NONE}};
    struct line_costs sides[PROFILE_SIDES] = {{.total = 0}, {.total = 0}};
    int code = 0;
    for (int side = 0; !code && side < PROFILE_SIDES; side++) {
        struct counted_stacks counted = engine_get_counted_stacks_of_side(report->engine, (enum profile_side)side);
        code = line_costs_compute(&sides[side], report->profile, &counted, &request, err);
        file->all.sides[side] = (struct side_figures){sides[side].total, sides[side].self};
    }
    set_changes(&file->all);
    if (!code)
        code = merge_sides(file, sides, err);
    for (int side = 0; side < PROFILE_SIDES; side++)
        line_costs_destroy(&sides[side]);
    return code;
}

static void print_file_line(const struct report *report, const struct compared_file_line *row, const char *text)
{
    report_print_compared_figures(report, row->sides, false, NULL);
    ui_print("%*u%s", NUMBER_COLUMNS, row->line, text && *text ? "  " : "");
    report_print_text(report, text ? text : "",
                      report_measure_room(report, report->figures_columns + NUMBER_COLUMNS + 2));
    putchar('\n');
}

int report_print_compared_file(const struct report *report, struct error *err)
{
    struct report_compared_file file = {.all = {.line = 0}};
    struct source_text text = {0};
    struct row_counts counts = {0};
    const char *name = profile_text(report->profile, report->profile->sources.data[report->source].filename);
    int code = report_compare_file(&file, report, err);
    if (!code) {
        source_text_read(&text, report, name);
        report_print_compared_columns(report, "line", false, false);
        report_print_compared_figures(report, file.all.sides, false, NULL);
        report_print_shortened(report, name, report_measure_room(report, report->figures_columns));
        putchar('\n');
    }
    for (size_t i = 0; !code && i < file.lines.length && !counts.limit; i++) {
        const struct compared_file_line *row = &file.lines.data[i];
        if (report_count_row(report, &counts, fmax(fabs(row->total), fabs(row->self)), SIZE_MAX))
            print_file_line(report, row, row->line ? source_text_get_line(&text, row->line) : "(unknown line)");
    }
    if (!code)
        report_print_omissions(report, &counts, "line");
    source_text_destroy(&text);
    array_free(&file.lines);
    return code;
}
