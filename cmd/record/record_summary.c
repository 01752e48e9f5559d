#include "cmd/record/record_summary.h"

#include "cmd/common/ui.h"

#include "os/file_proc.h"
#include "tree/value_text.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 640, MOST_LINES = SUMMARY_NOTES + HINTS + 8 };

/* Percentages above which the summary warns about the quality of the profile. */
static const double much_lost = 1, much_truncated = 10, much_unnamed = 20, much_unsampled = 20;

static const uint64_t long_enough =
    100000000; /* ns: in shorter recordings, percentages of lost time are not meaningful */

struct lines {
    char text[MOST_LINES][LINE_SIZE];
    size_t count;
};

static char *next_line(struct lines *lines)
{
    char *line = lines->text[lines->count < MOST_LINES ? lines->count++ : MOST_LINES - 1];
    line[0] = '\0';
    return line;
}

#define append(line, ...) ui_append_format((line), LINE_SIZE, __VA_ARGS__)

static double get_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Appends a percentage: "12 %" or "0.3 %". "100 %" and "0 %" appear only for exactly all or nothing. */
static void append_percent(char *line, uint64_t part, uint64_t whole)
{
    double share = get_percent(part, whole);
    if (part != whole && share > 99.9)
        share = 99.9;
    if (part && share < 0.1)
        append(line, "< 0.1 %%");
    else
        append(line, part == whole || (share >= 10 && share < 99) ? "%.0f %%" : "%.1f %%", share);
}

static void append_size(char *line, uint64_t bytes)
{
    if (bytes < 10000)
        append(line, "%" PRIu64 " bytes", bytes);
    else if (bytes < 10000000)
        append(line, "%" PRIu64 " kB", (bytes + 500) / 1000);
    else
        append(line, "%" PRIu64 " MB", (bytes + 500000) / 1000000);
}

/* ---- the lines ---- */

/* Returns true if all stacks are complete and unwound by debug info, or if the profile has no stacks. */
static bool has_perfect_stacks(const struct trust_counts *counts)
{
    return !counts->truncated && !counts->completed_live && !counts->without_cfi;
}

/* Appends the new name of the earlier file with the profile's name; behind a symbolic link, that file is in the
 * target's directory. */
static void append_replaced_file(char *line, const char *output)
{
    struct stat info;
    char *path = lstat(output, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(output, NULL) : NULL;
    append(line, "; the earlier file is now %.200s.old", path ? path : output);
    free(path);
}

static void describe_samples(struct lines *lines, const char *output, const struct assemble_result *saved)
{
    char *line = next_line(lines);
    append(line, "%.300s: %" PRIu64 " sample%s", strcmp(output, "-") ? output : "standard output", saved->samples,
           saved->samples == 1 ? "" : "s");
    if (saved->trust.requested > saved->samples)
        append(line, " of %" PRIu64 " requested", saved->trust.requested);
    if (saved->lost)
        append(line, ", %" PRIu64 " lost", saved->lost);
    if (saved->samples && has_perfect_stacks(&saved->trust))
        append(line, ", all stacks complete");
    if (saved->bytes) {
        append(line, ", ");
        append_size(line, saved->bytes);
    }
    if (saved->recorder_cpu && saved->recorder_wall >= long_enough) {
        append(line, "; prof used ");
        append_percent(line, saved->recorder_cpu, saved->recorder_wall);
        append(line, " of one CPU");
    }
    if (saved->has_old)
        append_replaced_file(line, output);
}

static void describe_stacks(struct lines *lines, const struct trust_counts *counts)
{
    static const char *const what[] = {"completed from the live process", "truncated", "unwound with frame pointers"};
    const uint64_t parts[] = {counts->completed_live, counts->truncated, counts->without_cfi};
    if (has_perfect_stacks(counts))
        return;
    char *line = next_line(lines);
    append(line, "stacks: ");
    append_percent(line, counts->samples - counts->truncated, counts->samples);
    append(line, " complete");
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (!parts[i])
            continue;
        append(line, ", ");
        append_percent(line, parts[i], counts->samples);
        append(line, " %s", what[i]);
    }
}

static void append_separator(char *line)
{
    append(line, "%s", line[0] ? "; " : "Warning: ");
}

