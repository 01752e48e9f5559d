/*
 * `prof report FILE`: prints a saved profile in the terminal, with the figures of the page. report.h lists its parts.
 */
#include "cmd/report/report_command.h"

#include "cmd/report/report_options.h"
#include "cmd/report/report_select.h"
#include "cmd/report/report_head.h"
#include "cmd/report/report_threads.h"
#include "cmd/report/report_transforms.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_kinds.h"
#include "cmd/report/report_lines.h"
#include "cmd/report/report_tree.h"
#include "cmd/report/report_compared.h"
#include "cmd/report/report_compared_lines.h"

#include "cmd/common/commands.h"
#include "cmd/common/pager.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/ui.h"

#include <unistd.h>

static bool shows_busy_threads(enum report_kind kind)
{
    return kind <= REPORT_CATEGORIES;
}

/* Prints why the report has no rows: the profile has no samples, or an option excludes all of them. */
static void print_empty_reason(const struct report *report)
{
    size_t samples = 0;
    for (size_t i = 0; i < report->profile->threads.length; i++)
        samples += report->profile->threads.data[i].samples.length;
    if (samples && report_is_filtered(report))
        puts("No sample matches these options.");
    else
        report_print_wrapped(report,
                             samples ? "No sample of this profile has a stack."
                                     : "This profile has no samples: the recorded threads used too little CPU time.",
                             0, 0);
}

static int print_report(const struct report *report, struct error *err)
{
    enum report_kind kind = report->options.kind;
    if (report->options.json)
        return report_print_json(report, err);
    bool is_comparison = profile_is_comparison(report->profile);
    int code = is_comparison ? 0 : report_print_head(report, err);
    if (is_comparison && kind == REPORT_FUNCTIONS)
        return report_print_compared_functions(report, err);
    if (is_comparison && kind == REPORT_WAITS)
        return report_print_compared_waits(report, err);
    if (is_comparison)
        report_print_compared_head(report, NULL);
    if (!code && !is_comparison && report->total != 0 && shows_busy_threads(kind))
        code = report_print_busy_threads(report, err);
    if (code)
        return code;
    if (!is_comparison && report->total != 0 && kind == REPORT_TREE)
        report_print_figures(report);
    if (kind == REPORT_SUMMARY)
        return report_print_summary(report, err);
    if (kind == REPORT_MARKERS)
        return report_print_markers(report, err);
    if (kind == REPORT_INTERVALS)
        return report_print_intervals(report, err);
    if (kind == REPORT_WAITS)
        return report->has_object ? report_print_object(report, err) : report_print_waits(report, err);
    if (kind == REPORT_COUNTERS)
        return report_print_counters(report, err);
    if (kind == REPORT_THREADS)
        return report_print_threads(report, err);
    if (kind == REPORT_PROCESSES)
        return report_print_processes(report, err);
    if (report->total == 0) {
        print_empty_reason(report);
        return 0;
    }
    switch (kind) {
    case REPORT_FUNCTIONS:
        return report_print_functions(report, err);
    case REPORT_LIBRARIES:
    case REPORT_CATEGORIES:
    case REPORT_GROUPS:
        return report_print_groups(report, err);
    case REPORT_BUTTERFLY:
        return report_print_butterfly(report, err);
    case REPORT_LINES:
        return profile_is_comparison(report->profile) ? report_print_compared_file(report, err)
                                                      : report_print_lines(report, err);
    case REPORT_HOT_LINES:
        return profile_is_comparison(report->profile) ? report_print_compared_lines(report, err)
                                                      : report_print_hot_lines(report, err);
    case REPORT_ANNOTATION:
        return report_print_annotation(report, err);
    case REPORT_CRITICAL_PATH:
        return report_print_path(report, err);
    default:
        return report_print_tree(report, err);
    }
}

