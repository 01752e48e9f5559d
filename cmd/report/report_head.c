/*
 * The header of `prof report`: one line about the recording and the selection, a warning for each doubt about the
 * figures, and the filters.
 */
#include "cmd/report/report_head.h"

#include "cmd/report/report_notes.h"
#include "cmd/report/report_select.h"
#include "cmd/report/report_threads.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_kinds.h"
#include "cmd/common/ui.h"

#include "base/hash.h"
#include "profile/notes.h"
#include "tree/bottleneck.h"
#include "tree/cpu_findings.h"
#include "tree/findings.h"
#include "tree/profile_info.h"

#include <time.h>

static double count_unfiltered(const struct report *report)
{
    double all = 0;
    for (size_t i = 0; i < report->profile->threads.length; i++)
        all += count_weighed_samples(report->profile, i, report->weight.kind, report->weight.table, whole_time);
    return all;
}

/* Counts the samples in the report. */
double report_count_samples(const struct report *report)
{
    bool are_weights = report->profile->meta.has_no_times && report->weight.table == TABLE_SAMPLES &&
                       strcmp(report->weight.unit, "samples") == 0;
    return are_weights ? report->total : (double)engine_get_timings(report->engine)->samples;
}

struct counted_noun report_get_counted_noun(const struct report *report)
{
    bool has_waits = engine_has_waits(report->engine);
    if (has_waits && report->weight.kind == WEIGH_OFF_CPU_TIME)
        return (struct counted_noun){"wait", "counted_waits"};
    if (has_waits && report->weight.kind == WEIGH_TIME)
        return (struct counted_noun){"samples and wait", "samples_and_waits"};
    return (struct counted_noun){"sample", "samples"};
}

static const char *const lost_names[] = {"Samples lost", NULL};

/* ---- the first line ---- */

/* Sums the CPU time of all threads in ms. Returns 0 if the profile has no CPU times. */
static double sum_cpu_times(const struct report *report)
{
    double cpu = 0;
    for (size_t i = 0; i < report->threads.length; i++)
        cpu += report_sum_cpu_time(report, report->threads.data[i]);
    return cpu;
}

/* Appends the total weight of a profile without times, before the number of samples. */
static void append_amount(const struct report *report, char *line)
{
    const char *unit = report->weight.unit;
    char text[QUANTITY_TEXT_MAX];
    if (strcmp(unit, "ms") == 0)
        format_time(text, report->total);
    else if (strcmp(unit, "bytes") == 0)
        format_bytes(text, report->total);
    else
        format_count(text, report->total);
    bool has_unit = strcmp(unit, "ms") != 0 && strcmp(unit, "bytes") != 0;
    if (strcmp(unit, "samples") != 0)
        report_append_format(line, "%s%s%s", text, has_unit ? " " : "", has_unit ? unit : "");
}

static void append_time(const struct report *report, char *line)
{
    char text[QUANTITY_TEXT_MAX];
    double wall = report->range.to - report->range.from, cpu = sum_cpu_times(report);
    if (report->profile->meta.has_no_times) {
        append_amount(report, line);
        return;
    }
    format_time(text, wall);
    report_append_format(line, "%s", text);
    if (!profile_has_weight(report->profile, WEIGH_CPU_TIME))
        return;
    format_time(text, cpu);
    report_append_format(line, ", CPU %s", text);
    if (wall > 0)
        report_append_format(line, " (%.*f%%)", cpu < wall / 100 ? 1 : 0, 100 * cpu / wall);
}

static void append_samples(const struct report *report, char *line)
{
    char counted_text[QUANTITY_TEXT_MAX], all_text[QUANTITY_TEXT_MAX];
    double all = count_unfiltered(report);
    /* a critical path counts segments, of other threads, too */
    double counted = report->options.kind == REPORT_CRITICAL_PATH ? all : report_count_samples(report);
    const char *comma = line[0] ? "," : "";
    format_count(counted_text, counted);
    format_count(all_text, all);
    bool is_part = report_is_filtered(report) && report->options.kind != REPORT_CRITICAL_PATH;
    if (is_part)
        report_append_format(line, "%s %s of", comma, counted_text);
    report_append_format(line, "%s%s%s %s%s", is_part ? "" : comma, is_part || *comma ? " " : "", all_text,
                         report_get_counted_noun(report).text, all == 1 ? "" : "s");
}