/* Appends a warning for each figure beyond its threshold. */
static void describe_low_quality(struct lines *lines, const struct assemble_result *saved)
{
    const struct trust_counts *counts = &saved->trust;
    char line[LINE_SIZE] = "";
    uint64_t all = saved->samples + saved->lost;
    if (get_percent(saved->lost, all) >= much_lost) {
        append_separator(line);
        append_percent(line, saved->lost, all);
        append(line, " of the samples were lost, %s (give a lower -r to lose fewer samples)",
               saved->has_all_cpu_time ? "and the profile shows their time as (not sampled)"
                                       : "so times are too short");
    }
    if (get_percent(counts->truncated, counts->samples) >= much_truncated) {
        append_separator(line);
        append_percent(line, counts->truncated, counts->samples);
        append(line, " of the stacks lack their outer callers");
    }
    /* the line that lists the libraries has this warning */
    if (!saved->missing_symbols_count && get_percent(counts->unnamed, counts->samples) >= much_unnamed) {
        append_separator(line);
        append_percent(line, counts->unnamed, counts->samples);
        append(line, " of the samples are in functions without a symbol");
    }
    bool is_explained = saved->hints.count != 0; /* the hints explain why samples are missing */
    if (!is_explained && counts->requested > all &&
        get_percent(counts->requested - all, counts->requested) >= much_unsampled) {
        append_separator(line);
        append_percent(line, counts->requested - all, counts->requested);
        append(line, " of the requested samples are missing ('prof report -v' shows the reason)");
    }
    if (line[0])
        append(next_line(lines), "%s", line);
}

/* Appends a library: "libLLVM-14.so.1 (44 %, some functions have no symbols)". The percentage is the library's share of
 * all samples. */
static void append_library(char *line, const struct assemble_missing_symbols *missing,
                           const struct assemble_result *saved)
{
    bool is_partly_named = missing->is_partial && missing->reason == MISSING_SYMBOLS_STRIPPED;
    append(line, "%s (", missing->library);
    if (missing->samples &&
        missing->samples <
            saved->trust.unnamed) { /* otherwise the percentage is the share of all libraries without symbols */
        append_percent(line, missing->samples, saved->samples);
        append(line, ", ");
    }
    append(line, "%s)", is_partly_named ? "some functions have no symbols" : get_missing_symbols_text(missing->reason));
}

/* Appends the command that makes kernel symbols readable, with the smallest permission: root needs kernel.kptr_restrict
 * 1, other users need 0 and kernel.perf_event_paranoid 1 (Documentation/admin-guide/sysctl/kernel.rst). */
static void append_kernel_advice(char *line, const struct assemble_result *saved)
{
    bool is_root = geteuid() == 0, is_hidden = false;
    bool is_restricted = proc_read_kernel_setting("kptr_restrict", 0) > is_root,
         is_paranoid = !is_root && proc_read_kernel_setting("perf_event_paranoid", 2) > 1;
    for (size_t i = 0; i < saved->missing_symbols_count && i < ASSEMBLE_MISSING_SYMBOLS; i++)
        is_hidden |= saved->missing_symbols[i].reason == MISSING_SYMBOLS_NOT_READABLE &&
                     strcmp(saved->missing_symbols[i].library, "the kernel") == 0;
    if (is_hidden && (is_restricted || is_paranoid))
        append(line, "; '%ssysctl%s%s' makes kernel symbols available to the next recording", is_root ? "" : "sudo ",
               !is_restricted ? ""
               : is_root      ? " kernel.kptr_restrict=1"
                              : " kernel.kptr_restrict=0",
               is_paranoid ? " kernel.perf_event_paranoid=1" : "");
}

/* Describes the libraries without symbols, in descending order of samples, and the remedy. */
static void list_missing_symbols(struct lines *lines, const struct record_summary *summary,
                                 const struct assemble_result *saved)
{
    bool is_packaged = false;
    if (!saved->missing_symbols_count)
        return;
    char *line = next_line(lines);
    append(line,
           "%swithout symbols: ", get_percent(saved->trust.unnamed, saved->samples) >= much_unnamed ? "Warning: " : "");
    if (saved->trust.unnamed) {
        append_percent(line, saved->trust.unnamed, saved->samples);
        append(line, " of the samples; ");
    }
    for (size_t i = 0; i < saved->missing_symbols_count && i < ASSEMBLE_MISSING_SYMBOLS; i++) {
        const struct assemble_missing_symbols *missing = &saved->missing_symbols[i];
        append(line, "%s", i ? ", " : "");
        append_library(line, missing, saved);
        is_packaged |= missing->is_packaged && missing->reason == MISSING_SYMBOLS_STRIPPED;
    }
    if (saved->missing_symbols_count > ASSEMBLE_MISSING_SYMBOLS)
        append(line, " and %zu more", saved->missing_symbols_count - ASSEMBLE_MISSING_SYMBOLS);
    const struct assemble_missing_symbols *first = &saved->missing_symbols[0];
    if (!first->is_packaged && first->reason == MISSING_SYMBOLS_STRIPPED && strcmp(first->library, "the kernel") != 0)
        append(line, "; build %s with -g, and do not strip it", first->library);
    else if (is_packaged && !summary->has_debug_servers)
        append(line, "; 'prof %s --debuginfod https://debuginfod.elfutils.org/ %.200s' downloads debug info",
               strcmp(summary->output, "-") ? "symbolicate" : "record",
               strcmp(summary->output, "-") ? summary->output : "...");
    else if (first->is_packaged && first->reason == MISSING_SYMBOLS_STRIPPED)
        append(
            line,
            "; the debug servers have no debug file of %s, but its debug package (-dbg, -dbgsym, -debuginfo) has symbols",
            first->library);
    append_kernel_advice(line, saved);
}

