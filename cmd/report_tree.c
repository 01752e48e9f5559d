/*
 * The tree of `prof report`. Deep stacks are mostly chains, so an only child stands straight below its parent, and
 * lines go further right only where a tree branches:
 *
 *       total %   total    self  function
 *      100.0 %    2,019       -  main  [app]
 *      100.0 %    2,019       3  run  [app]
 *       60.1 %    1,213     900  |- compute  [app]
 *       15.5 %      313     313  |  memcpy  [libc.so.6]
 *       39.7 %      803     803  `- write  [libc.so.6]
 */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_LIMIT_TREE = 400,
    DEFAULT_LIMIT_FUNCTIONS = 60,
    DEFAULT_DEPTH_INVERTED = 8,
    WEIGHT_COLUMNS = 11,
    WEIGHT_TEXT = 64
};
static const double default_min_percent = 0.5;

double report_least_percent(const struct report *report)
{
    return isnan(report->options.min_percent) ? default_min_percent : report->options.min_percent;
}

static size_t row_limit(const struct report *report, size_t usual)
{
    size_t limit = report->options.limit;
    return limit == SIZE_MAX ? usual : limit == 0 ? SIZE_MAX : limit;
}

static uint32_t most_levels(const struct report *report)
{
    if (report->options.depth)
        return report->options.depth;
    return report->options.inverted || report->options.what == REPORT_BUTTERFLY ? DEFAULT_DEPTH_INVERTED : UINT32_MAX;
}

double report_percent(const struct report *report, double weight)
{
    return report->total > 0 ? 100 * weight / report->total : 0;
}

bool report_is_light(const struct report *report, double weight)
{
    return report_percent(report, fabs(weight)) < report_least_percent(report);
}

/* What was left out, for the last lines. */
struct omissions {
    size_t light, deep; /* children below the least percentage; nodes whose children lie too deep */
    bool cut;           /* the limit of rows was reached */
};

static void print_omissions(const struct report *report, const struct omissions *omissions, size_t rows,
                            const char *what)
{
    if (omissions->light || omissions->deep || omissions->cut)
        putchar('\n');
    if (omissions->light)
        printf("%zu %s below %g %% of the total %s hidden (--min-percent 0 shows all).\n", omissions->light, what,
               report_least_percent(report), omissions->light == 1 ? "is" : "are");
    if (omissions->deep)
        printf("%zu %s beyond level %u (--depth shows more).\n", omissions->deep,
               report->options.inverted ? "rows have callers" : "rows have callees", most_levels(report));
    if (omissions->cut)
        printf("Stopped after %zu rows (--limit 0 shows all).\n", rows);
}

/* A dash is one column but three bytes. */
static void put_weight(const struct report *report, double weight)
{
    char text[WEIGHT_TEXT];
    report_format_weight(report, weight, text, sizeof(text));
    size_t columns = text[0] & 0x80 ? 1 : strlen(text);
    printf(" %*s%s", columns < WEIGHT_COLUMNS ? (int)(WEIGHT_COLUMNS - columns) : 0, "", text);
}

void report_put_figures(const struct report *report, double total, double self)
{
    printf("%6.1f %%", report_percent(report, total));
    put_weight(report, total);
    put_weight(report, self);
    fputs("  ", stdout);
}

_Static_assert(REPORT_FIGURES_COLUMNS == 8 + 2 * (1 + WEIGHT_COLUMNS) + 2, "as report_put_figures() prints them");

void report_print_columns(const struct report *report, const char *what)
{
    printf("%8s %*s %*s  %s\n", "total %", WEIGHT_COLUMNS, report_unit(report), WEIGHT_COLUMNS, "self", what);
}

/* ---- the tree ---- */

/* The children of one printed node. */
struct level {
    struct tree_rows rows;
    size_t next;   /* the child that is printed next */
    size_t shown;  /* so many first children are heavy enough */
    bool branches; /* the children are drawn with branches: more than one, or where a chain would hide the next root */
};

struct tree_printer {
    const struct report *report;
    struct butterfly *butterfly; /* NULL: the tree of the query */
    enum butterfly_side side;
    ARRAY(struct level) levels; /* from the roots to the children of the last printed node */
    struct omissions omissions;
    size_t printed, limit;
};

static size_t count_heavy(const struct report *report, const struct tree_rows *rows)
{
    size_t heavy = 0;
    while (heavy < rows->length && !report_is_light(report, rows->total[heavy]))
        heavy++;
    return heavy;
}

static int open_level(struct tree_printer *printer, uint32_t node, struct error *err)
{
    struct level *level = array_push_zero(&printer->levels);
    if (!level)
        return error_no_memory(err);
    int code = printer->butterfly ? butterfly_children(printer->butterfly, printer->side, node, &level->rows, err)
                                  : engine_children(printer->report->engine, node, &level->rows, err);
    if (code)
        return code;
    level->shown = count_heavy(printer->report, &level->rows);
    printer->omissions.light += level->rows.length - level->shown;
    bool below_one_of_several_roots = printer->levels.length == 2 && printer->levels.data[0].shown > 1;
    level->branches = level->shown > 1 || below_one_of_several_roots;
    return 0;
}

static void close_level(struct tree_printer *printer)
{
    tree_rows_destroy(&printer->levels.data[--printer->levels.length].rows);
}