static int count_processes(const struct report *report, size_t *count, struct error *err)
{
    struct hash pids = {0};
    bool enough = true;
    for (size_t i = 0; enough && i < report->threads.length; i++)
        enough = hash_set(&pids, report->profile->threads.data[report->threads.data[i]].pid, 1);
    *count = pids.length;
    hash_destroy(&pids);
    return enough ? 0 : error_no_memory(err);
}

static void append_threads(const struct report *report, size_t processes, char *line)
{
    size_t all = report->profile->threads.length, count = report->threads.length;
    const struct thread *first = &report->profile->threads.data[report->threads.data[0]];
    if (count < all && count == 1)
        report_append_format(line, ", thread %.60s (tid %.20s)", profile_text(report->profile, first->name),
                             profile_text(report->profile, first->tid));
    else if (count < all)
        report_append_format(line, ", %zu of %zu threads", count, all);
    else if (processes > 1)
        report_append_format(line, ", %zu processes", processes);
    if (count == all && count > 1 && count != processes)
        report_append_format(line, ", %zu threads", count);
}

static void print_first_line(const struct report *report, const struct metadata *metadata, size_t processes)
{
    enum { LEAST_COMMAND = 16 };
    static const char *const ends[] = {"Exit status", "Target ended with", NULL};
    const struct profile_meta *meta = &report->profile->meta;
    const char *command = profile_text(report->profile, meta->arguments), *end = find_metadata(metadata, ends);
    char line[REPORT_LINE_SIZE], lost_text[QUANTITY_TEXT_MAX];
    double lost = parse_metadata_number(find_metadata(metadata, lost_names));
    format_count(lost_text, lost);
    /* a narrow line omits the threads, which the table below also lists */
    for (int with_threads = 1; with_threads >= 0; with_threads--) {
        line[0] = '\0';
        append_time(report, line);
        append_samples(report, line);
        if (lost > 0 && !report_is_filtered(report) && report->threads.length == report->profile->threads.length)
            report_append_format(line, ", %s lost", lost_text);
        if (with_threads || report->threads.length < report->profile->threads.length)
            append_threads(report, processes, line);
        if (end)
            report_append_format(line, ", %.60s", end);
        if (!report->width || report_measure_text(report, line) + LEAST_COMMAND + 2 <= report->width)
            break;
    }
    unsigned left = report_measure_room(report, report_measure_text(report, line) + 2);
    report_print_color(report, COLOR_BOLD);
    unsigned used = report_print_shortened(report, command[0] ? command : profile_text(report->profile, meta->product),
                                           left && left < LEAST_COMMAND ? LEAST_COMMAND : left);
    report_print_color(report, COLOR_NORMAL);
    putchar(':');
    report_print_wrapped(report, line, 4, used + 1);
}

/* ---- warnings ---- */

void report_warn(const struct report *report, const char *text)
{
    report_print_color(report, COLOR_WARNING);
    fputs("Warning:", stdout);
    report_print_color(report, COLOR_NORMAL);
    report_print_wrapped(report, text, 4, (unsigned)strlen("Warning:"));
}

/* Warns of code without symbols, which makes the report hard to read, although its numbers are right. */
static int warn_of_unnamed_code(const struct report *report, struct error *err)
{
    struct text_buffer text = {0};
    double share;
    struct func_timings functions = {0};
    int code = engine_list_all_functions(report->engine, FUNCS_BY_SELF, &functions, err);
    if (!code)
        code = describe_unnamed_code(&text, &share, report->engine, &functions, err);
    if (!code && text.length && !(text_append_z(&text, " (-v shows the reason).") && text_append(&text, "", 1)))
        code = error_no_memory(err);
    if (!code && text.length)
        report_warn(report, text.data);
    array_free(&text);
    func_timings_destroy(&functions);
    return code;
}

