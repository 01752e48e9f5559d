/*
 * `prof check BASE NEW --fail-if LIMIT`: compares two profiles in continuous integration. The exit status is 3 if a
 * change exceeds a limit, and, with --strict, 4 if noise hides the answer. prof check prints text, Markdown for a pull
 * request or JSON, and writes JUnit's XML.
 */
#include "cmd/check_limits.h"
#include "cmd/report/report_command.h"
#include "cmd/report/report_options.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_compared.h"
#include "cmd/common/commands.h"
#include "cmd/common/ui.h"

#include "os/file_io.h"
#include "os/file_output.h"
#include "base/json_write.h"

enum { EXIT_LIMIT = 3, EXIT_CANNOT_TELL = 4, MOST_FUNCTIONS = 20 };

struct check {
    struct report report;
    struct limit *limits;
    size_t count;
    struct func_changes changes;
};

/* The result of a limit as text for people, and as a word for JSON. */
static const char *const verdicts[] = {[LIMIT_MET] = "ok",
                                       [LIMIT_WITHIN_NOISE] = "cannot tell: the change is within noise",
                                       [LIMIT_NO_FUNCTION] = "cannot tell: no function has this name",
                                       [LIMIT_EXCEEDED] = "failed"};
static const char *const statuses[] = {[LIMIT_MET] = "ok",
                                       [LIMIT_WITHIN_NOISE] = "noise",
                                       [LIMIT_NO_FUNCTION] = "no-function",
                                       [LIMIT_EXCEEDED] = "failed"};

static const char *get_side_name(const struct check *check, enum profile_side side)
{
    return profile_text(check->report.profile, report_get_comparison(&check->report)->name[side]);
}

static size_t count_exceeded(const struct check *check)
{
    size_t passed = 0;
    for (size_t i = 0; i < check->count; i++)
        passed += check->limits[i].result == LIMIT_EXCEEDED;
    return passed;
}

static bool is_undecided(const struct limit *limit)
{
    return limit->result == LIMIT_WITHIN_NOISE || limit->result == LIMIT_NO_FUNCTION;
}

static size_t count_undecided(const struct check *check)
{
    size_t undecided = 0;
    for (size_t i = 0; i < check->count; i++)
        undecided += is_undecided(&check->limits[i]);
    return undecided;
}

/* "779.2 ms to 739.4 ms" */
static void format_sides(const struct check *check, const struct limit *limit, char out[2 * QUANTITY_TEXT_MAX])
{
    char base[QUANTITY_TEXT_MAX], new[QUANTITY_TEXT_MAX];
    const char *unit = check->report.weight.unit;
    format_weight(base, limit->change.base, unit);
    format_weight(new, limit->change.new, unit);
    snprintf(out, 2 * QUANTITY_TEXT_MAX, "%.60s %.20s to %.60s %.20s", base, unit, new, unit);
}

/* Finds the warning of the profile and the note about the verdicts. Returns their number. */
static size_t find_warnings(const struct check *check, const char *notes[2])
{
    size_t count = 0;
    const char *warning = profile_text(check->report.profile, check->report.profile->meta.warning);
    const char *note = report_describe_verdicts(&check->changes, &check->report, count_exceeded(check) > 0);
    if (warning[0])
        notes[count++] = warning;
    if (note)
        notes[count++] = note;
    return count;
}

/* ---- text ---- */

static void print_text(const struct check *check)
{
    char value[QUANTITY_TEXT_MAX], sides[2 * QUANTITY_TEXT_MAX];
    for (size_t i = 0; i < check->count; i++) {
        format_limit(&check->limits[i], &check->report, value);
        format_sides(check, &check->limits[i], sides);
        ui_print("%s: ", verdicts[check->limits[i].result]);
        report_print_text(&check->report, check->limits[i].text, 0);
        ui_print(": %s (%s)\n", value, sides);
    }
    const char *notes[2];
    for (size_t i = 0, count = find_warnings(check, notes); i < count; i++) {
        report_print_text(&check->report, notes[i], 0);
        putchar('\n');
    }
}

