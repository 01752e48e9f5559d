/*
 * The tree of `prof report`. Most nodes of deep stacks have one child: an only child has the indentation of its parent,
 * so lines move to the right only at a branch. A function whose only visible child is the function itself becomes one
 * row with the number of frames:
 *
 *     total %  self %  samples   self  function
 *      100.0%       -    2,019      -  main  [app]
 *      100.0%    0.1%    2,019      3  run  [app]
 *       60.1%   44.6%    1,213    900  |- compute x 398  [app]
 *       15.5%   15.5%      313    313  |  memcpy  [libc.so.6]
 *       39.7%   39.7%      803    803  `- write  [libc.so.6]
 */
#include "cmd/report/report_tree.h"

#include "cmd/report/report_rows.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_compared.h"
#include "cmd/common/ui.h"

enum {
    DEFAULT_LIMIT_TREE = 400,
    DEFAULT_LIMIT_FUNCTIONS = 60,
    PERCENT_COLUMNS = 8,
};

/* ---- figures ---- */

void report_measure_figures(struct report *report)
{
    if (profile_is_comparison(report->profile)) {
        report_measure_compared(report);
        return;
    }
    char text[QUANTITY_TEXT_MAX];
    report_format_weight(report, report->total, text);
    unsigned columns = report_measure_text(report, text), unit = (unsigned)strlen(report->weight.unit);
    report->total_columns = columns > unit ? columns : unit;
    report->self_columns = columns > strlen("self") ? columns : (unsigned)strlen("self");
    report->figures_columns = 2 * PERCENT_COLUMNS + 2 + report->total_columns + 2 + report->self_columns + 2;
}

static void print_weight(const struct report *report, double weight, unsigned columns)
{
    char text[QUANTITY_TEXT_MAX];
    report_format_weight(report, weight, text);
    fputs("  ", stdout);
    report_print_right_aligned(report, text, columns);
}

/* Colors percentages like perf: red at 5% or more, green at 0.5% or more. */
static void print_self_percent(const struct report *report, double self)
{
    char text[32];
    double percent = report_compute_percent(report, self);
    snprintf(text, sizeof(text), "%.1f%%", percent);
    report_print_color(report, percent >= 5 ? COLOR_HOT : percent >= 0.5 ? COLOR_WARM : COLOR_NORMAL);
    report_print_right_aligned(report, self != 0 ? text : report->utf8 ? "–" : "-", PERCENT_COLUMNS);
    report_print_color(report, COLOR_NORMAL);
}

void report_print_weights(const struct report *report, double total, double self)
{
    ui_print("%*.1f%%", PERCENT_COLUMNS - 1, report_compute_percent(report, total));
    print_self_percent(report, self);
    print_weight(report, total, report->total_columns);
    print_weight(report, self, report->self_columns);
    fputs("  ", stdout);
}

static void print_list_row(const struct report *report, double total, double self,
                           const struct side_figures sides[PROFILE_SIDES])
{
    if (profile_is_comparison(report->profile))
        report_print_compared_figures(report, sides, false, NULL);
    else
        report_print_weights(report, total, self);
}

void report_print_columns(const struct report *report, const char *title)
{
    if (profile_is_comparison(report->profile)) {
        report_print_compared_columns(report, title, false, false);
        return;
    }
    report_print_title(report, "%*s%*s  %*s  %*s  %s", PERCENT_COLUMNS, "total %", PERCENT_COLUMNS, "self %",
                       (int)report->total_columns, report->weight.unit, (int)report->self_columns, "self", title);
}

/* ---- the tree ---- */

/* The children of one printed row. */
struct level {
    struct tree_rows rows;
    size_t next;   /* index of the child to print next */
    size_t shown;  /* number of children with at least the minimum percentage */
    bool branches; /* draw branch lines: the node has several children, or a chain would hide the next root */
};

struct tree_printer {
    const struct report *report;
    struct butterfly *butterfly; /* if NULL, the query's tree */
    enum butterfly_side side;
    ARRAY(struct level) levels; /* levels from the roots to the children of the last printed row */
    struct row_counts counts;
};

/* A row of the tree: a node, or a chain of nodes of the same func. */
struct folded_row {
    uint32_t func, last; /* the last node of the chain */
    double total, self;  /* total of the first node of the chain, and the sum of self over all its nodes */
    struct side_figures sides[PROFILE_SIDES]; /* total and self of each side of a comparison */
    size_t frames;
    bool has_children; /* the last node has children */
};

static size_t count_heavy_rows(const struct report *report, const struct tree_rows *rows)
{
    size_t heavy = 0;
    const double *weight = rows->rank ? rows->rank : rows->total;
    while (heavy < rows->length && !report_is_small(report, weight[heavy]))
        heavy++;
    return heavy;
}

