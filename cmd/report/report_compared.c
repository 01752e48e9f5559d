/*
 * The output of `prof diff`: the header, and rows of functions and trees with both sides and the change.
 *
 *     base ms   new ms   change  change %     95%  total change  function
 *       812.0    901.0    +89.0    +11.0%   ±12.0         +89.0  compute  [app]
 *           -     12.0    +12.0  appeared    ±3.1         +12.0  compute_slow  [app]
 *
 * The list of functions has the column of the intervals (tree/noise.h).
 */
#include "cmd/report/report_compared.h"

#include "cmd/report/report_head.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_rows.h"
#include "cmd/report/report_select.h"
#include "cmd/common/ui.h"

enum { CHANGE_COLUMNS = 12 };

const struct profile_comparison *report_get_comparison(const struct report *report)
{
    return &report->profile->meta.comparison;
}

/* ---- figures ---- */

void report_format_change(const struct report *report, double change, char out[QUANTITY_TEXT_MAX])
{
    char text[QUANTITY_TEXT_MAX];
    format_weight(text, fabs(change), report->weight.unit);
    bool is_nothing = change == 0 || strspn(text, "0.,") == strlen(text);
    if (is_nothing)
        snprintf(out, QUANTITY_TEXT_MAX, "%s", report->utf8 ? "–" : "-");
    else
        snprintf(out, QUANTITY_TEXT_MAX, "%c%.90s", change < 0 ? '-' : '+', text);
}

/* Formats the relative change: "+5.3%", "appeared" or "gone". */
static void format_relative(const struct report *report, double base, double new, char out[QUANTITY_TEXT_MAX])
{
    double percent = 100 * (new - base) / fabs(base);
    if (base == new)
        snprintf(out, QUANTITY_TEXT_MAX, "%s", report->utf8 ? "–" : "-");
    else if (base == 0 || new == 0)
        snprintf(out, QUANTITY_TEXT_MAX, "%s", base == 0 ? "appeared" : "gone");
    else
        snprintf(out, QUANTITY_TEXT_MAX, "%+.*f%%", fabs(percent) >= 1000 ? 0 : 1, percent);
}

void report_measure_compared(struct report *report)
{
    char text[QUANTITY_TEXT_MAX];
    double most = fmax(report->side_totals[SIDE_BASE], report->side_totals[SIDE_NEW]);
    report_format_weight(report, most, text);
    unsigned columns = report_measure_text(report, text) + 1, least = (unsigned)strlen(report->weight.unit) + 5;
    report->total_columns = columns > least ? columns : least;
    report->self_columns = report->total_columns > CHANGE_COLUMNS ? report->total_columns : CHANGE_COLUMNS;
    report->figures_columns = 3 * (report->total_columns + 1) + 10 + report->total_columns + report->self_columns + 4;
}

static void print_weight(const struct report *report, double weight)
{
    char text[QUANTITY_TEXT_MAX];
    report_format_weight(report, weight, text);
    report_print_right_aligned(report, text, report->total_columns);
    putchar(' ');
}

/* Increases are red, because more time is usually worse; the threshold is the one at which perf colors percentages. */
static enum report_color choose_change_color(const struct report *report, double change)
{
    if (report_is_small(report, change))
        return COLOR_NORMAL;
    return change > 0 ? COLOR_HOT : COLOR_WARM;
}

/* Prints base, new side, change and relative change. */
static void print_sides(const struct report *report, const double shown[PROFILE_SIDES])
{
    char change[QUANTITY_TEXT_MAX], relative[QUANTITY_TEXT_MAX];
    report_format_change(report, shown[SIDE_NEW] - shown[SIDE_BASE], change);
    format_relative(report, shown[SIDE_BASE], shown[SIDE_NEW], relative);
    print_weight(report, shown[SIDE_BASE]);
    print_weight(report, shown[SIDE_NEW]);
    report_print_color(report, choose_change_color(report, shown[SIDE_NEW] - shown[SIDE_BASE]));
    report_print_right_aligned(report, change, report->total_columns);
    report_print_right_aligned(report, relative, 10);
    report_print_color(report, COLOR_NORMAL);
}

