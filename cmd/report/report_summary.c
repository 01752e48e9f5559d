/*
 * `prof report --summary`: the first answers in one call of at most 8 KiB, for people, pull requests and programs.
 */
#include "cmd/report/report_kinds.h"

#include "base/utf8.h"
#include "cmd/report/report_lines.h"
#include "cmd/report/report_notes.h"
#include "cmd/report/report_text.h"

#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "base/path.h"
#include "tree/findings.h"
#include "tree/findings_json.h"
#include "tree/profile_info.h"
#include "tree/stack_view.h"
#include "tree/wait_names.h"

/* Limits that keep the summary within 8 KiB. */
enum { MOST_FINDINGS = 5, MOST_FUNCTIONS = 8, MOST_LINES = 6, MOST_WAITS = 6, MOST_FIGURES = 6, LONGEST_NAME = 90 };

struct summary {
    struct findings findings; /* empty for text, because the head prints the findings */
    struct func_timings functions;
    struct hot_lines lines;
    struct wait_groups waits;
    struct arena arena;
    struct metadata metadata; /* what the recorder wrote */
};

static int find_summary(struct summary *summary, const struct report *report, struct error *err)
{
    const struct counted_stacks counted = engine_get_counted_stacks(report->engine);
    int code = engine_list_functions(report->engine, FUNCS_BY_SELF, &summary->functions, err);
    if (!code)
        code = hot_lines_compute(&summary->lines, report->profile, &counted, MOST_LINES, err);
    if (!code && engine_has_waits(report->engine))
        code = engine_group_waits(report->engine, WAITS_BY_OBJECT, &summary->waits, err);
    return code ? code : list_recording_metadata(&summary->metadata, &summary->arena, report->profile, err);
}

static void summary_destroy(struct summary *summary)
{
    findings_destroy(&summary->findings);
    func_timings_destroy(&summary->functions);
    hot_lines_destroy(&summary->lines);
    wait_groups_destroy(&summary->waits);
    array_free(&summary->metadata);
    arena_destroy(&summary->arena);
}

static const char *find_exit(const struct summary *summary)
{
    static const char *const labels[] = {"Exit status", "Target ended with", NULL};
    return find_metadata(&summary->metadata, labels);
}

/* Stores the figures of the data quality that the recorder wrote, at most MOST_FIGURES. Returns their number. */
static size_t list_figures(const struct summary *summary, struct metadata_entry figures[MOST_FIGURES])
{
    static const char *const labels[MOST_FIGURES] = {
        "Samples",         "Samples requested",           "Samples lost",
        "Stacks complete", "CPU time covered by samples", "Addresses resolved"};
    size_t count = 0;
    for (size_t i = 0; i < MOST_FIGURES; i++) {
        const char *value = find_metadata(&summary->metadata, (const char *const[]){labels[i], NULL});
        if (value)
            figures[count++] = (struct metadata_entry){labels[i], value};
    }
    return count;
}

/* ---- text and Markdown ---- */

static void format_amount(char out[QUANTITY_TEXT_MAX], double amount, const char *unit)
{
    if (strcmp(unit, "ms") == 0)
        format_time(out, amount);
    else
        format_weight(out, amount, unit);
}

static void print_heading(const struct report *report, const char *title)
{
    putchar('\n');
    report_print_color(report, COLOR_BOLD);
    ui_print(report->options.markdown ? "## %s\n\n" : "%s\n", title);
    report_print_color(report, COLOR_NORMAL);
}

/* Prints a share, an amount, a name and its place. */
static void print_row(const struct report *report, double share, const char *amount, const char *name,
                      const char *place)
{
    bool markdown = report->options.markdown;
    ui_print(markdown ? "- %.1f%% (" : "%6.1f%%  ", 100 * share);
    report_print_right_aligned(report, amount, markdown ? 0 : 10);
    ui_print(markdown ? ") " : "  ");
    report_print_text(report, name, LONGEST_NAME);
    ui_print(!place[0] ? "" : markdown ? ", " : "  ");
    report_print_text(report, place, LONGEST_NAME);
    putchar('\n');
}

