/*
 * The command lines of `prof report`, `diff`, `check` and `export`. The commands share the options that select samples;
 * each command has further options.
 */
#include "cmd/report/report_options.h"

#include "cmd/report/report_text.h"

#include "cmd/common/commands.h"
#include "cmd/common/quantities.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/ui.h"

#include "export/exporters.h"

#include <unistd.h>

static int parse_row_limit(const struct option_use *use)
{
    struct report_options *options = use->group;
    return parse_number(use->value, 0, SIZE_MAX - 1, &options->limit)
               ? 0
               : ui_usage(use->command, "'%s' is not a number of rows", use->value);
}

static int parse_percent(const struct option_use *use)
{
    struct report_options *options = use->group;
    char *end;
    double percent = strtod(use->value, &end);
    options->min_percent = percent;
    return end != use->value && (!*end || strcmp(end, "%") == 0) && percent >= 0 && percent <= 100
               ? 0
               : ui_usage(use->command, "'%s' is not a percentage from 0 to 100", use->value);
}

static int parse_range(const struct option_use *use)
{
    struct report_options *options = use->group;
    return selection_parse_range(use->command, use->value, &options->from, &options->to);
}

static int add_transform(const struct option_use *use)
{
    struct report_options *options = use->group;
    const struct report_transform transform = {(enum transform_kind)use->row->data, use->row->name, use->value};
    return array_push(&options->transforms, transform) ? 0 : ui_fail("out of memory");
}

static int choose_color(const struct option_use *use)
{
    struct option_use chosen = *use;
    char usual[] = "always";
    chosen.value = use->value ? use->value : usual;
    return option_set_choice(&chosen);
}

static int choose_kind(const struct option_use *use)
{
    struct report_options *options = use->group;
    enum report_kind kind = (enum report_kind)use->row->data;
    if (options->kind != REPORT_TREE && options->kind != kind)
        return ui_usage(
            use->command,
            "--functions, --libraries, --categories, --group-by, --butterfly, --hot-lines, --lines, --annotate, --markers, --intervals, --counters, --threads, --processes and --waits exclude each other");
    options->kind = kind;
    options->subject = use->value;
    return 0;
}

/* --on-cpu, --off-cpu, --both */
static int choose_times(const struct option_use *use)
{
    static const char *const weights[] = {"cpu-time", "off-cpu-time", "time"};
    struct report_options *options = use->group;
    options->weight = weights[use->row->data];
    return 0;
}

static int choose_format(const struct option_use *use)
{
    struct report_options *options = use->group;
    options->exporter = exporter_find(use->value);
    if (options->exporter)
        return 0;
    char list[REPORT_LINE_SIZE] = "";
    for (size_t i = 0; i < exporter_count; i++)
        report_append_format(list, "%s%s", i == 0 ? "" : i + 1 < exporter_count ? ", " : " or ", exporters[i].name);
    return ui_usage(use->command, "unknown format '%s'; give %s", use->value, list);
}

/* Parses the parts of --sanitize, separated by commas. Without an argument, selects all parts. */
static int choose_parts(const struct option_use *use)
{
    static const char *const names[SANITIZE_PARTS] = {"homes", "names", "urls", "arguments", "sources", "notes"};
    struct report_options *options = use->group;
    const char *list = use->value;
    if (!list)
        options->sanitized = SANITIZE_ALL;
    while (list) {
        size_t length = strcspn(list, ","), part = 0;
        while (part < SANITIZE_PARTS && (strlen(names[part]) != length || strncmp(names[part], list, length) != 0))
            part++;
        if (part == SANITIZE_PARTS)
            return ui_usage(use->command,
                            "--sanitize takes homes, names, urls, arguments, sources and notes, not '%.*s'",
                            (int)length, list);
        options->sanitized |= 1U << part;
        list = list[length] ? list + length + 1 : NULL;
    }
    return 0;
}

/* Splits the libraries of --keep-names at their commas, in place. */
static int add_libraries(const struct option_use *use)
{
    struct report_options *options = use->group;
    for (char *name = strtok(use->value, ","); name; name = strtok(NULL, ","))
        if (!array_push(&options->keep_names, name))
            return ui_fail("out of memory");
    return options->keep_names.length ? 0 : ui_usage(use->command, "--keep-names takes names of libraries");
}

/* ---- groups of options ---- */

static const struct option_row inverted_rows[] = {
    {"inverted", 0, NULL, "the inverted tree: functions with self time, and their callers below",
     OPTION_FLAG(struct report_options, inverted)},
    {.name = NULL},
};