static int find_children(const struct tree_printer *printer, uint32_t node, struct tree_rows *rows, struct error *err)
{
    return printer->butterfly ? butterfly_list_children(printer->butterfly, printer->side, node, rows, err)
                              : engine_list_children(printer->report->engine, node, rows, err);
}

/* Adds a level with these children. Takes ownership of `rows`. */
static int open_level(struct tree_printer *printer, struct tree_rows *rows, struct error *err)
{
    struct level *level = array_push_zero(&printer->levels);
    if (!level) {
        tree_rows_destroy(rows);
        return error_no_memory(err);
    }
    level->rows = *rows;
    level->shown = count_heavy_rows(printer->report, rows);
    printer->counts.light += rows->length - level->shown;
    bool below_one_of_several_roots = printer->levels.length == 2 && printer->levels.data[0].shown > 1;
    level->branches = level->shown > 1 || below_one_of_several_roots;
    return 0;
}

static void close_level(struct tree_printer *printer)
{
    tree_rows_destroy(&printer->levels.data[--printer->levels.length].rows);
}

/* Extends the row while its only visible child has the same func. `children` receives the children of the last node. */
static int fold_recursion(struct tree_printer *printer, struct folded_row *row, struct tree_rows *children,
                          struct error *err)
{
    while (row->has_children) {
        int code = find_children(printer, row->last, children, err);
        if (code)
            return code;
        if (count_heavy_rows(printer->report, children) != 1 || children->func[0] != row->func)
            return 0;
        printer->counts.light += children->length - 1;
        row->frames++;
        row->self += children->self[0];
        if (children->rank) {
            row->sides[SIDE_BASE].self += children->base_self[0];
            row->sides[SIDE_NEW].self += children->new_self[0];
        }
        row->last = children->node[0];
        row->has_children = children->has_children[0];
        tree_rows_destroy(children);
        *children = (struct tree_rows){0};
    }
    return 0;
}

/* Prints the branch lines to the left of the name. If the lines exceed `room` columns, prints only the lines of the
 * innermost levels. Returns the width in columns. */
static unsigned print_branches(const struct tree_printer *printer, unsigned room)
{
    static const char *const ascii[] = {"   ", "|  ", "`- ", "|- "};
    static const char *const utf8[] = {"   ", "│  ", "└─ ", "├─ "};
    enum { PART_COLUMNS = 3 };
    const struct report *report = printer->report;
    size_t parts = 0, skipped = 0;
    for (size_t i = 1; i < printer->levels.length; i++)
        parts += printer->levels.data[i].branches;
    if (room && parts * PART_COLUMNS > room)
        skipped = parts + 1 - room / PART_COLUMNS; /* one more for the ellipsis */
    size_t columns = (parts - skipped + (skipped > 0)) * PART_COLUMNS;
    report_print_color(report, COLOR_DIM);
    if (skipped)
        ui_print("%s", report->utf8 ? "…  " : "~  ");
    for (size_t i = 1; i < printer->levels.length; i++) { /* roots have no lines */
        const struct level *level = &printer->levels.data[i];
        bool last = level->next == level->shown, own = i + 1 == printer->levels.length;
        if (!level->branches)
            continue;
        if (skipped)
            skipped--;
        else
            ui_print("%s", (report->utf8 ? utf8 : ascii)[(own ? 2 : 0) + (last ? 0 : 1)]);
    }
    report_print_color(report, COLOR_NORMAL);
    return (unsigned)columns;
}

static void print_row(const struct tree_printer *printer, const struct folded_row *row)
{
    const struct report *report = printer->report;
    unsigned room = report_measure_room(report, report->figures_columns);
    char count[QUANTITY_TEXT_MAX] = "";
    print_list_row(report, row->total, row->self, row->sides);
    unsigned used = report->figures_columns +
                    print_branches(printer, room / 2); /* half of the columns for branch lines, half for the name */
    if (row->frames > 1)
        snprintf(count, sizeof(count), report->utf8 ? " × %zu" : " x %zu", row->frames);
    report_print_func(report, row->func, count, report_measure_room(report, used));
    putchar('\n');
}