enum { FEW_SAMPLES = 50 };

static void warn_of_few_samples(const struct report *report)
{
    static const double mostly_waiting = 0.1;
    char text[REPORT_LINE_SIZE] = "";
    double samples = report_count_samples(report), cpu = sum_cpu_times(report);
    double wall = report->range.to - report->range.from;
    if (samples == 0 || samples >= FEW_SAMPLES)
        return;
    report_append_format(text, "%.0f %s%s %s too few for reliable percentages", samples,
                         report_get_counted_noun(report).text, samples == 1 ? "" : "s", samples == 1 ? "is" : "are");
    if (report_is_filtered(report))
        report_append_format(text, ".");
    else if (cpu > 0 && cpu < mostly_waiting * wall)
        report_append_format(text, ": the target waited %.1f%% of the time, and samples cover only CPU time.",
                             100 - 100 * cpu / wall);
    else
        report_append_format(text, ": record for longer, or with more samples a second (prof record -r).");
    report_warn(report, text);
}

/* Prints the advice of the recorder. Returns false if the profile has no advice, or if filters may be the reason for
 * the few samples. */
static bool print_hints(const struct report *report, const struct metadata *metadata)
{
    bool any = false;
    char text[REPORT_LINE_SIZE] = "";
    for (size_t i = 0; i < metadata->length && !report_is_filtered(report); i++) {
        if (strcmp(metadata->data[i].label, "Hint") != 0)
            continue;
        snprintf(text, sizeof(text), "%s.", metadata->data[i].value);
        report_warn(report, text);
        any = true;
    }
    return any;
}

static int print_low_quality(const struct report *report, const struct metadata *metadata,
                             const struct wait_totals *waits, struct error *err)
{
    static const double much = 1, least_covered = 95;
    static const char *const covered_names[] = {"CPU time covered by samples", NULL};
    static const char *const hint_names[] = {"Hint", NULL}; /* a hint explains the same */
    static const char *const truncated_names[] = {"Stacks truncated", "Stacks cut", NULL};
    static const char *const limit_names[] = {"Limit reached", NULL};
    const char *own = profile_text(report->profile, report->profile->meta.warning);
    const char *limit = find_metadata(metadata, limit_names);
    const char *covered = find_metadata(metadata, covered_names);
    char text[REPORT_LINE_SIZE] = "";
    double all = count_all_samples(report->profile), lost = parse_metadata_number(find_metadata(metadata, lost_names));
    double truncated = parse_metadata_number(find_metadata(metadata, truncated_names));
    if (own[0])
        report_warn(report, own);
    if (lost > 0 && 100 * lost / (lost + all) >= much) {
        report_append_format(text, "%.1f%% of the samples were lost, %s (--markers shows the times, -v the counts).",
                             100 * lost / (lost + all),
                             covered ? "and the profile shows their time as (not sampled)" : "so times are too short");
        report_warn(report, text);
    }
    if (covered && strtod(covered, NULL) < least_covered && !find_metadata(metadata, hint_names)) {
        snprintf(text, sizeof(text), "only %.0f%% of the CPU time has samples (-v shows the reason).",
                 strtod(covered, NULL));
        report_warn(report, text);
    }
    if (all > 0 && 100 * truncated / all >= much) {
        snprintf(text, sizeof(text),
                 "%.1f%% of the stacks are truncated: their outer callers are missing (-v shows the reason).",
                 100 * fmin(1, truncated / all));
        report_warn(report, text);
    }
    if (limit) {
        snprintf(text, sizeof(text), "%s.", limit);
        report_warn(report, text);
    }
    char waiting[REPORT_LINE_SIZE];
    report_describe_waiting(report, waits, waiting);
    if (waiting[0])
        report_print_wrapped(report, waiting, 0, 0);
    bool is_explained = waiting[0] && all < FEW_SAMPLES; /* a hint would repeat the explanation */
    if (!is_explained && !print_hints(report, metadata) && report->options.kind != REPORT_WAITS)
        warn_of_few_samples(report);
    return warn_of_unnamed_code(report, err);
}