static const struct option_row list_rows[] = {
    {"functions", 0, NULL, "a list of functions", .parse = choose_kind, .data = REPORT_FUNCTIONS},
    {"libraries", 0, NULL, "a list of libraries", .parse = choose_kind, .data = REPORT_LIBRARIES},
    {"categories", 0, NULL, "a list of categories", .parse = choose_kind, .data = REPORT_CATEGORIES},
    {"hot-lines", 0, NULL, "the source lines of all files with the most self time", .parse = choose_kind,
     .data = REPORT_HOT_LINES},
    {.name = NULL},
};

static const struct option_row group_rows[] = {
    {"group-by", 0, "WHAT",
     "one total for each namespace (namespace, also crates and packages), each directory of sources (directory), or each of several terms as in --search, such as std::,serde",
     .parse = choose_kind, .data = REPORT_GROUPS, .choices = "namespace directory"},
    {.name = NULL},
};

/* Reports of a single profile. */
static const struct option_row single_rows[] = {
    {"threads", 0, NULL, "all processes and threads, with their CPU time", .parse = choose_kind,
     .data = REPORT_THREADS},
    {"markers", 0, NULL,
     "the markers, sorted by their start. --search searches their name, category, type and fields, and name:term or field:term searches one field",
     .parse = choose_kind, .data = REPORT_MARKERS},
    {"counters", 0, NULL, "the counters: CPU time, memory, page faults, bytes read and written, switches",
     .parse = choose_kind, .data = REPORT_COUNTERS},
    {"waits", 0, "[BY]",
     "the waits of threads, grouped by object (the default), reason, stack, thread, waker or object-waker, or the waits for one object, by its name",
     .parse = choose_kind, .data = REPORT_WAITS, .choices = "object reason stack thread waker object-waker"},
    {.name = NULL},
};

static const struct option_row annotation_rows[] = {
    {"processes", 0, NULL,
     "the tree of processes with their exit status and CPU time, their critical path, and the time in which one process runs at a time",
     .parse = choose_kind, .data = REPORT_PROCESSES},
    {"summary", 0, NULL,
     "the headline, the findings, the first functions, lines and waits, and the data quality, in at most 8 KiB",
     .parse = choose_kind, .data = REPORT_SUMMARY},
    {"markdown", 0, NULL, "with --summary: print Markdown, for an issue or a pull request",
     OPTION_FLAG(struct report_options, markdown)},
    {"intervals", 0, "[NAME]",
     "percentiles of the markers with a duration, by name, with the states of their threads; with NAME, a histogram",
     .parse = choose_kind, .data = REPORT_INTERVALS},
    {"critical-path", 0, NULL,
     "the critical path of the main thread, or of --thread: its work and its waits, and the work of the threads that ended these waits, up to the end of the range (needs wakers)",
     .parse = choose_kind, .data = REPORT_CRITICAL_PATH},
    {"marker", 0, "NAME", "with --critical-path: the path during the longest marker with this name",
     OPTION_TEXT(struct report_options, marker)},
    {"annotate", 0, "NAME", "the machine code of a function with the time of each instruction, and its source lines",
     .parse = choose_kind, .data = REPORT_ANNOTATION},
    {"verbose", 'v', NULL, "all metadata about the recording and the quality of the data",
     OPTION_FLAG(struct report_options, verbose)},
    {.name = NULL},
};

static const struct option_row print_rows[] = {
    {"butterfly", 0, "NAME", "callers and callees of a function, or of lib:NAME or category:NAME", .parse = choose_kind,
     .data = REPORT_BUTTERFLY},
    {"lines", 0, "FILE", "the lines of a source file with their time; FILE is a path or its last parts",
     .parse = choose_kind, .data = REPORT_LINES},
    {"depth", 0, "LEVELS", "at most LEVELS levels of the tree (8 in an inverted tree)",
     OPTION_NUMBER(struct report_options, depth, INT_MAX)},
    {"min-percent", 0, "P", "hide branches, or changes, below this percentage of the total (0.5)",
     .parse = parse_percent},
    {"limit", 0, "ROWS", "at most ROWS rows, 0 for all (400, functions 60)", .parse = parse_row_limit},
    {"json", 0, NULL, "all rows as JSON, for scripts", OPTION_FLAG(struct report_options, json)},
    {"color", 0, "[WHEN]", "colors: auto (on a terminal), always or never",
     OPTION(choose_color, struct report_options, color), .choices = "auto always never"},
    {"no-pager", 0, NULL, "do not start a pager (PROF_PAGER, PAGER or less)",
     OPTION_FLAG(struct report_options, no_pager)},
    {.name = NULL},
};