unsigned report_print_compared_self(const struct report *report, const double self[PROFILE_SIDES])
{
    print_sides(report, self);
    fputs("  ", stdout);
    return 3 * report->total_columns + 2 + 10 + 2;
}

void report_print_compared_figures(const struct report *report, const struct side_figures sides[PROFILE_SIDES],
                                   bool by_self, const char *interval)
{
    char other[QUANTITY_TEXT_MAX];
    double totals[PROFILE_SIDES] = {sides[SIDE_BASE].total, sides[SIDE_NEW].total};
    double selfs[PROFILE_SIDES] = {sides[SIDE_BASE].self, sides[SIDE_NEW].self};
    const double *shown = by_self ? selfs : totals, *rest = by_self ? totals : selfs;
    report_format_change(report, rest[SIDE_NEW] - rest[SIDE_BASE], other);
    print_sides(report, shown);
    if (interval)
        report_print_right_aligned(report, interval, report->total_columns);
    putchar(' ');
    report_print_right_aligned(report, other, report->self_columns + 1);
    fputs("  ", stdout);
}

static void print_side_columns(const struct report *report)
{
    char base[64], new[64];
    snprintf(base, sizeof(base), "base %.50s", report->weight.unit);
    snprintf(new, sizeof(new), "new %.50s", report->weight.unit);
    report_print_color(report, COLOR_BOLD);
    report_print_right_aligned(report, base, report->total_columns);
    putchar(' ');
    report_print_right_aligned(report, new, report->total_columns);
    putchar(' ');
    report_print_right_aligned(report, "change", report->total_columns);
    report_print_right_aligned(report, "change %", 10);
}