static void print_entry(const struct report *report, const char *label, const char *value)
{
    ui_print("%s%s: ", report->options.markdown ? "- " : "  ", label);
    report_print_text(report, value, LONGEST_NAME);
    putchar('\n');
}

static void print_functions(const struct report *report, const struct summary *summary)
{
    print_heading(report, "Functions by self");
    for (size_t i = 0; i < summary->functions.length && i < MOST_FUNCTIONS; i++) {
        const struct func_timing *row = &summary->functions.rows[i];
        const struct func_names names = get_func_names(report->profile, row->func);
        char amount[QUANTITY_TEXT_MAX];
        format_amount(amount, row->self, report->weight.unit);
        if (row->self > 0)
            print_row(report, row->self / report->total, amount, profile_text(report->profile, names.name),
                      profile_text(report->profile, names.lib));
    }
}

static void print_lines(const struct report *report, const struct summary *summary)
{
    if (summary->lines.rows.length)
        print_heading(report, "Lines by self");
    for (size_t i = 0; i < summary->lines.rows.length; i++) {
        const struct hot_line *row = &summary->lines.rows.data[i];
        char amount[QUANTITY_TEXT_MAX], place[LONGEST_NAME];
        format_amount(amount, row->self, report->weight.unit);
        const char *file = path_get_base_name(report_get_source_file(report, row->func));
        snprintf(place, sizeof(place), "%.*s:%u", utf8_cut(file, 70), file, row->line);
        print_row(report, row->self / report->total, amount, place,
                  profile_text(report->profile, get_func_names(report->profile, row->func).name));
    }
}

static void print_waits(const struct report *report, const struct summary *summary)
{
    if (summary->waits.list.length)
        print_heading(report, "Waits by object");
    for (size_t i = 0; i < summary->waits.list.length && i < MOST_WAITS; i++) {
        const struct wait_group *group = &summary->waits.list.data[i];
        char amount[QUANTITY_TEXT_MAX], place[2 * LONGEST_NAME] = "";
        format_amount(amount, group->total, "ms");
        if (group->own_func != PROFILE_NONE && group->runnable < group->total / 2) {
            const char *name = profile_text(report->profile, get_func_names(report->profile, group->own_func).name);
            snprintf(place, sizeof(place), "in %.*s", utf8_cut(name, 80), name);
        }
        print_row(report, group->total / summary->waits.totals.there, amount,
                  get_wait_object_name(report->engine, group), place);
    }
}

static void print_quality(const struct report *report, const struct summary *summary)
{
    const char *end = find_exit(summary);
    struct metadata_entry figures[MOST_FIGURES];
    size_t count = list_figures(summary, figures);
    print_heading(report, "Data quality");
    for (size_t i = 0; i < count; i++)
        print_entry(report, figures[i].label, figures[i].value);
    if (end)
        print_entry(report, "Exit status of the target", end);
}

int report_print_summary(const struct report *report, struct error *err)
{
    struct summary summary = {0};
    int code = find_summary(&summary, report, err);
    if (!code) {
        print_functions(report, &summary);
        print_lines(report, &summary);
        print_waits(report, &summary);
        code = report_print_notes(report, REPORT_NOTES, err);
        print_quality(report, &summary);
    }
    summary_destroy(&summary);
    return code;
}

/* ---- JSON ---- */

/* What the JSON has, with names of at most `longest` bytes. */
struct summary_json {
    const struct report *report;
    const struct summary *summary;
    size_t longest;
};

static void write_shortened_text(struct json_writer *json, const struct summary_json *of, const char *key,
                                 const char *text)
{
    json_key(json, key);
    json_text(json, text, strnlen(text, of->longest));
}

static void write_place(struct json_writer *json, const struct summary_json *of, uint32_t func, uint32_t line)
{
    const struct report *report = of->report;
    const struct func_names names = get_func_names(report->profile, func);
    write_shortened_text(json, of, "function", profile_text(report->profile, names.name));
    if (names.lib != PROFILE_NONE)
        write_shortened_text(json, of, "library", profile_text(report->profile, names.lib));
    if (line) {
        write_shortened_text(json, of, "file", path_get_base_name(profile_text(report->profile, names.file)));
        json_member_double(json, "line", line);
    }
}