static const struct option_row sample_rows[] = {
    {"on-cpu", 0, NULL, "count CPU time, the default for recordings with waits (--weight cpu-time)",
     .parse = choose_times, .data = 0},
    {"off-cpu", 0, NULL, "count off-CPU time (--weight off-cpu-time)", .parse = choose_times, .data = 1},
    {"both", 0, NULL, "count CPU time and off-CPU time, the lifetime of threads (--weight time)", .parse = choose_times,
     .data = 2},
    {"weight", 0, "WEIGHT",
     "count this weight of samples: samples, time, cpu-time, off-cpu-time, on-cpu, off-cpu, or the name of a recorded event. prof-report(1) lists the weights of files with allocations",
     OPTION_TEXT(struct report_options, weight)},
    {"thread", 't', "NAME",
     "only threads with this tid, index or name; if no thread has this name, threads whose name contains it; can be given several times",
     OPTION(option_add_text, struct report_options, threads)},
    {"search", 0, "TERMS",
     "only stacks that match all terms, separated by commas. A term is a part of the name of a function, file or library. -term excludes stacks, \"term\" is a whole name, /term/ is a regular expression, and lib:term and file:term match only libraries and files",
     OPTION_TEXT(struct report_options, search)},
    {"range", 0, "FROM,TO",
     "only samples from FROM (the start) to TO (the end), such as 1.5,3 in seconds or 200ms,900ms",
     .parse = parse_range},
    {.name = NULL},
};

static const struct option_row transform_rows[] = {
    {"merge-function", 0, "FUNCTION", "remove the frames of FUNCTION; callers get their time", .parse = add_transform,
     .data = TRANSFORM_MERGE_FUNCTION},
    {"merge-matching", 0, "TERMS", "remove the frames of all functions that match one of the TERMS",
     .parse = add_transform, .data = TRANSFORM_MERGE_MATCHING},
    {"focus-function", 0, "FUNCTION", "only samples with FUNCTION; stacks start there", .parse = add_transform,
     .data = TRANSFORM_FOCUS_FUNCTION},
    {"focus-self", 0, "FUNCTION", "only samples with FUNCTION as the leaf", .parse = add_transform,
     .data = TRANSFORM_FOCUS_SELF},
    {"drop-function", 0, "FUNCTION", "drop samples with FUNCTION", .parse = add_transform,
     .data = TRANSFORM_DROP_FUNCTION},
    {"collapse-function", 0, "FUNCTION", "count callees of FUNCTION as its self time", .parse = add_transform,
     .data = TRANSFORM_COLLAPSE_FUNCTION},
    {"collapse-recursion", 0, "FUNCTION", "merge the frames of FUNCTION and all frames between them",
     .parse = add_transform, .data = TRANSFORM_COLLAPSE_RECURSION},
    {"collapse-direct-recursion", 0, "FUNCTION", "merge direct recursive calls into one frame", .parse = add_transform,
     .data = TRANSFORM_COLLAPSE_DIRECT_RECURSION},
    {"collapse-library", 0, "LIBRARY", "merge adjacent frames of LIBRARY into one", .parse = add_transform,
     .data = TRANSFORM_COLLAPSE_RESOURCE},
    {"frames", 0, "KIND", "remove frames of other kinds: user, kernel, native, jit or js", .parse = add_transform,
     .data = TRANSFORM_FOCUS_FRAMES, .choices = "user kernel native jit js"},
    {"focus-library", 0, "LIBRARY", "remove frames of other libraries", .parse = add_transform,
     .data = TRANSFORM_FOCUS_RESOURCE},
    {"drop-library", 0, "LIBRARY", "drop samples with a leaf in LIBRARY", .parse = add_transform,
     .data = TRANSFORM_DROP_RESOURCE},
    {"merge-library", 0, "LIBRARY", "remove the frames of LIBRARY; callers get their time", .parse = add_transform,
     .data = TRANSFORM_MERGE_RESOURCE},
    {"focus-category", 0, "CATEGORY", "remove frames of other categories", .parse = add_transform,
     .data = TRANSFORM_FOCUS_CATEGORY},
    {"drop-category", 0, "CATEGORY", "drop samples with a leaf in CATEGORY", .parse = add_transform,
     .data = TRANSFORM_DROP_CATEGORY},
    {"merge-category", 0, "CATEGORY", "remove the frames of CATEGORY; callers get their time", .parse = add_transform,
     .data = TRANSFORM_MERGE_CATEGORY},
    {"node", 0, "ID", "only the subtree of the row that has this id in the JSON of a tree", .parse = add_transform,
     .data = TRANSFORM_FOCUS_SUBTREE},
    {"focus-subtree", 0, "NAME;NAME", "only the subtree at this path from the root (from the leaf in an inverted tree)",
     .parse = add_transform, .data = TRANSFORM_FOCUS_SUBTREE},
    {"merge-call-node", 0, "NAME;NAME", "remove the frame at the end of this path", .parse = add_transform,
     .data = TRANSFORM_MERGE_CALL_NODE},
    {"inside-markers", 0, "TERMS", "only samples inside a marker that matches TERMS", .parse = add_transform,
     .data = TRANSFORM_FILTER_MARKERS},
    {"slowest", 0, "P%,TERMS",
     "only samples inside the slowest P percent of the markers with a duration that match TERMS; prof diff with one FILE compares them with the others",
     .parse = add_transform, .data = TRANSFORM_FILTER_MARKERS},
    {.name = NULL},
};