void report_print_compared_self_columns(const struct report *report, const char *title)
{
    print_side_columns(report);
    ui_print("  %s", title);
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

void report_print_compared_columns(const struct report *report, const char *title, bool by_self, bool has_interval)
{
    print_side_columns(report);
    if (has_interval)
        report_print_right_aligned(report, "95%", report->total_columns);
    putchar(' ');
    report_print_right_aligned(report, by_self ? "total change" : "self change", report->self_columns + 1);
    ui_print("  %s", title);
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

/* ---- the header ---- */

static void print_side(const struct report *report, const struct func_changes *changes, enum profile_side side)
{
    static const char *const names[] = {[SIDE_BASE] = "Base", [SIDE_NEW] = "New"};
    char total[QUANTITY_TEXT_MAX], count[QUANTITY_TEXT_MAX];
    const struct profile_comparison *comparison = report_get_comparison(report);
    size_t intervals = engine_count_intervals(report->engine, side);
    format_count(count, (double)intervals);
    format_weight(total, report->side_totals[side], report->weight.unit);
    ui_print("%s:%*s", names[side], side == SIDE_BASE ? 2 : 3, "");
    report_print_shortened(report, profile_text(report->profile, comparison->name[side]), 60);
    if (comparison->runs[side] > 1)
        ui_print(", %u runs, their mean", comparison->runs[side]);
    const char *kind = !report->options.compared.splits ? "" : side == SIDE_NEW ? "slow " : "other ";
    if (intervals)
        ui_print(", the mean of %s %sinterval%s", count, kind, intervals == 1 ? "" : "s");
    ui_print(", %s %s", total, report->weight.unit);
    if (changes && changes->deviation[side] > 0)
        ui_print(", standard deviation %.1f%%", 100 * changes->deviation[side]);
    putchar('\n');
}

void report_format_half_interval(const struct report *report, const struct change_estimate *estimate,
                                 char out[QUANTITY_TEXT_MAX])
{
    char text[QUANTITY_TEXT_MAX];
    format_weight(text, (estimate->high - estimate->low) / 2, report->weight.unit);
    snprintf(out, QUANTITY_TEXT_MAX, "%s%.80s", report->utf8 ? "±" : "+-", text);
}

static void print_interval(const struct report *report, const struct change_estimate *estimate, const char *unit)
{
    char reach[QUANTITY_TEXT_MAX];
    report_format_half_interval(report, estimate, reach);
    ui_print(" (95%%: %s %s)", reach, unit);
}

static void print_wall_time(const struct report *report, const struct func_changes *changes)
{
    const struct change_estimate *estimate = &changes->wall_time;
    char base[QUANTITY_TEXT_MAX], new[QUANTITY_TEXT_MAX], relative[QUANTITY_TEXT_MAX];
    format_weight(base, estimate->base, "ms");
    format_weight(new, estimate->new, "ms");
    format_relative(report, estimate->base, estimate->new, relative);
    ui_print("Wall time: %s ms to %s ms", base, new);
    if (estimate->base != estimate->new)
        ui_print(", %s", relative);
    if (changes->are_runs)
        print_interval(report, estimate, "ms");
    putchar('\n');
}

/* Names the time that the report counts, for the line about the wall time. */
static const char *name_counted_time(enum sample_weight kind)
{
    return kind == WEIGH_CPU_TIME       ? " of CPU time"
           : kind == WEIGH_OFF_CPU_TIME ? " of off-CPU time"
           : kind == WEIGH_TIME         ? " of CPU and off-CPU time"
                                        : "";
}

void report_print_compared_head(const struct report *report, const struct func_changes *changes)
{
    const struct profile_comparison *comparison = report_get_comparison(report);
    const char *warning = profile_text(report->profile, report->profile->meta.warning);
    double base = report->side_totals[SIDE_BASE], new = report->side_totals[SIDE_NEW];
    char change[QUANTITY_TEXT_MAX], relative[QUANTITY_TEXT_MAX];
    print_side(report, changes, SIDE_BASE);
    print_side(report, changes, SIDE_NEW);
    report_format_change(report, new - base, change);
    format_relative(report, base, new, relative);
    if (base == new)
        fputs("Change: none", stdout);
    else
        ui_print("Change: %s %s%s, %s", change, report->weight.unit, name_counted_time(report->weight.kind), relative);
    if (changes) {
        print_interval(report, &changes->all, report->weight.unit);
        ui_print(": %s", changes->all.is_noise ? "not more than noise" : "more than noise");
    }
    if (comparison->scaled_by != PROFILE_NONE)
        ui_print("; prof scaled the new side by %.4g, for the same %s on both", comparison->scale,
                 profile_text(report->profile, comparison->scaled_by));
    putchar('\n');
    if (changes && changes->has_wall_time)
        print_wall_time(report, changes);
    const char *note = changes ? report_describe_verdicts(changes, report, false) : NULL;
    if (note)
        report_print_wrapped(report, note, 0, 0);
    report_print_filters(report);
    if (warning[0])
        report_warn(report, warning);
    putchar('\n');
}

/* ---- functions, and whether a change is more than noise (tree/changes.h) ---- */

enum { DEFAULT_LIMIT = 60 };

static const char one_run_text[] =
    "A side has only one run, so the variation between runs is unknown, and only large changes exceed noise. Compare several runs (prof record --iterations 10).";
static const char one_after_other_text[] =
    "One side was recorded before the other: changes of the machine in between count as changes, too. To exclude them, alternate the recordings, as in the examples of prof-diff(1).";

static bool is_anything_changed(const struct func_changes *changes)
{
    bool is_changed = !changes->all.is_noise;
    for (size_t i = 0; i < changes->length; i++)
        is_changed |= !changes->estimates[i].is_noise;
    return is_changed;
}

const char *report_describe_verdicts(const struct func_changes *changes, const struct report *report, bool is_changed)
{
    if (changes->are_intervals)
        return NULL;
    if (!changes->are_runs)
        return one_run_text;
    bool in_turn = !report_get_comparison(report)->is_one_after_other;
    return in_turn || (!is_changed && !is_anything_changed(changes)) ? NULL : one_after_other_text;
}

int report_find_changes(struct func_changes *changes, const struct report *report, struct error *err)
{
    int code = func_changes_find(changes, report->engine, report->options.order, err);
    changes->has_wall_time &= !report_is_filtered(report);
    return code;
}

/* ---- text ---- */

static void print_function(const struct report *report, const struct func_changes *changes,
                           const struct func_timing *row)
{
    const struct change_estimate *estimate = get_func_change(changes, row->func);
    char reach[QUANTITY_TEXT_MAX] = "";
    if (estimate)
        report_format_half_interval(report, estimate, reach);
    report_print_compared_figures(report, row->sides, report->options.order == FUNCS_BY_SELF, reach);
    report_print_func(report, row->func, "", report_measure_room(report, report->figures_columns));
    putchar('\n');
}

static bool is_noise(const struct func_changes *changes, const struct func_timing *row)
{
    const struct change_estimate *estimate = get_func_change(changes, row->func);
    return !estimate || estimate->is_noise;
}

/* Explains why the verdict of a row, noise or not, can disagree with the row's interval. An interval covers one
 * function, and the verdicts test all functions together. */
static void print_noise_title(const struct func_changes *changes)
{
    bool any_outside = false;
    for (size_t i = 0; i < changes->length; i++)
        any_outside |= changes->estimates[i].is_noise && changes->estimates[i].low * changes->estimates[i].high > 0;
    fputs("\nNot more than noise", stdout);
    if (any_outside && changes->length > 1)
        ui_print(" (of %zu functions, about %.0f seem to change by chance)", changes->length,
                 ceil(0.05 * (double)changes->length));
    puts(":");
}

/* Prints either the functions whose change is noise or those whose change exceeds noise. Small changes beyond noise are
 * never hidden. */
static void print_functions(const struct report *report, const struct func_changes *changes, bool of_noise,
                            struct row_counts *counts)
{
    bool has_title = false;
    for (size_t i = 0; i < changes->functions.length && !counts->limit; i++) {
        const struct func_timing *row = &changes->functions.rows[i];
        double weight = report->options.order == FUNCS_BY_SELF ? row->self : row->total;
        if (is_noise(changes, row) != of_noise ||
            !report_count_row(report, counts, of_noise ? weight : INFINITY, DEFAULT_LIMIT))
            continue;
        if (!has_title && of_noise)
            print_noise_title(changes);
        has_title = true;
        print_function(report, changes, row);
    }
    if (!has_title && !of_noise)
        puts("No function has changed by more than noise.");
}

/* Prints the number and the weight of functions that only one side has. */
static void print_one_sided_functions(const struct report *report, const struct func_timings *functions,
                                      enum profile_side side)
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
    format_weight(weight, sum, report->weight.unit);
    report_append_format(text, "%zu function%s %s, with %s %s self.", count, count == 1 ? "" : "s",
                         side == SIDE_NEW ? "appeared"
                         : count == 1     ? "is gone"
                                          : "are gone",
                         weight, report->weight.unit);
    report_print_wrapped(report, text, 0, 0);
}

int report_print_compared_functions(const struct report *report, struct error *err)
{
    struct func_changes changes;
    int code = report_find_changes(&changes, report, err);
    if (!code) {
        struct row_counts counts = {0};
        report_print_compared_head(report, &changes);
        report_print_compared_columns(report, "function", report->options.order == FUNCS_BY_SELF, true);
        print_functions(report, &changes, false, &counts);
        print_functions(report, &changes, true, &counts);
        report_print_omissions(report, &counts, "function");
        print_one_sided_functions(report, &changes.functions, SIDE_NEW);
        print_one_sided_functions(report, &changes.functions, SIDE_BASE);
    }
    func_changes_destroy(&changes);
    return code;
}
