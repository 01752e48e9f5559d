#include "cmd/report/report_rows.h"

#include "cmd/common/ui.h"
#include "cmd/report/report_text.h"

enum { DEFAULT_DEPTH_INVERTED = 8 };

static const double default_min_percent = 0.5;

static double get_least_percent(const struct report *report)
{
    double usual = report->options.json ? 0 : default_min_percent;
    return isnan(report->options.min_percent) ? usual : report->options.min_percent;
}

size_t report_get_row_limit(const struct report *report, size_t usual)
{
    size_t limit = report->options.limit;
    return limit == 0 || (limit == SIZE_MAX && report->options.json) ? SIZE_MAX : limit == SIZE_MAX ? usual : limit;
}

uint32_t report_get_level_limit(const struct report *report)
{
    if (report->options.depth)
        return report->options.depth;
    return report->options.inverted || report->options.kind == REPORT_BUTTERFLY ? DEFAULT_DEPTH_INVERTED : UINT32_MAX;
}

double report_compute_percent(const struct report *report, double weight)
{
    return report->total > 0 ? 100 * weight / report->total : 0;
}

bool report_is_small(const struct report *report, double weight)
{
    return report->total > 0 && report_compute_percent(report, fabs(weight)) < get_least_percent(report);
}

bool report_count_row(const struct report *report, struct row_counts *counts, double weight, size_t usual)
{
    if (report_is_small(report, weight))
        counts->light++;
    else if (counts->printed == report_get_row_limit(report, usual))
        counts->limit = counts->printed;
    else {
        counts->printed++;
        return true;
    }
    return false;
}

/* ---- hidden rows ---- */

void report_print_omissions(const struct report *report, const struct row_counts *counts, const char *row_noun)
{
    static const char hidden[] = "Hidden";
    char text[REPORT_LINE_SIZE], count[QUANTITY_TEXT_MAX];
    snprintf(text, sizeof(text), "%s", hidden);
    if (counts->light) {
        bool is_branch = strcmp(row_noun, "branch") == 0;
        format_count(count, (double)counts->light);
        report_append_format(text, ", %s %s%s below %g%% (--min-percent 0)", count, row_noun,
                             counts->light == 1 ? ""
                             : is_branch        ? "es"
                                                : "s",
                             get_least_percent(report));
    }
    if (counts->deep) {
        format_count(count, (double)counts->deep);
        report_append_format(text, ", callees of %s row%s of level %" PRIu32 " (--depth)", count,
                             counts->deep == 1 ? "" : "s", report_get_level_limit(report));
    }
    if (counts->limit)
        report_append_format(text, ", rows after the first %zu (--limit 0)", counts->limit);
    if (strcmp(text, hidden) == 0 || report->options.is_live)
        return;
    text[strlen(hidden)] = ':';
    putchar('\n');
    report_print_wrapped(report, text, 0, 0);
}

void report_print_hidden_count(size_t all, size_t shown)
{
    if (all > shown)
        ui_print("and %zu more (--limit 0 prints all)\n", all - shown);
}