/* ---- Markdown ---- */

/* Copies the visible characters of a text, and writes those in `special` as character references. The caller frees the
 * text. NULL if memory ran out. */
static char *escape_text(const char *text, const char *special)
{
    char *copy = strdup(text), *out = NULL;
    size_t size = copy ? ui_replace_invisible(copy, strlen(copy)) : 0;
    FILE *memory = copy ? open_memstream(&out, &size) : NULL;
    for (size_t i = 0, end = size; memory && i < end; i++)
        fprintf(memory, strchr(special, copy[i]) ? "&#%d;" : "%c", copy[i] == '\n' || copy[i] == '\t' ? ' ' : copy[i]);
    if (memory && fclose(memory) != 0) {
        free(out);
        out = NULL;
    }
    free(copy);
    return out;
}

/* Prints text so that HTML and Markdown find no markup in it. */
static void print_escaped_markdown(const char *before, const char *text, const char *behind)
{
    char *safe = escape_text(text, "<>&|`*_[]\\~\"'");
    ui_print("%s%s%s", before, safe ? safe : "", behind);
    free(safe);
}

static void print_markdown_code(const char *text)
{
    print_escaped_markdown("<code>", text, "</code>");
}

static void print_markdown(const struct check *check)
{
    static const char *const marks[] = {
        [LIMIT_MET] = "✅", [LIMIT_WITHIN_NOISE] = "⚠️", [LIMIT_NO_FUNCTION] = "⚠️", [LIMIT_EXCEEDED] = "❌"};
    const struct report *report = &check->report;
    char value[QUANTITY_TEXT_MAX], sides[2 * QUANTITY_TEXT_MAX];
    size_t exceeded = count_exceeded(check), listed = 0;
    ui_print("### prof: %s\n\n", exceeded                 ? "a limit is exceeded"
                                 : count_undecided(check) ? "no limit is exceeded with certainty"
                                                          : "no limit is exceeded");
    fputs("Base ", stdout);
    print_markdown_code(get_side_name(check, SIDE_BASE));
    fputs(", new ", stdout);
    print_markdown_code(get_side_name(check, SIDE_NEW));
    fputs("\n\n| limit | | result | measured |\n|---|---|---|---|\n", stdout);
    for (size_t i = 0; i < check->count; i++) {
        format_limit(&check->limits[i], report, value);
        format_sides(check, &check->limits[i], sides);
        fputs("| ", stdout);
        print_markdown_code(check->limits[i].text);
        const char *mark =
            marks[check->limits[i].result]; /* the emoji has a variation selector, which ui_print() would replace */
        fputs(" | ", stdout);
        ui_write(mark, strlen(mark));
        ui_print(" | %s | %s (%s) |\n", verdicts[check->limits[i].result], value, sides);
    }
    for (size_t i = 0; i < check->changes.functions.length && listed < MOST_FUNCTIONS; i++) {
        const struct func_timing *row = &check->changes.functions.rows[i];
        const struct change_estimate *change = get_func_change(&check->changes, row->func);
        if (!change || change->is_noise)
            continue;
        if (listed++ == 0)
            ui_print("\n| function | base %s | new %s | change of self, 95%% |\n|---|---:|---:|---:|\n",
                     report->weight.unit, report->weight.unit);
        char base[QUANTITY_TEXT_MAX], new[QUANTITY_TEXT_MAX], by[QUANTITY_TEXT_MAX], reach[QUANTITY_TEXT_MAX];
        format_weight(base, row->sides[SIDE_BASE].self, report->weight.unit);
        format_weight(new, row->sides[SIDE_NEW].self, report->weight.unit);
        report_format_change(report, row->self, by);
        format_weight(reach, (change->high - change->low) / 2, report->weight.unit);
        fputs("| ", stdout);
        print_markdown_code(report_get_func_name(report, row->func));
        ui_print(" | %s | %s | %s ± %s |\n", base, new, by, reach);
    }
    if (listed == 0)
        puts("\nNo function has changed by more than noise.");
    const char *notes[2];
    for (size_t i = 0, count = find_warnings(check, notes); i < count; i++) {
        puts("");
        print_escaped_markdown("", notes[i], "\n");
    }
}

