/*
 * `prof report --processes`: the tree of processes with their times, and the critical path of processes.
 *
 *     start, s     wall      CPU  with children  on path  process
 *        0.003   28.2 s   10 ms         13.4 s    0.1 s  make  (10538, exit status 2)
 *        4.179   23.9 s   12 ms         12.9 s    0.1 s    gcc huge.c  (10871)
 */
#include "cmd/report/report_kinds.h"

#include "base/utf8.h"
#include "cmd/report/report_rows.h"
#include "cmd/report/report_text.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/process_json.h"

enum { START_COLUMNS = 9, TIME_COLUMNS = 10, TREE_COLUMNS = 15, USUAL_ROWS = 60 };

static void print_time(double ms, int columns)
{
    char text[QUANTITY_TEXT_MAX];
    format_time(text, ms);
    ui_print("%*s", columns, ms > 0 ? text : "-");
}

/* Prints "  cc1 huge.c  (10872, exit status 1)" after `used` columns. */
static void print_name(const struct report *report, const struct process *process, unsigned indent, unsigned used)
{
    enum { DEEPEST = 16 };
    static const char success[] = "exit status 0";
    bool has_failed = *process->exit && strcmp(process->exit, success) != 0;
    char after[128], name[REPORT_LINE_SIZE];
    snprintf(after, sizeof(after), "  (%.20s%s%.60s)", process->pid, has_failed ? ", " : "",
             has_failed ? process->exit : "");
    snprintf(name, sizeof(name), "%.*s%s%s", utf8_cut(process->name, 200), process->name, *process->argument ? " " : "",
             process->argument);
    indent = 2 * (indent < DEEPEST ? indent : DEEPEST);
    ui_print("%*s", (int)indent + 2, "");
    used += indent + 2 + report_measure_text(report, after);
    report_print_shortened(report, name, report_measure_room(report, used));
    report_print_color(report, has_failed ? COLOR_WARNING : COLOR_DIM);
    report_print_text(report, after, 0);
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

static void print_processes(const struct report *report, const struct process_tree *tree)
{
    struct row_counts counts = {0};
    report_print_title(report, " start, s      wall       CPU  with children   on path  process");
    for (size_t i = 0; i < tree->processes.length && !counts.limit; i++) {
        const struct process *process = &tree->processes.data[i];
        if (!report_count_row(report, &counts, INFINITY, USUAL_ROWS))
            continue;
        ui_print("%*.3f", START_COLUMNS, (process->start - engine_get_full_range(report->engine).from) / 1000);
        print_time(process->end - process->start, TIME_COLUMNS);
        print_time(process->cpu, TIME_COLUMNS);
        print_time(process->descendants ? process->tree_cpu : 0, TREE_COLUMNS);
        print_time(process->on_path, TIME_COLUMNS);
        print_name(report, process, process->depth, START_COLUMNS + 3 * TIME_COLUMNS + TREE_COLUMNS);
    }
    report_print_omissions(report, &counts, "process");
}

static void print_path(const struct report *report, const struct process_tree *tree)
{
    static const double least = 0.01;
    size_t hidden = 0;
    double rest = 0;
    char text[QUANTITY_TEXT_MAX];
    report_print_title(report, "\n start, s      time  critical path of processes");
    for (size_t i = 0; i < tree->path.length; i++) {
        const struct process_step *step = &tree->path.data[i];
        double length = step->to - step->from;
        if (length < least * (tree->range.to - tree->range.from)) {
            hidden++;
            rest += length;
            continue;
        }
        ui_print("%*.3f", START_COLUMNS, (step->from - engine_get_full_range(report->engine).from) / 1000);
        print_time(length, TIME_COLUMNS);
        print_name(report, &tree->processes.data[step->process], 0, START_COLUMNS + TIME_COLUMNS);
    }
    format_time(text, rest);
    if (hidden)
        ui_print("%*s%*s  in %zu shorter step%s\n", START_COLUMNS, "", TIME_COLUMNS, text, hidden,
                 hidden == 1 ? "" : "s");
}

static int print_sentences(const struct report *report, const struct process_tree *tree, struct error *err)
{
    char idle[QUANTITY_TEXT_MAX], alone[QUANTITY_TEXT_MAX], parallel[QUANTITY_TEXT_MAX];
    struct text_buffer text = {0};
    int code = process_tree_append_sentence(&text, tree, report->profile, err);
    format_time(idle, tree->idle);
    format_time(alone, tree->alone);
    format_time(parallel, tree->parallel);
    if (!code && (!text_append_z(&text, text.length ? "\n" : "") || !text_append(&text, "", 1)))
        code = error_no_memory(err);
    if (!code && tree->alone + tree->parallel > 0)
        ui_print("%sSeveral threads run for %s, one for %s, none for %s.\n\n", text.data, parallel, alone, idle);
    array_free(&text);
    return code;
}

int report_print_processes(const struct report *report, struct error *err)
{
    struct process_tree tree = {0};
    int code = process_tree_make(&tree, report->profile, report->range, err);
    if (!code)
        code = print_sentences(report, &tree, err);
    if (!code) {
        print_processes(report, &tree);
        print_path(report, &tree);
    }
    process_tree_destroy(&tree);
    return code;
}

int report_write_processes(struct json_writer *json, const struct report *report, struct error *err)
{
    struct process_tree tree = {0};
    int code = process_tree_make(&tree, report->profile, report->range, err);
    if (!code)
        code = write_process_tree(json, &tree, report->profile, report_get_row_limit(report, USUAL_ROWS), err);
    process_tree_destroy(&tree);
    return code;
}