static void write_lists(struct json_writer *json, const struct summary_json *of)
{
    const struct summary *summary = of->summary;
    const struct report *report = of->report;
    json_member_open(json, "functions", '[');
    for (size_t i = 0; i < summary->functions.length && i < MOST_FUNCTIONS; i++) {
        json_open(json, '{');
        write_place(json, of, summary->functions.rows[i].func, 0);
        json_member_double(json, "self", summary->functions.rows[i].self);
        json_member_double(json, "total", summary->functions.rows[i].total);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_member_open(json, "lines", '[');
    for (size_t i = 0; i < summary->lines.rows.length; i++) {
        json_open(json, '{');
        write_place(json, of, summary->lines.rows.data[i].func, summary->lines.rows.data[i].line);
        json_member_double(json, "self", summary->lines.rows.data[i].self);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_member_open(json, "waits", '[');
    for (size_t i = 0; i < summary->waits.list.length && i < MOST_WAITS; i++) {
        const struct wait_group *group = &summary->waits.list.data[i];
        json_open(json, '{');
        write_shortened_text(json, of, "object", get_wait_object_name(report->engine, group));
        write_shortened_text(json, of, "reason", get_wait_reason_name(report->engine, group->reason));
        json_member_double(json, "ms", group->total);
        json_member_double(json, "threads", group->threads);
        if (group->own_func != PROFILE_NONE)
            write_place(json, of, group->own_func, group->own_line);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_quality(struct json_writer *json, const struct summary_json *of)
{
    enum { MOST_WARNINGS = 4 };
    const struct summary *summary = of->summary;
    struct metadata_entry figures[MOST_FIGURES];
    size_t count = list_figures(summary, figures), warnings = 0;
    json_member_open(json, "quality", '{');
    for (size_t i = 0; i < count; i++)
        write_shortened_text(json, of, figures[i].label, figures[i].value);
    json_close(json, '}');
    json_member_open(json, "warnings", '[');
    for (size_t i = 0; i < summary->metadata.length; i++)
        if (strcmp(summary->metadata.data[i].label, "Hint") == 0 && warnings++ < MOST_WARNINGS)
            json_text(json, summary->metadata.data[i].value, strnlen(summary->metadata.data[i].value, 4 * of->longest));
    json_close(json, ']');
}

static int write_members(struct json_writer *json, const struct summary_json *of, struct error *err)
{
    const char *end = find_exit(of->summary);
    if (end)
        write_shortened_text(json, of, "exit_status", end);
    else
        json_member_text(json, "exit_status", NULL);
    write_findings(json, of->report->engine, &of->summary->findings, MOST_FINDINGS, of->longest);
    write_lists(json, of);
    int code = report_write_notes(json, of->report, REPORT_NOTES, of->longest, err);
    write_quality(json, of);
    return code;
}

static int count_bytes(void *context, const void *bytes, size_t size, struct error *err)
{
    (void)bytes;
    (void)err;
    *(size_t *)context += size;
    return 0;
}

/* Shortens names until the members fit, because JSON has up to 6 bytes for a byte of a name. */
static int fit_names(struct summary_json *of, struct error *err)
{
    enum { MOST_BYTES = 6000 }; /* the rest is for the members before */
    size_t size = 0;
    const struct byte_sink sink = {.write = count_bytes, .context = &size};
    struct json_writer *json = malloc(sizeof(*json));
    int code = json ? 0 : error_no_memory(err);
    for (of->longest = LONGEST_NAME; !code && of->longest > 1; of->longest /= 2) {
        size = 0;
        ui_init_json(json, &sink, err);
        json_open(json, '{');
        code = write_members(json, of, err);
        json_writer_finish(json);
        if (size <= MOST_BYTES)
            break;
    }
    free(json);
    return code;
}

int report_write_summary(struct json_writer *json, const struct report *report, struct error *err)
{
    struct summary summary = {0};
    struct summary_json of = {.report = report, .summary = &summary};
    int code = findings_find_all(&summary.findings, report->engine, err);
    if (!code)
        code = find_summary(&summary, report, err);
    if (!code)
        code = fit_names(&of, err);
    if (!code)
        code = write_members(json, &of, err);
    summary_destroy(&summary);
    return code;
}
