/*
 * The functions of `prof diff`, with how far each change is known, and whether it is more than noise (tree/changes.h).
 */
#include "cmd/report/report.h"
#include "cmd/common/ui.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 60 };

static const char one_run_text[] =
    "One run of a side: the variation between runs is unknown, and only large changes exceed noise. "
    "Compare several (prof record --iterations 10).";
static const char one_after_other_text[] = "One side was recorded before the other: changes of the machine "
                                           "in between count as changes, too. To exclude them, "
                                           "alternate the recordings, as in the examples of prof-diff(1).";

static bool is_anything_changed(const struct func_changes *changes)
{
    bool is_changed = !changes->all.is_noise;
    for (size_t i = 0; i < changes->length; i++)
        is_changed |= !changes->estimates[i].is_noise;
    return is_changed;
}

const char *report_changes_note(const struct func_changes *changes, const struct report *report, bool is_changed)
{
    if (!changes->are_runs)
        return one_run_text;
    bool in_turn = !report_comparison(report)->is_one_after_other;
    return in_turn || (!is_changed && !is_anything_changed(changes)) ? NULL : one_after_other_text;
}

int report_find_changes(struct func_changes *changes, const struct report *report, struct error *err)
{
    int code = func_changes_find(changes, report->engine, report->options.order, err);
    changes->has_wall_time &= !report_is_filtered(report);
    return code;
}

/* ---- text ---- */

static void format_reach(const struct report *report, const struct change_estimate *estimate,
                         char out[QUANTITY_TEXT_MAX])
{
    char text[QUANTITY_TEXT_MAX];
    weight_text(text, (estimate->high - estimate->low) / 2, report->weight.unit);
    snprintf(out, QUANTITY_TEXT_MAX, "%s%.80s", report->utf8 ? "±" : "+-", text);
}

void report_put_interval(const struct report *report, const struct change_estimate *estimate)
{
    char reach[QUANTITY_TEXT_MAX];
    format_reach(report, estimate, reach);
    ui_print(" (95%%: %s)", reach);
}

static void print_function(const struct report *report, const struct func_changes *changes,
                           const struct func_timing *row)
{
    const struct change_estimate *estimate = func_change_of(changes, row->func);
    char reach[QUANTITY_TEXT_MAX] = "";
    if (estimate)
        format_reach(report, estimate, reach);
    report_put_compared(report, row->sides, report->options.order == FUNCS_BY_SELF, reach);
    report_put_func(report, row->func, "", report_columns_left(report, report->figures_columns));
    putchar('\n');
}

static bool is_noise(const struct func_changes *changes, const struct func_timing *row)
{
    const struct change_estimate *estimate = func_change_of(changes, row->func);
    return !estimate || estimate->is_noise;
}

static bool is_light(const struct report *report, const struct func_timing *row)
{
    return report_is_light(report, report->options.order == FUNCS_BY_SELF ? row->self : row->total);
}

/* Intervals hold for each function by itself, verdicts for all together: a reader of both has to know why. */
static void print_noise_title(const struct func_changes *changes)
{
    bool any_outside = false;
    for (size_t i = 0; i < changes->length; i++)
        any_outside |= changes->estimates[i].is_noise && changes->estimates[i].low * changes->estimates[i].high > 0;
    fputs("\nNot more than noise", stdout);
    if (any_outside && changes->length > 1)
        ui_print(" (of %zu functions, the interval of about %.0f excludes 0 by chance)", changes->length,
                 ceil(0.05 * (double)changes->length));
    puts(":");
}

/* Prints the functions whose change is noise, or those whose change is not, until there are as many as `limit`. */
static void print_functions(const struct report *report, const struct func_changes *changes, bool of_noise,
                            size_t *limit, struct omissions *omissions)
{
    bool has_title = false;
    for (size_t i = 0; i < changes->functions.length; i++) {
        const struct func_timing *row = &changes->functions.rows[i];
        if (is_noise(changes, row) != of_noise)
            continue;
        if (of_noise && is_light(report, row)) {
            omissions->light++;
            continue;
        }
        if (*limit == 0) {
            omissions->limit = report_row_limit(report, DEFAULT_LIMIT);
            break;
        }
        if (!has_title && of_noise)
            print_noise_title(changes);
        has_title = true;
        print_function(report, changes, row);
        --*limit;
    }
    if (!has_title && !of_noise)
        puts("No function has changed by more than noise.");
}

/* Functions that only one side has: how many, and what they count. */
static void print_only(const struct report *report, const struct func_timings *functions, enum profile_side side)
{
    size_t count = 0;
    double sum = 0;
    char text[REPORT_LINE_SIZE] = "", weight[QUANTITY_TEXT_MAX];
    for (size_t i = 0; i < functions->length; i++)
        if (functions->rows[i].sides[1 - side].total == 0 && functions->rows[i].sides[side].total != 0) {
            count++;
            sum += functions->rows[i].sides[side].self;
        }
    if (!count)
        return;
    weight_text(weight, sum, report->weight.unit);
    report_append(text, "%zu function%s %s, with %s %s self.", count, count == 1 ? "" : "s",
                  side == SIDE_NEW ? "appeared"
                  : count == 1     ? "is gone"
                                   : "are gone",
                  weight, report->weight.unit);
    report_put_wrapped(report, text, 0, 0);
}

int report_print_compared_functions(const struct report *report, struct error *err)
{
    struct func_changes changes;
    int code = report_find_changes(&changes, report, err);
    if (!code) {
        struct omissions omissions = {0};
        size_t limit = report_row_limit(report, DEFAULT_LIMIT);
        report_print_compared_head(report, &changes);
        report_print_compared_columns(report, "function", report->options.order == FUNCS_BY_SELF, true);
        print_functions(report, &changes, false, &limit, &omissions);
        print_functions(report, &changes, true, &limit, &omissions);
        report_print_omissions(report, &omissions, "function");
        print_only(report, &changes.functions, SIDE_NEW);
        print_only(report, &changes.functions, SIDE_BASE);
    }
    func_changes_destroy(&changes);
    return code;
}