/* Describes libraries that changed during the recording: source and machine code may differ from the executed file. */
static void describe_replaced_files(struct lines *lines, const struct assemble_result *saved)
{
    if (!saved->gone_count)
        return;
    char *line = next_line(lines);
    append(line, "files deleted, replaced or unmounted during the recording, with symbols of the executed file: %s",
           saved->gone);
    if (saved->gone_count > 1)
        append(line, " and %zu more", saved->gone_count - 1);
}

/* ---- the whole summary ---- */

void record_summary_add_note(struct record_summary *summary, const char *sentence)
{
    if (summary->note_count < SUMMARY_NOTES)
        summary->notes[summary->note_count++] = sentence;
}

static void collect_detail(void *context, const char *label, const char *format, const char *value)
{
    struct record_summary *summary = context;
    char number[QUANTITY_TEXT_MAX];
    if (strcmp(format, "string") != 0) {
        format_number(number, format, strtod(value, NULL));
        value = number;
    }
    size_t left = SUMMARY_DETAILS - summary->details_length;
    int length = snprintf(summary->details + summary->details_length, left, "%s: %s\n", label, value);
    if (length > 0 && (size_t)length < left)
        summary->details_length += (size_t)length;
}

struct metadata_listener make_summary_listener(struct record_summary *summary)
{
    return (struct metadata_listener){.receive = summary->verbose ? collect_detail : NULL, .context = summary};
}

static void print_details(const struct record_summary *summary)
{
    for (const char *at = summary->details; at < summary->details + summary->details_length;) {
        int length = (int)strcspn(at, "\n");
        ui_print_message("  %.*s", length, at);
        at += length + 1;
    }
}

/* Moves the line about stacks to the end: the limit of lines may hide it, but not the explanations and remedies. */
static void move_line_to_end(struct lines *lines, size_t index)
{
    char moved[LINE_SIZE];
    memcpy(moved, lines->text[index], sizeof(moved));
    memmove(lines->text[index], lines->text[index + 1], (lines->count - index - 1) * sizeof(moved));
    memcpy(lines->text[lines->count - 1], moved, sizeof(moved));
}

void record_summary_print(const struct record_summary *summary, const struct assemble_result *saved)
{
    struct lines lines = {.count = 0};
    bool has_stacks = false;
    if (summary->quiet)
        return;
    if (saved) {
        describe_samples(&lines, summary->output, saved);
        describe_stacks(&lines, &saved->trust);
        has_stacks = lines.count > 1;
        if (saved->events[0])
            append(next_line(&lines), "events: %s", saved->events);
        describe_low_quality(&lines, saved);
        list_missing_symbols(&lines, summary, saved);
    }
    for (size_t i = 0; i < summary->note_count; i++)
        append(next_line(&lines), "%s", summary->notes[i]);
    for (size_t i = 0; saved && i < saved->hints.count; i++)
        append(next_line(&lines), "%s", saved->hints.text[i]);
    if (saved)
        describe_replaced_files(&lines, saved);
    if (lines.count > SUMMARY_LINES && has_stacks)
        move_line_to_end(&lines, 1);
    bool is_truncated = lines.count > SUMMARY_LINES && !summary->verbose;
    size_t shown = is_truncated ? SUMMARY_LINES - 1 : lines.count;
    for (size_t i = 0; i < shown; i++)
        ui_print_message("%s", lines.text[i]);
    if (is_truncated)
        ui_print_message("and %zu more notes: -v and 'prof report -v' print them", lines.count - shown);
    print_details(summary);
}