static const struct option_row diff_rows[] = {
    {"self", 0, NULL, "list functions by the change of their self time (the default)",
     OPTION_VALUE(struct report_options, order, FUNCS_BY_SELF)},
    {"total", 0, NULL, "list functions by the change of their total time",
     OPTION_VALUE(struct report_options, order, FUNCS_BY_TOTAL)},
    {"waits", 0, "[BY]", "the waits of threads, grouped by object (the default), reason, thread or waker",
     .parse = choose_kind, .data = REPORT_WAITS, .choices = "object reason thread waker"},
    {"tree", 0, NULL, "the call tree instead of a list", OPTION_FLAG(struct report_options, is_tree)},
    {"base-markers", 0, "TERMS",
     "limit the base to samples inside markers of their threads that match TERMS; all numbers are means per marker",
     .parse = add_transform, .data = TRANSFORM_FILTER_MARKERS},
    {"new-markers", 0, "TERMS", "limit the new side to samples inside these markers", .parse = add_transform,
     .data = TRANSFORM_FILTER_MARKERS},
    {.name = NULL},
};

static const struct option_row check_rows[] = {
    {"fail-if", 0, "LIMIT",
     "fail if LIMIT holds; can be given several times:\n"
     "total > +3%            all functions together take 3% more than the base\n"
     "self(parse*) > 20%     these functions take more than 20% of the total\n"
     "total(render) > +20ms  the function and its callees take 20 ms more\n"
     "total(render) > 500ms  the function and its callees take more than 500 ms",
     OPTION(option_add_text, struct report_options, limits)},
    {"strict", 0, NULL, "exit with 4 if the result of a limit is 'cannot tell'",
     OPTION_FLAG(struct report_options, strict)},
    {"markdown", 0, NULL, "print the result as Markdown, for a pull request",
     OPTION_FLAG(struct report_options, markdown)},
    {"json", 0, NULL, "print the result for scripts", OPTION_FLAG(struct report_options, json)},
    {"junit", 0, "FILE", "also write JUnit XML to FILE, with one test per limit",
     OPTION_TEXT(struct report_options, junit)},
    {.name = NULL},
};

static const struct option_row export_rows[] = {
    {"format", 0, "FORMAT",
     "the format (by default from the extension of OUT):\n"
     "html          a self-contained page for any browser (.html)\n"
     "profile       a profile for prof and the Firefox Profiler (.json.gz, .json)\n"
     "pprof         for 'go tool pprof' (.pb.gz)\n"
     "collapsed     one line per stack, for flamegraph.pl (.collapsed, .folded)\n"
     "speedscope    for speedscope.app (.speedscope.json)\n"
     "perf-script   the text format of 'perf script' (.perf)\n"
     "chrome-trace  for Chrome's developer tools and Perfetto (.trace.json)\n"
     "jslb          a profile for prof, samply and the Firefox Profiler (.jslb)\n"
     "svg           the flame graph, for a browser (.svg)\n"
     "otlp          OpenTelemetry profiles, v1development (.otlp)\n"
     "csv           a table: the call tree, or the table of an option below (.csv)",
     .parse = choose_format,
     .choices = "html profile pprof collapsed speedscope perf-script chrome-trace jslb svg otlp csv"},
    {"output", 'o', "OUT", "write to OUT (-: the standard output, the default); compressed if the name ends in .gz",
     OPTION_TEXT(struct report_options, output)},
    {"view", 0, "QUERY", "with html: the initial view, the part of the page's address after '?'",
     OPTION_TEXT(struct report_options, view)},
    {"sanitize", 0, "[PARTS]",
     "remove homes, names, urls, arguments, sources and notes (or only PARTS, separated by commas), and print the removed data",
     .parse = choose_parts, .choices = "homes names urls arguments sources notes"},
    {"keep-names", 0, "LIBS", "--sanitize, and remove the names of functions in other libraries",
     .parse = add_libraries},
    {"dry-run", 0, NULL, "with --sanitize: only print the remaining and the removed data, with examples",
     OPTION_FLAG(struct report_options, is_dry_run)},
    {.name = NULL},
};