/* ---- JSON ---- */

static void write_limit(struct json_writer *json, const struct limit *limit)
{
    json_open(json, '{');
    json_member_text(json, "limit", limit->text);
    json_member_text(json, "status", statuses[limit->result]);
    json_member_double(json, "measured", limit->measured);
    json_member_double(json, "value", limit->value);
    json_member_double(json, "base", limit->change.base);
    json_member_double(json, "new", limit->change.new);
    change_estimate_write(json, &limit->change);
    json_close(json, '}');
}

static void write_changed_functions(struct json_writer *json, const struct check *check)
{
    for (size_t i = 0; i < check->changes.functions.length; i++) {
        const struct func_timing *row = &check->changes.functions.rows[i];
        const struct change_estimate *change = get_func_change(&check->changes, row->func);
        if (!change || change->is_noise)
            continue;
        json_open(json, '{');
        json_member_text(json, "name", report_get_func_name(&check->report, row->func));
        json_member_double(json, "base", row->sides[SIDE_BASE].self);
        json_member_double(json, "new", row->sides[SIDE_NEW].self);
        change_interval_write(json, change);
        json_close(json, '}');
    }
}

static void write_check(struct json_writer *json, const void *context)
{
    const struct check *check = context;
    json_member_text(json, "base", get_side_name(check, SIDE_BASE));
    json_member_text(json, "new", get_side_name(check, SIDE_NEW));
    json_member_text(json, "unit", check->report.weight.unit);
    json_member_text(json, "units", check->changes.are_runs ? "runs" : "blocks");
    json_member_bool(json, "passed", count_exceeded(check) == 0);
    json_member_bool(json, "decided", count_undecided(check) == 0);
    json_member_open(json, "limits", '[');
    for (size_t i = 0; i < check->count; i++)
        write_limit(json, &check->limits[i]);
    json_close(json, ']');
    json_member_open(json, "notes", '[');
    const char *notes[2];
    for (size_t i = 0, count = find_warnings(check, notes); i < count; i++)
        json_text_z(json, notes[i]);
    json_close(json, ']');
    json_member_open(json, "changed", '[');
    write_changed_functions(json, check);
    json_close(json, ']');
}

/* ---- JUnit ---- */

/* A test for each limit, as https://github.com/testmoapp/junitxml describes the format; valid by junit-10.xsd of
 * Jenkins' xUnit plugin, which wants the number of errors. */
static void write_junit_text(const struct check *check, FILE *file)
{
    char value[QUANTITY_TEXT_MAX], sides[2 * QUANTITY_TEXT_MAX];
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", file);
    fprintf(
        file,
        "<testsuites>\n  <testsuite name=\"prof check\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
        check->count, count_exceeded(check), count_undecided(check));
    for (size_t i = 0; i < check->count; i++) {
        const struct limit *limit = &check->limits[i];
        format_limit(limit, &check->report, value);
        format_sides(check, limit, sides);
        char *name = escape_text(limit->text, "<>&\"'");
        fprintf(file, "    <testcase classname=\"prof\" name=\"%s\">\n", name ? name : "");
        free(name);
        if (limit->result == LIMIT_EXCEEDED)
            fprintf(file, "      <failure message=\"%s (%s)\"/>\n", value, sides);
        else if (is_undecided(limit))
            fprintf(file, "      <skipped message=\"%s (%s), %s\"/>\n", value, sides, verdicts[limit->result]);
        else
            fprintf(file, "      <system-out>%s (%s), %s</system-out>\n", value, sides, verdicts[limit->result]);
        fputs("    </testcase>\n", file);
    }
    fputs("  </testsuite>\n</testsuites>\n", file);
}