int report_prepare(struct report *report)
{
    struct profile profile;
    struct error err = {0};
    profile_init(&profile);
    if (strcmp(report->options.path, "-") == 0 && isatty(STDIN_FILENO))
        return ui_usage(report->options.table->command,
                        "standard input is a terminal; give a file, or send a profile through a pipe");
    int status = report->options.compared.sides[SIDE_BASE].files.length
                     ? comparing_load(&report->options.compared, &report->options.symbols, false, &profile)
                     : spool_input_load(report->options.path, &report->options.symbols, &profile);
    if (status) {
        profile_destroy(&profile);
        return status;
    }
    report->engine = engine_new(&profile, &err);
    if (!report->engine)
        return ui_fail_with_error(&err);
    report->profile = engine_get_profile(report->engine);
    status = report->options.kind == REPORT_WAITS ? report_choose_waits(report) : EXIT_SUCCESS;
    if (!status)
        status = report_apply_selection(report);
    if (!status && report->options.kind == REPORT_CRITICAL_PATH)
        status = report_choose_path(report);
    if (!status)
        status = report_resolve_transforms(report);
    if (!status)
        status = report_resolve_source(report);
    if (status)
        return status;
    if (report_query_engine(report, &err) || func_inlining_compute(&report->inlining, report->profile, &err))
        return ui_fail_with_error(&err);
    if (report->options.kind == REPORT_CRITICAL_PATH && report_find_path(report, &err))
        return ui_fail_with_error(&err);
    if (report->options.kind == REPORT_GROUPS && report_find_groups(report, &err))
        return ui_fail_with_error(&err);
    if (report->has_object)
        status = report_resolve_object(report);
    if (report->options.kind == REPORT_BUTTERFLY || report->options.kind == REPORT_ANNOTATION)
        status = report_resolve_focus(report);
    if (!status && report->options.kind == REPORT_ANNOTATION)
        report->search = symbol_options_open(&report->options.symbols);
    return status;
}

static int print_to_pager(struct report *report)
{
    struct error err = {0};
    if (!report->options.no_pager)
        pager_start();
    int code = print_report(report, &err);
    bool written = !code && fflush(stdout) == 0 && !ferror(stdout);
    int reason = errno;
    pager_wait();
    if (code)
        return ui_fail_with_error(&err);
    return written ? EXIT_SUCCESS : ui_fail("cannot write the report: %s", strerror(reason));
}

struct report report_make(const struct option_table *table, bool is_comparison)
{
    return (struct report){.options = {.table = table,
                                       .is_comparison = is_comparison,
                                       .search = "",
                                       .from = NAN,
                                       .to = NAN,
                                       .min_percent = NAN,
                                       .limit = SIZE_MAX,
                                       .compared = COMPARING_DEFAULTS}};
}

void report_destroy(struct report *report)
{
    symbol_options_close(&report->options.symbols);
    comparing_destroy(&report->options.compared);
    array_free(&report->options.limits);
    engine_free(report->engine);
    tree_rows_destroy(&report->callers);
    array_free(&report->inlining);
    array_free(&report->path);
    array_free(&report->path_parts);
    func_groups_destroy(&report->groups);
    array_free(&report->threads);
    array_free(&report->options.threads);
    array_free(&report->options.keep_names);
    array_free(&report->options.transforms);
    array_free(&report->transforms);
    arena_destroy(&report->paths);
}

static int run_report(struct report report, int argc, char **argv)
{
    int status;
    if (!report_parse_options(argc, argv, &report.options, &status))
        goto out;
    status = report_prepare(&report);
    if (!status) {
        report_detect_terminal(&report);
        report_measure_figures(&report);
        status = print_to_pager(&report);
    }
out:
    report_destroy(&report);
    return status;
}

int cmd_report(int argc, char **argv)
{
    return run_report(report_make(&report_table, false), argc, argv);
}

/* `prof diff BASE NEW`: prints the report of a comparison. */
int cmd_diff(int argc, char **argv)
{
    return run_report(report_make(&diff_table, true), argc, argv);
}
