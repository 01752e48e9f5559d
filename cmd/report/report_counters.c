/*
 * `prof report --counters`: the counters of processes and of the machine in the range; and the short table of counters
 * above a tree.
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_text.h"
#include "cmd/report/report_rows.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/timeline_counters.h"

enum { NUMBER_COLUMNS = 12, LABEL_COLUMNS = 20, NAME_COLUMNS = 20 };

/* A counter with its values in the range. */
struct counter_row {
    const struct counter *counter;
    struct counter_display display;
    struct counter_totals totals;
};

/* Fills the row of a counter. Returns false if the counter's process has no selected thread, or the counter has no
 * value in the range. */
static bool fill_row(const struct report *report, const struct counter *counter, struct counter_row *row)
{
    const struct profile *profile = report->profile;
    bool is_chosen = report->threads.length == profile->threads.length;
    for (size_t i = 0; i < report->threads.length && !is_chosen; i++)
        is_chosen = profile->threads.data[report->threads.data[i]].pid == counter->pid;
    row->counter = counter;
    read_counter_display(&row->display, profile, counter);
    sum_counter(&row->totals, counter, row->display.starts_at_zero, report->range.from, report->range.to);
    return is_chosen && !isnan(row->totals.low);
}

/* Formats the process of a row: "make (123)". */
static void format_process(const struct report *report, const struct counter_row *row, char *text)
{
    const struct thread *thread = &report->profile->threads.data[row->counter->main_thread];
    const char *name = profile_text(report->profile, thread->process_name);
    text[0] = '\0';
    if (row->display.is_of_system)
        report_append_format(text, "System");
    else
        report_append_format(text, "%.40s (%.20s)", name[0] ? name : profile_text(report->profile, thread->name),
                             profile_text(report->profile, row->counter->pid));
}

/* ---- figures ---- */

static bool is_unit(const struct counter_row *row, const char *unit)
{
    return strcmp(row->display.unit, unit) == 0;
}

static bool is_cpu_time(const struct counter_row *row)
{
    return is_unit(row, "cpu-ms") || is_unit(row, "cpu-us");
}

static double convert_to_cpu_ms(const struct counter_row *row, double count)
{
    return is_unit(row, "cpu-us") ? count / 1000 : count;
}

static void format_amount(const struct counter_row *row, double amount, char out[QUANTITY_TEXT_MAX])
{
    if (isnan(amount))
        snprintf(out, QUANTITY_TEXT_MAX, "-");
    else if (is_cpu_time(row))
        format_duration(out, convert_to_cpu_ms(row, amount));
    else if (is_unit(row, "pWh"))
        snprintf(out, QUANTITY_TEXT_MAX, "%.4g J", amount * 3600e-12);
    else if (is_unit(row, "bytes"))
        format_bytes(out, amount);
    else
        format_count(out, amount);
}

static void format_rate(const struct counter_row *row, double per_ms, char out[QUANTITY_TEXT_MAX])
{
    if (isnan(per_ms))
        snprintf(out, QUANTITY_TEXT_MAX, "-");
    else if (is_cpu_time(row))
        snprintf(out, QUANTITY_TEXT_MAX, "%.1f%%", 100 * convert_to_cpu_ms(row, per_ms));
    else if (is_unit(row, "pWh"))
        snprintf(out, QUANTITY_TEXT_MAX, "%.4g W", per_ms * 3600e-9);
    else {
        format_amount(row, per_ms * 1000, out);
        snprintf(out + strlen(out), QUANTITY_TEXT_MAX - strlen(out), "/s");
    }
}

static void print_right_aligned(const struct report *report, const char *text)
{
    report_print_right_aligned(report, text, NUMBER_COLUMNS);
}

/* ---- the table ---- */