#define COMPARING_GROUP                                                                                                \
    {                                                                                                                  \
        .rows = comparing_option_rows, .offset = offsetof(struct report_options, compared)                             \
    }
#define SYMBOL_GROUP(sentence)                                                                                         \
    {                                                                                                                  \
        .rows = symbol_option_rows, .offset = offsetof(struct report_options, symbols), .title = (sentence)            \
    }
#define TRANSFORM_GROUP                                                                                                \
    {                                                                                                                  \
        .rows = transform_rows,                                                                                        \
        .title = "Transforms, applied in the order given, before the search; each can be given several times:"         \
    }

/* ---- commands ---- */

static const struct option_group report_groups[] = {
    {.rows = inverted_rows},   {.rows = list_rows},
    {.rows = group_rows},      {.rows = single_rows},
    {.rows = annotation_rows}, {.rows = print_rows},
    {.rows = sample_rows},     SYMBOL_GROUP("With --annotate, or with the spool file of a recording:"),
    TRANSFORM_GROUP,           {.rows = NULL},
};

static const char report_usage[] =
    "usage: prof report [OPTIONS] [FILE]\n"
    "\n"
    "Prints a saved profile in the terminal: a summary, the busiest threads and the call tree.\n"
    "The tree indents a line only at a branch.\n"
    "FILE is by default profile.json.gz, and '-' the standard input.\n"
    "FILE may also be the spool file of a running or killed prof, or the perf.data file of perf record.\n";

const struct option_table report_table = {
    .command = "report",
    .usage = report_usage,
    .groups = report_groups,
    .words = WORDS_FILES,
};

static const struct option_group diff_groups[] = {
    COMPARING_GROUP,         {.rows = diff_rows},
    {.rows = inverted_rows}, {.rows = list_rows},
    {.rows = group_rows},    {.rows = print_rows},
    {.rows = sample_rows},   SYMBOL_GROUP("With the spool file of a recording:"),
    TRANSFORM_GROUP,         {.rows = NULL},
};

static const char diff_usage[] =
    "usage: prof diff [OPTIONS] BASE NEW\n"
    "       prof diff [OPTIONS] BASE... -- NEW...\n"
    "       prof diff [OPTIONS] --base-range FROM,TO --new-range FROM,TO FILE\n"
    "       prof diff [OPTIONS] --base-thread NAME --new-thread NAME FILE\n"
    "       prof diff [OPTIONS] --base-markers TERMS --new-markers TERMS FILE\n"
    "       prof diff [OPTIONS] --slowest P%,TERMS FILE\n"
    "\n"
    "Prints the functions of two profiles with the change from BASE to NEW, the largest change first.\n"
    "Matches functions by name, library and file.\n"
    "Several files of one side, and the runs of 'prof record --iterations', count as their mean.\n"
    "'prof load BASE NEW' shows the same comparison in the page.\n";

const struct option_table diff_table = {
    .command = "diff",
    .usage = diff_usage,
    .groups = diff_groups,
    .words = WORDS_FILES,
};

static const struct option_group check_groups[] = {
    {.rows = check_rows}, COMPARING_GROUP, {.rows = sample_rows}, SYMBOL_GROUP("With the spool file of a recording:"),
    TRANSFORM_GROUP,      {.rows = NULL},
};

static const char check_usage[] = "usage: prof check [OPTIONS] --fail-if LIMIT BASE NEW\n"
                                  "       prof check [OPTIONS] --fail-if LIMIT BASE... -- NEW...\n"
                                  "\n"
                                  "Compares two profiles like 'prof diff', and exits with 3 if a limit is exceeded.\n"
                                  "Exits with 1 after a failure, and with 2 after wrong usage.\n"
                                  "A change within noise exceeds no limit, and has the result 'cannot tell'.\n"
                                  "To reduce noise, record several runs of both sides (prof record --iterations 10).\n";