/* The lines to the left of the name. Returns their columns. */
static unsigned put_branches(const struct tree_printer *printer)
{
    static const char *const ascii[] = {"   ", "|  ", "`- ", "|- "};
    static const char *const utf8[] = {"   ", "│  ", "└─ ", "├─ "};
    const char *const *parts = printer->report->utf8 ? utf8 : ascii;
    unsigned columns = 0;
    for (size_t i = 1; i < printer->levels.length; i++) { /* roots have no lines */
        const struct level *level = &printer->levels.data[i];
        if (!level->branches)
            continue;
        bool last = level->next == level->shown;
        bool own = i + 1 == printer->levels.length;
        fputs(parts[(own ? 2 : 0) + (last ? 0 : 1)], stdout);
        columns += 3;
    }
    return columns;
}

static void print_row(const struct tree_printer *printer, const struct tree_rows *rows, size_t row)
{
    enum { LEAST_NAME = 24 };
    const struct report *report = printer->report;
    report_put_figures(report, rows->total[row], rows->self[row]);
    unsigned used = REPORT_FIGURES_COLUMNS + put_branches(printer);
    unsigned left = report->width > used + LEAST_NAME ? report->width - used : LEAST_NAME;
    report_put_func(report, rows->func[row], report->width ? left : 0);
    putchar('\n');
}

static int print_next_row(struct tree_printer *printer, struct error *err)
{
    struct level *level = &printer->levels.data[printer->levels.length - 1];
    if (level->next == level->shown) {
        close_level(printer);
        return 0;
    }
    size_t row = level->next++;
    uint32_t node = level->rows.node[row];
    bool has_children = level->rows.has_children[row];
    print_row(printer, &level->rows, row);
    printer->printed++;
    if (has_children && printer->levels.length >= most_levels(printer->report)) {
        printer->omissions.deep++;
        return 0;
    }
    return has_children ? open_level(printer, node, err) : 0;
}

static int print_tree(struct tree_printer *printer, const char *branches, struct error *err)
{
    printer->limit = row_limit(printer->report, DEFAULT_LIMIT_TREE);
    int code = open_level(printer, NODE_NONE, err);
    while (!code && printer->levels.length && printer->printed < printer->limit)
        code = print_next_row(printer, err);
    for (size_t i = 0; i < printer->levels.length; i++)
        printer->omissions.cut |= printer->levels.data[i].next < printer->levels.data[i].shown;
    while (printer->levels.length)
        close_level(printer);
    array_free(&printer->levels);
    if (!code)
        print_omissions(printer->report, &printer->omissions, printer->printed, branches);
    return code;
}

int report_print_tree(const struct report *report, struct error *err)
{
    struct tree_printer printer = {.report = report};
    report_print_columns(report, "function");
    return print_tree(&printer, report->options.inverted ? "branches of callers" : "branches", err);
}

/* ---- the butterfly ---- */

static int print_side(const struct report *report, enum butterfly_side side, struct error *err)
{
    struct tree_printer printer = {.report = report, .butterfly = engine_last_butterfly(report->engine), .side = side};
    bool callers = side == BUTTERFLY_CALLERS;
    printf("\n%s\n\n", callers ? "Callers" : "Callees");
    report_print_columns(report, "function");
    return print_tree(&printer, callers ? "branches of callers" : "branches", err);
}

int report_print_butterfly(const struct report *report, struct error *err)
{
    int code = engine_butterfly(report->engine, report->center, err);
    if (code)
        return code;
    const struct butterfly *butterfly = engine_last_butterfly(report->engine);
    report_print_columns(report, "function");
    report_put_figures(report, butterfly->total, butterfly->self);
    report_put_text(report, report_center_name(report), report->width ? report->width - REPORT_FIGURES_COLUMNS : 0);
    putchar('\n');
    code = print_side(report, BUTTERFLY_CALLERS, err);
    return code ? code : print_side(report, BUTTERFLY_CALLEES, err);
}

/* ---- libraries and categories ---- */

int report_print_groups(const struct report *report, struct error *err)
{
    struct func_timings groups;
    int code = report_list_groups(report, &groups, err);
    if (code)
        return code;
    report_print_columns(report, report->options.what == REPORT_LIBRARIES ? "library" : "category");
    size_t limit = row_limit(report, DEFAULT_LIMIT_FUNCTIONS);
    for (size_t i = 0; i < groups.length && i < limit; i++) {
        report_put_figures(report, groups.rows[i].total, groups.rows[i].self);
        report_put_text(report, report_group_name(report, groups.rows[i].func),
                        report->width ? report->width - REPORT_FIGURES_COLUMNS : 0);
        putchar('\n');
    }
    struct omissions omissions = {.cut = groups.length > limit};
    print_omissions(report, &omissions, limit, "rows");
    func_timings_destroy(&groups);
    return 0;
}

/* ---- the function list ---- */

int report_print_functions(const struct report *report, struct error *err)
{
    struct func_timings functions;
    int code = engine_functions(report->engine, FUNCS_BY_SELF, &functions, err);
    if (code)
        return code;
    struct omissions omissions = {0};
    size_t limit = row_limit(report, DEFAULT_LIMIT_FUNCTIONS), printed = 0;
    report_print_columns(report, "function");
    for (size_t i = 0; i < functions.length; i++) {
        const struct func_timing *row = &functions.rows[i];
        if (report_is_light(report, fmax(fabs(row->total), fabs(row->self)))) {
            omissions.light++;
            continue;
        }
        if (printed == limit) {
            omissions.cut = true;
            break;
        }
        report_put_figures(report, row->total, row->self);
        report_put_func(report, row->func, report->width ? report->width - REPORT_FIGURES_COLUMNS : 0);
        putchar('\n');
        printed++;
    }
    print_omissions(report, &omissions, printed, "functions");
    func_timings_destroy(&functions);
    return 0;
}