static int write_junit(const struct check *check, const char *path)
{
    struct file_output output;
    struct error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory)
        write_junit_text(check, memory);
    bool is_complete = memory && !ferror(memory);
    if ((memory && fclose(memory) != 0) || !is_complete) {
        free(text);
        return ui_fail("out of memory");
    }
    int code = file_output_open(&output, path, 0666, &err);
    if (!code && (code = file_write(output.fd, text, size)) != 0)
        error_set(&err, -code, "cannot write %s: %s", path, strerror(-code));
    if (!code)
        code = file_output_commit(&output, &err);
    file_output_close(&output);
    free(text);
    return code ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}

/* ---- the command ---- */

static int parse_limits(struct check *check)
{
    const struct report_options *options = &check->report.options;
    if (!options->limits.length)
        return ui_usage("check",
                        "no limit given; for example, --fail-if 'total > +3%%' fails if the new side takes 3%% more");
    check->limits = calloc(options->limits.length, sizeof(*check->limits));
    if (!check->limits)
        return ui_fail("out of memory");
    for (; check->count < options->limits.length; check->count++)
        if (!parse_limit(&check->limits[check->count], options->limits.data[check->count]))
            return ui_usage(
                "check",
                "'%s' is not a limit; give total, self(NAME) or total(NAME), then > or <, then a change (+3%% or +20ms), a share of the total (20%%), or a time (500ms)",
                options->limits.data[check->count]);
    return EXIT_SUCCESS;
}

static int print_result(const struct check *check)
{
    const struct report_options *options = &check->report.options;
    int status = options->junit ? write_junit(check, options->junit) : EXIT_SUCCESS;
    if (status)
        return status;
    if (options->json)
        status = ui_print_json(write_check, check);
    else if (options->markdown)
        print_markdown(check);
    else
        print_text(check);
    if (!status && (fflush(stdout) != 0 || ferror(stdout)))
        status = ui_fail("cannot write the result: %s", strerror(errno));
    if (status)
        return status;
    return count_exceeded(check)                           ? EXIT_LIMIT
           : options->strict && count_undecided(check) > 0 ? EXIT_CANNOT_TELL
                                                           : EXIT_SUCCESS;
}

/* Fails if a side has no samples, because its recording failed. A side without samples would exceed no limit. */
static int refuse_empty_sides(const struct report *report)
{
    size_t samples[PROFILE_SIDES] = {0, 0};
    for (size_t i = 0; i < report->profile->threads.length; i++) {
        const struct thread *thread = &report->profile->threads.data[i];
        samples[thread->side] += thread->samples.length;
        for (size_t k = 0; k < thread->more.length; k++)
            samples[thread->side] += thread->more.data[k].length;
    }
    if (samples[SIDE_BASE] && samples[SIDE_NEW])
        return EXIT_SUCCESS;
    return ui_fail("cannot check: the %s side has no samples", samples[SIDE_BASE] ? "new" : "base");
}

static int run_check(struct check *check, int argc, char **argv)
{
    struct error err = {0};
    int status;
    if (!report_parse_options(argc, argv, &check->report.options, &status))
        return status;
    status = parse_limits(check);
    if (!status)
        status = report_prepare(&check->report);
    if (!status)
        status = refuse_empty_sides(&check->report);
    if (status)
        return status;
    report_detect_terminal(&check->report);
    status = measure_all_limits(check->limits, check->count, &check->report);
    if (!status && report_find_changes(&check->changes, &check->report, &err))
        status = ui_fail_with_error(&err);
    return status ? status : print_result(check);
}

int cmd_check(int argc, char **argv)
{
    struct check check = {.report = report_make(&check_table, true)};
    int status = run_check(&check, argc, argv);
    for (size_t i = 0; check.limits && i < check.count; i++)
        destroy_limit(&check.limits[i]);
    free(check.limits);
    func_changes_destroy(&check.changes);
    report_destroy(&check.report);
    return status;
}
