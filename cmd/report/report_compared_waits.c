/*
 * `prof diff --waits`: the waits of both sides and their changes, the changes that exceed noise first.
 *
 *     base ms   new ms   change     95%  base count  new count  waited for         kind
 *       412.1  1,216.0   +803.9  ±430.2          40         40  mutex cache_lock   Mutex
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_compared.h"
#include "cmd/report/report_rows.h"
#include "cmd/report/report_select.h"
#include "cmd/report/report_text.h"

#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/compared_waits.h"
#include "tree/wait_names.h"

enum { USUAL_ROWS = 40, COUNT_COLUMNS = 12, WIDEST_NAME = 44 };

static int find_changes(const struct report *report, struct compared_waits *waits, struct func_changes *header,
                        struct error *err)
{
    int code = compared_waits_find(waits, report->engine, report->wait_grouping, err);
    *header = (struct func_changes){.estimates = waits->estimates,
                                    .length = waits->estimate_count,
                                    .all = waits->all,
                                    .has_wall_time = !report_is_filtered(report),
                                    .are_runs = waits->are_runs,
                                    .are_intervals = engine_count_intervals(report->engine, SIDE_NEW) > 0};
    if (!code && header->has_wall_time)
        code = estimate_wall_time_change(&header->wall_time, report->profile, err);
    return code;
}

static const char *get_name(const struct compared_waits *waits, const struct compared_wait *row)
{
    return strings_text(&waits->names, row->name);
}

static double get_change(const struct compared_wait *row)
{
    return row->ms[SIDE_NEW] - row->ms[SIDE_BASE];
}

static bool is_noise(const struct compared_waits *waits, const struct compared_wait *row)
{
    const struct change_estimate *change = get_wait_change(waits, row);
    return !change || change->is_noise;
}

/* ---- text ---- */

static unsigned measure_names(const struct report *report, const struct compared_waits *waits)
{
    unsigned widest = (unsigned)strlen("waited for");
    for (size_t i = 0; i < waits->list.length; i++) {
        unsigned columns = report_measure_text(report, get_name(waits, &waits->list.data[i]));
        widest = columns > widest ? columns : widest;
    }
    return widest < WIDEST_NAME ? widest : WIDEST_NAME;
}

static void print_columns(const struct report *report, unsigned name_columns)
{
    static const char *const titles[WAIT_GROUPINGS] = {[WAITS_BY_REASON] = "kind",
                                                       [WAITS_BY_OBJECT] = "waited for",
                                                       [WAITS_BY_THREAD] = "thread",
                                                       [WAITS_BY_WAKER] = "ended by"};
    static const char *const numbers[] = {"base ms", "new ms", "change", "95%"};
    bool has_kind = report->wait_grouping != WAITS_BY_REASON;
    report_print_color(report, COLOR_BOLD);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        report_print_right_aligned(report, numbers[i], report->total_columns + 1);
    report_print_right_aligned(report, "base count", COUNT_COLUMNS);
    report_print_right_aligned(report, "new count", COUNT_COLUMNS);
    ui_print("  %-*s%s", has_kind ? (int)name_columns + 2 : 0, titles[report->wait_grouping], has_kind ? "kind" : "");
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
}

static void print_count(const struct report *report, double count)
{
    char text[QUANTITY_TEXT_MAX] = "-";
    if (count > 0 && engine_count_intervals(report->engine, SIDE_NEW))
        snprintf(text, sizeof(text), "%.2f", count); /* of an interval */
    else if (count > 0)
        format_count(text, fmax(1, round(count)));
    report_print_right_aligned(report, text, COUNT_COLUMNS);
}

static void print_row(const struct report *report, const struct compared_waits *waits, const struct compared_wait *row,
                      unsigned name_columns)
{
    char text[QUANTITY_TEXT_MAX];
    unsigned columns = report->total_columns + 1;
    const struct change_estimate *change = get_wait_change(waits, row);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        report_format_weight(report, row->ms[side], text);
        report_print_right_aligned(report, text, columns);
    }
    report_format_change(report, get_change(row), text);
    report_print_color(report, is_noise(waits, row) ? COLOR_NORMAL : get_change(row) > 0 ? COLOR_HOT : COLOR_WARM);
    report_print_right_aligned(report, text, columns);
    report_print_color(report, COLOR_NORMAL);
    text[0] = '\0';
    if (change)
        report_format_half_interval(report, change, text);
    report_print_right_aligned(report, text, columns);
    for (int side = 0; side < PROFILE_SIDES; side++)
        print_count(report, row->count[side]);
    ui_print("  ");
    unsigned printed = report_print_shortened(report, get_name(waits, row), name_columns);
    if (report->wait_grouping != WAITS_BY_REASON) {
        ui_print("%*s", (int)(name_columns - printed + 2), "");
        report_print_text(report, get_wait_reason_name(report->engine, row->reason), 0);
    }
    putchar('\n');
}

/* Prints either the rows whose change is noise or the other rows. Small changes beyond noise are never hidden. */
static void print_rows(const struct report *report, const struct compared_waits *waits, bool of_noise,
                       struct row_counts *counts)
{
    unsigned name_columns = measure_names(report, waits);
    bool has_title = false;
    for (size_t i = 0; i < waits->list.length && !counts->limit; i++) {
        const struct compared_wait *row = &waits->list.data[i];
        if (is_noise(waits, row) != of_noise ||
            !report_count_row(report, counts, of_noise ? get_change(row) : INFINITY, USUAL_ROWS))
            continue;
        if (!has_title && of_noise)
            puts("\nNot more than noise:");
        has_title = true;
        print_row(report, waits, row, name_columns);
    }
    if (!has_title && !of_noise)
        puts("No waits have changed by more than noise.");
}

int report_print_compared_waits(const struct report *report, struct error *err)
{
    struct compared_waits waits = {0};
    struct func_changes header;
    int code = find_changes(report, &waits, &header, err);
    if (!code) {
        struct row_counts counts = {0};
        report_print_compared_head(report, &header);
        print_columns(report, measure_names(report, &waits));
        print_rows(report, &waits, false, &counts);
        print_rows(report, &waits, true, &counts);
        report_print_omissions(report, &counts, "row");
    }
    compared_waits_destroy(&waits);
    return code;
}

/* ---- JSON ---- */

int report_write_compared_waits(struct json_writer *json, const struct report *report, struct error *err)
{
    struct compared_waits waits = {0};
    struct func_changes header;
    int code = find_changes(report, &waits, &header, err);
    struct row_counts counts = {0};
    json_member_open(json, "total_change", '{');
    change_estimate_write(json, &waits.all);
    json_close(json, '}');
    json_member_text(json, "units", waits.are_runs ? "runs" : "waits");
    json_member_text(json, "grouping", report_get_wait_grouping_name(report->wait_grouping));
    json_member_open(json, "waits", '[');
    for (size_t i = 0; !code && i < waits.list.length && !counts.limit; i++)
        if (report_count_row(report, &counts, get_change(&waits.list.data[i]), SIZE_MAX))
            compared_wait_write(json, &waits, &waits.list.data[i], report->engine);
    json_close(json, ']');
    compared_waits_destroy(&waits);
    return code;
}