/* ---- events ---- */

struct event_count report_get_event_count(const struct report *report, size_t event)
{
    struct event_count count = {0};
    for (size_t i = 0; i < report->threads.length; i++) {
        const struct thread *thread = &report->profile->threads.data[report->threads.data[i]];
        const struct sample_table *samples = thread_samples(thread, (enum sample_table_kind)(TABLE_EVENTS + event));
        size_t first, last;
        find_samples_in_range(samples, report->range, &first, &last);
        count.samples += count_weighed_samples(report->profile, report->threads.data[i], WEIGH_RECORDED,
                                               (enum sample_table_kind)(TABLE_EVENTS + event), report->range);
        for (size_t k = first; k < last; k++)
            count.total += samples->weight ? samples->weight[k] : 1;
    }
    return count;
}

/* Prints the events that were sampled besides CPU time, in the selected threads and range. */
static void print_events(const struct report *report)
{
    const struct profile_meta *meta = &report->profile->meta;
    char text[REPORT_LINE_SIZE] = "";
    if (!meta->events.length)
        return;
    for (size_t i = 0; i < meta->events.length; i++) {
        char total[QUANTITY_TEXT_MAX], samples[QUANTITY_TEXT_MAX];
        struct event_count count = report_get_event_count(report, i);
        format_count(total, count.total);
        format_count(samples, count.samples);
        report_append_format(text, "%s%.200s %s", i ? ", " : "",
                             profile_text(report->profile, meta->events.data[i].name), total);
        if (count.total != count.samples)
            report_append_format(text, " (%s sample%s)", samples, count.samples == 1 ? "" : "s");
    }
    report_append_format(text, "; --weight NAME counts one of them.");
    fputs("Events:", stdout);
    report_print_wrapped(report, text, 4, (unsigned)strlen("Events:"));
}

/* ---- filters ---- */

void report_print_filters(const struct report *report)
{
    struct time_range full = engine_get_full_range(report->engine);
    const char *separator = "Filters: ";
    const struct report_options *options = &report->options;
    if (!isnan(options->from) || !isnan(options->to)) {
        ui_print("%srange %.3f s to %.3f s", separator, (report->range.from - full.from) / 1000,
                 (report->range.to - full.from) / 1000);
        separator = "; ";
    }
    for (size_t i = 0; i < options->transforms.length; i++) {
        ui_print("%s%s ", separator, options->transforms.data[i].option);
        report_print_text(report, options->transforms.data[i].text, 0);
        separator = "; ";
    }
    if (options->search[0]) {
        ui_print("%ssearch ", separator);
        report_print_text(report, options->search, 0);
        separator = "; ";
    }
    if (separator[0] == ';')
        putchar('\n');
}

/* ---- all metadata ---- */

static void print_metadata(const struct report *report, const char *title, const struct metadata *metadata)
{
    enum { INDENT = 4 };
    if (!metadata->length)
        return;
    putchar('\n');
    report_print_color(report, COLOR_BOLD);
    report_print_text(report, title, 0);
    report_print_color(report, COLOR_NORMAL);
    putchar('\n');
    for (size_t i = 0; i < metadata->length; i++) {
        fputs("  ", stdout);
        unsigned used = 2 + report_print_text(report, metadata->data[i].label, 60);
        putchar(':');
        report_print_wrapped(report, metadata->data[i].value, INDENT, used + 1);
    }
}