const struct option_table check_table = {
    .command = "check",
    .usage = check_usage,
    .groups = check_groups,
    .words = WORDS_FILES,
};

static const struct option_group export_groups[] = {
    {.rows = export_rows},
    {.rows = inverted_rows},
    {.rows = list_rows, .title = "Tables for csv, instead of the call tree:"},
    {.rows = single_rows},
    {.rows = sample_rows, .title = "Samples:"},
    SYMBOL_GROUP("With the spool file of a recording:"),
    TRANSFORM_GROUP,
    {.rows = NULL},
};

static const char export_usage[] = "usage: prof export [OPTIONS] FILE\n"
                                   "\n"
                                   "Writes the selected samples of a saved profile in the format of another tool.\n"
                                   "FILE '-' is the standard input.\n"
                                   "prof-export(1) describes the formats.\n";

const struct option_table export_table = {
    .command = "export",
    .usage = export_usage,
    .groups = export_groups,
    .words = WORDS_FILES,
};

/* ---- the rest of the command line ---- */

/* Stores the files of both sides of diff and check. diff lists functions by default. Returns 0, or the exit status
 * after a message. */
static int choose_sides(struct report_options *options, int count, char **files, int after)
{
    if (options->is_tree && options->kind != REPORT_TREE)
        return ui_usage(
            options->table->command,
            "--tree and --functions, --hot-lines, --lines, --libraries, --categories, --waits or --butterfly exclude each other");
    if (options->kind == REPORT_TREE && !options->is_tree && !options->inverted)
        options->kind = REPORT_FUNCTIONS;
    options->path = "the comparison";
    for (size_t i = 0; i < options->transforms.length; i++)
        if (strcmp(options->transforms.data[i].option, "slowest") == 0)
            options->compared.splits = true;
        else if (strstr(options->transforms.data[i].option, "-markers"))
            options->compared.has_markers |= strcmp(options->transforms.data[i].option, "inside-markers") != 0;
    return comparing_choose_files(&options->compared, options->table->command, count, files, after);
}

/* Stores the file of report and export. */
static int choose_file(struct report_options *options, int count, char **files)
{
    static char usual[] = "profile.json.gz", *usual_files[] = {usual};
    if (count == 0 && options->table == &report_table && access(usual, F_OK) == 0) {
        count = 1;
        files = usual_files;
    }
    if (count != 1)
        return ui_usage(options->table->command, count == 0 ? "no file given" : "give one file, not %d", count);
    options->path = files[0];
    if (symbol_options_are_set(&options->symbols) && options->kind != REPORT_ANNOTATION &&
        !spool_input_is_recording(options->path))
        return ui_usage(options->table->command,
                        "--symbol-dir and --debuginfod work only with --annotate, or with an unsaved recording");
    return 0;
}

static int check_marker(const struct report_options *options)
{
    return options->marker && options->kind != REPORT_CRITICAL_PATH
               ? ui_usage(options->table->command, "--marker works only with --critical-path")
               : 0;
}

static int check_markdown(const struct report_options *options)
{
    return options->markdown && options->table == &report_table && options->kind != REPORT_SUMMARY
               ? ui_usage(options->table->command, "--markdown works only with --summary")
               : 0;
}

static int check_inverted(const struct report_options *options)
{
    if (options->inverted && options->kind != REPORT_TREE)
        return ui_usage(options->table->command, "--inverted works only with the tree");
    for (size_t i = 0; options->inverted && i < options->transforms.length; i++)
        if (options->transforms.data[i].kind == TRANSFORM_MERGE_CALL_NODE)
            return ui_usage(options->table->command,
                            "--merge-call-node takes a path from the root, and does not work with --inverted");
    return 0;
}

bool report_parse_options(int argc, char **argv, struct report_options *options, int *status)
{
    int after = comparing_count_new_files(argc, argv);
    if (!options_parse(options->table, options, argc, argv, status))
        return false;
    int count = argc - optind;
    *status = options->is_comparison ? choose_sides(options, count, argv + optind, after)
                                     : choose_file(options, count, argv + optind);
    if (!*status)
        *status = check_inverted(options);
    if (!*status)
        *status = check_marker(options);
    if (!*status)
        *status = check_markdown(options);
    return !*status;
}