static int print_next_row(struct tree_printer *printer, struct error *err)
{
    struct level *level = &printer->levels.data[printer->levels.length - 1];
    if (level->next == level->shown) {
        close_level(printer);
        return 0;
    }
    size_t at = level->next++;
    struct folded_row row = {.func = level->rows.func[at],
                             .last = level->rows.node[at],
                             .total = level->rows.total[at],
                             .self = level->rows.self[at],
                             .frames = 1,
                             .has_children = level->rows.has_children[at]};
    if (level->rows.rank) {
        row.sides[SIDE_BASE] = (struct side_figures){level->rows.base_total[at], level->rows.base_self[at]};
        row.sides[SIDE_NEW] = (struct side_figures){level->rows.new_total[at], level->rows.new_self[at]};
    }
    struct tree_rows children = {0};
    int code = fold_recursion(printer, &row, &children, err);
    if (code)
        return code;
    print_row(printer, &row);
    printer->counts.printed++;
    if (!row.has_children)
        return 0;
    if (printer->levels.length >= report_get_level_limit(printer->report)) {
        printer->counts.deep++;
        tree_rows_destroy(&children);
        return 0;
    }
    return open_level(printer, &children, err);
}

static int print_tree(struct tree_printer *printer, struct error *err)
{
    struct tree_rows roots = {0};
    bool more = false;
    size_t limit = report_get_row_limit(printer->report, DEFAULT_LIMIT_TREE);
    int code = find_children(printer, NODE_NONE, &roots, err);
    if (!code)
        code = open_level(printer, &roots, err);
    while (!code && printer->levels.length && printer->counts.printed < limit)
        code = print_next_row(printer, err);
    for (size_t i = 0; i < printer->levels.length; i++)
        more |= printer->levels.data[i].next < printer->levels.data[i].shown;
    while (printer->levels.length)
        close_level(printer);
    array_free(&printer->levels);
    printer->counts.limit = more ? limit : 0;
    if (!code)
        report_print_omissions(printer->report, &printer->counts, "branch");
    return code;
}

int report_print_tree(const struct report *report, struct error *err)
{
    struct tree_printer printer = {.report = report};
    report_print_columns(report, "function");
    return print_tree(&printer, err);
}

/* ---- the butterfly ---- */

static int print_side(const struct report *report, struct butterfly *butterfly, enum butterfly_side side,
                      struct error *err)
{
    struct tree_printer printer = {.report = report, .butterfly = butterfly, .side = side};
    bool callers = side == BUTTERFLY_CALLERS;
    ui_print("\n%s\n\n", callers ? "Callers" : "Callees");
    report_print_columns(report, "function");
    return print_tree(&printer, err);
}

int report_print_butterfly(const struct report *report, struct error *err)
{
    struct butterfly butterfly;
    int code = engine_compute_butterfly(report->engine, report->focus, &butterfly, err);
    if (code)
        return code;
    report_print_columns(report, "function");
    print_list_row(report, butterfly.total, butterfly.self, butterfly.side_figures);
    report_print_name(report, report_get_focus_name(report), report_measure_room(report, report->figures_columns));
    putchar('\n');
    code = print_side(report, &butterfly, BUTTERFLY_CALLERS, err);
    if (!code)
        code = print_side(report, &butterfly, BUTTERFLY_CALLEES, err);
    butterfly_destroy(&butterfly);
    return code;
}

/* ---- libraries and categories ---- */

int report_print_groups(const struct report *report, struct error *err)
{
    struct func_timings groups;
    int code = report_list_groups(report, &groups, err);
    if (code)
        return code;
    report_print_columns(report, report->options.kind == REPORT_LIBRARIES ? "library"
                                 : report->options.kind == REPORT_GROUPS  ? "group"
                                                                          : "category");
    struct row_counts counts = {0};
    for (size_t i = 0; i < groups.length && !counts.limit; i++) {
        if (!report_count_row(report, &counts, INFINITY, DEFAULT_LIMIT_FUNCTIONS))
            continue;
        print_list_row(report, groups.rows[i].total, groups.rows[i].self, groups.rows[i].sides);
        report_print_shortened(report, report_get_group_name(report, groups.rows[i].func),
                               report_measure_room(report, report->figures_columns));
        putchar('\n');
    }
    report_print_omissions(report, &counts, "row");
    func_timings_destroy(&groups);
    return 0;
}

/* ---- the function list ---- */

int report_print_functions(const struct report *report, struct error *err)
{
    struct func_timings functions;
    int code = engine_list_functions(report->engine, FUNCS_BY_SELF, &functions, err);
    if (code)
        return code;
    struct row_counts counts = {0};
    report_print_columns(report, "function");
    for (size_t i = 0; i < functions.length && !counts.limit; i++) {
        const struct func_timing *row = &functions.rows[i];
        if ((report->options.is_live && row->self == 0) ||
            !report_count_row(report, &counts, fmax(fabs(row->total), fabs(row->self)), DEFAULT_LIMIT_FUNCTIONS))
            continue;
        report_print_weights(report, row->total, row->self);
        report_print_func(report, row->func, "", report_measure_room(report, report->figures_columns));
        putchar('\n');
    }
    report_print_omissions(report, &counts, "function");
    func_timings_destroy(&functions);
    return 0;
}