static void print_row(const struct report *report, const struct counter_row *row)
{
    char text[QUANTITY_TEXT_MAX];
    const struct counter_totals *totals = &row->totals;
    const double levels[] = {totals->low, totals->mean, totals->high};
    const double rates[] = {totals->least, totals->covered > 0 ? totals->total / totals->covered : NAN, totals->most};
    for (size_t i = 0; i < 3; i++) {
        if (row->display.is_rate)
            format_rate(row, rates[i], text);
        else
            format_amount(row, levels[i], text);
        print_right_aligned(report, text);
    }
    format_amount(row, row->display.is_rate ? totals->total : NAN, text);
    print_right_aligned(report, text);
    fputs("  ", stdout);
    report_print_text(report, row->display.label, 60);
    putchar('\n');
}

int report_print_counters(const struct report *report, struct error *err)
{
    const struct profile *profile = report->profile;
    char last[REPORT_LINE_SIZE] = "", name[REPORT_LINE_SIZE];
    size_t limit = report_get_row_limit(report, SIZE_MAX), rows = 0, count = 0;
    (void)err;
    for (size_t i = 0; i < profile->counters.length; i++) {
        struct counter_row row;
        if (!fill_row(report, &profile->counters.data[i], &row) || count++ >= limit)
            continue;
        format_process(report, &row, name);
        if (strcmp(name, last) != 0) {
            if (rows)
                putchar('\n');
            report_print_color(report, COLOR_BOLD);
            static const char *const titles[] = {"least", "mean", "most", "total"};
            for (size_t k = 0; k < 4; k++)
                print_right_aligned(report, titles[k]);
            fputs("  ", stdout);
            report_print_text(report, name, 80);
            report_print_color(report, COLOR_NORMAL);
            putchar('\n');
            snprintf(last, sizeof(last), "%s", name);
        }
        print_row(report, &row);
        rows++;
    }
    if (!rows)
        puts("This profile has no counters in this range.");
    report_print_hidden_count(count, rows);
    return 0;
}

/* ---- the short table ---- */

/* The figures of a process, or NAN without figures. */
struct process_figures {
    uint32_t pid; /* string */
    const struct counter *counter;
    double cpu, memory, faults, read, written, switches;
};

/* The counters that prof records, by their names in the profile. */
static double *find_figure(struct process_figures *figures, const char *name)
{
    const struct {
        const char *name;
        double *figure;
    } known[] = {{"processCPU", &figures->cpu},
                 {"memory", &figures->memory},
                 {"minorFaults", &figures->faults},
                 {"majorFaults", &figures->faults},
                 {"readBytes", &figures->read},
                 {"writtenBytes", &figures->written},
                 {"voluntarySwitches", &figures->switches},
                 {"involuntarySwitches", &figures->switches}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].figure;
    return NULL;
}

static void add_figure(const struct report *report, struct process_figures *figures, const struct counter_row *row)
{
    double *figure = find_figure(figures, profile_text(report->profile, row->counter->name));
    if (!figure)
        return;
    double value = row->display.starts_at_zero ? row->totals.high : row->totals.total;
    if (is_cpu_time(row))
        value = row->totals.covered > 0 ? value / row->totals.covered : 0;
    *figure = isnan(*figure) ? value : *figure + value;
}

/* Collects the values of the process whose first counter is `at`, and moves `at` behind its last counter. */
static bool next_process(const struct report *report, size_t *at, struct process_figures *figures)
{
    const struct profile *profile = report->profile;
    bool any = false;
    *figures = (struct process_figures){.pid = profile->counters.data[*at].pid,
                                        .counter = &profile->counters.data[*at],
                                        .cpu = NAN,
                                        .memory = NAN,
                                        .faults = NAN,
                                        .read = NAN,
                                        .written = NAN,
                                        .switches = NAN};
    for (; *at < profile->counters.length && profile->counters.data[*at].pid == figures->pid; ++*at) {
        struct counter_row row;
        if (!fill_row(report, &profile->counters.data[*at], &row) || row.display.is_of_system)
            continue;
        add_figure(report, figures, &row);
        any = true;
    }
    return any && !(isnan(figures->cpu) && isnan(figures->memory));
}