static int print_details(const struct report *report, struct error *err)
{
    const struct profile_meta *meta = &report->profile->meta;
    struct arena arena = {0};
    struct metadata metadata = {0};
    char date[64];
    time_t seconds = (time_t)(meta->start_time / 1000);
    struct tm local;
    int code = list_profile_metadata(&metadata, &arena, report->profile, err);
    if (!code && meta->start_time > 0 && meta->start_time < 1e14 && localtime_r(&seconds, &local) &&
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &local) &&
        !array_push(&metadata, (struct metadata_entry){"Recorded on", date}))
        code = error_no_memory(err);
    if (!code)
        print_metadata(report, "Profile", &metadata);
    for (size_t i = 0; !code && i < meta->extra.length; i++) {
        if (is_notes_section(report->profile, &meta->extra.data[i]))
            continue;
        metadata.length = 0;
        code = list_section_metadata(&metadata, &arena, report->profile, &meta->extra.data[i], err);
        if (!code)
            print_metadata(report, profile_text(report->profile, meta->extra.data[i].label), &metadata);
    }
    array_free(&metadata);
    arena_destroy(&arena);
    return code;
}

/* Writes which option shows more about a finding. */
static void write_finding_hint(const struct report *report, const struct finding *finding, char hint[REPORT_LINE_SIZE])
{
    enum { MOST_NAME = 80 };
    const char *object = finding->kind == FINDING_WAIT && finding->func != PROFILE_NONE
                             ? profile_text(report->profile, get_func_names(report->profile, finding->func).name)
                             : "'";
    bool is_word = strlen(object) <= MOST_NAME && !strchr(object, '\'');
    hint[0] = '\0';
    if (finding->kind == FINDING_PATH)
        report_append_format(hint, " --critical-path shows when.");
    else if (finding->kind == FINDING_WAIT && is_word)
        report_append_format(hint, " --waits='%s' shows who waits%s.", object,
                             profile_has_wakers(report->profile) ? ", and who ends the waits" : "");
    else if (finding->kind == FINDING_WAIT)
        report_append_format(hint, " --waits shows all waits.");
}

/* Prints the sentences with which the page begins. The warnings below have those about the quality of the data. */
static int print_findings(const struct report *report, struct error *err)
{
    enum { MOST_FINDINGS = 3 };
    struct findings findings = {0};
    int code = findings_find_all(&findings, report->engine, err);
    if (!code && findings.headline.length)
        report_print_wrapped(report, findings.headline.data, 0, 0);
    for (size_t i = 0, printed = 0; !code && i < findings.list.length && printed < MOST_FINDINGS; i++) {
        struct finding *finding = &findings.list.data[i];
        char hint[REPORT_LINE_SIZE];
        if (finding->kind == FINDING_UNNAMED || finding->kind == FINDING_LOST)
            continue;
        write_finding_hint(report, finding, hint);
        finding->sentence.length--;
        if (report->options.markdown)
            fputs("\n-", stdout);
        if (text_append(&finding->sentence, hint, strlen(hint) + 1))
            report_print_wrapped(report, finding->sentence.data, 0, report->options.markdown);
        else
            code = error_no_memory(err);
        printed++;
    }
    findings_destroy(&findings);
    return code;
}

int report_print_head(const struct report *report, struct error *err)
{
    struct arena arena = {0};
    struct metadata metadata = {0};
    struct wait_groups waits = {0};
    size_t processes = 0;
    int code = list_recording_metadata(&metadata, &arena, report->profile, err);
    if (!code)
        code = count_processes(report, &processes, err);
    if (!code)
        code = engine_group_bottleneck_waits(report->engine, &waits, err);
    if (!code) {
        print_first_line(report, &metadata, processes);
        print_events(report);
        report_print_filters(report);
        if (report->options.kind == REPORT_TREE || report->options.kind == REPORT_SUMMARY)
            code = print_findings(report, err);
    }
    if (!code)
        code = print_low_quality(report, &metadata, &waits.totals, err);
    if (!code && report->options.kind == REPORT_TREE)
        code = report_print_notes(report, REPORT_NOTES, err);
    if (!code && report->options.verbose)
        code = print_details(report, err);
    wait_groups_destroy(&waits);
    array_free(&metadata);
    arena_destroy(&arena);
    if (!code)
        putchar('\n');
    return code;
}