static void print_figures(const struct report *report, const struct process_figures *figures)
{
    char text[QUANTITY_TEXT_MAX];
    const struct {
        double value;
        bool is_bytes;
    } columns[] = {{figures->memory, true},
                   {figures->faults, false},
                   {figures->read, true},
                   {figures->written, true},
                   {figures->switches, false}};
    snprintf(text, sizeof(text), isnan(figures->cpu) ? "-" : "%.0f%%", 100 * figures->cpu);
    report_print_right_aligned(report, text, 6);
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        if (isnan(columns[i].value))
            snprintf(text, sizeof(text), "-");
        else if (columns[i].is_bytes)
            format_bytes(text, columns[i].value);
        else
            format_count(text, columns[i].value);
        report_print_right_aligned(report, text, NUMBER_COLUMNS);
    }
    struct counter_row row = {.counter = figures->counter};
    char name[REPORT_LINE_SIZE];
    format_process(report, &row, name);
    fputs("  ", stdout);
    report_print_text(report, name, report_measure_room(report, 6 + 5 * NUMBER_COLUMNS + 2));
    putchar('\n');
}

void report_print_figures(const struct report *report)
{
    enum { USUAL = 3 };
    struct process_figures figures;
    size_t shown = 0, more = 0;
    for (size_t at = 0; at < report->profile->counters.length;) {
        if (!next_process(report, &at, &figures))
            continue;
        if (shown == USUAL) {
            more++;
            continue;
        }
        if (!shown++) {
            static const char *const titles[] = {"peak memory", "page faults", "read", "written", "switches"};
            report_print_color(report, COLOR_BOLD);
            ui_print("%6s", "CPU");
            for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
                print_right_aligned(report, titles[i]);
            ui_print("  %s", "process");
            report_print_color(report, COLOR_NORMAL);
            putchar('\n');
        }
        print_figures(report, &figures);
    }
    if (more)
        ui_print("and %zu more process%s (--counters)\n", more, more == 1 ? "" : "es");
    if (shown)
        putchar('\n');
}

/* ---- JSON ---- */

static void write_number(struct json_writer *json, const char *key, double value)
{
    if (isfinite(value))
        json_member_double(json, key, value);
}

int report_write_counters(struct json_writer *json, const struct report *report, struct error *err)
{
    const struct profile *profile = report->profile;
    size_t limit = report_get_row_limit(report, SIZE_MAX);
    (void)err;
    json_member_open(json, "counters", '[');
    for (size_t i = 0; i < profile->counters.length && limit > 0; i++) {
        struct counter_row row;
        if (!fill_row(report, &profile->counters.data[i], &row))
            continue;
        limit--;
        const struct counter_totals *totals = &row.totals;
        json_open(json, '{');
        json_member_double(json, "index", (double)i);
        json_member_text(json, "name", profile_text(profile, row.counter->name));
        json_member_text(json, "label", row.display.label);
        json_member_text(json, "pid", row.display.is_of_system ? NULL : profile_text(profile, row.counter->pid));
        json_member_text(json, "unit", is_cpu_time(&row) ? "ms" : row.display.unit);
        json_member_text(json, "kind", row.display.is_rate ? "rate" : "sum");
        if (row.display.is_rate) {
            write_number(json, "total", convert_to_cpu_ms(&row, totals->total));
            write_number(json, "min_per_s", 1000 * convert_to_cpu_ms(&row, totals->least));
            write_number(json, "mean_per_s",
                         totals->covered > 0 ? 1000 * convert_to_cpu_ms(&row, totals->total) / totals->covered : NAN);
            write_number(json, "max_per_s", 1000 * convert_to_cpu_ms(&row, totals->most));
        } else {
            write_number(json, "min", totals->low);
            write_number(json, "mean", totals->mean);
            write_number(json, "max", totals->high);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
    return 0;
}
