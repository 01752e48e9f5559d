/*
 * `prof report FILE`: the call tree of a saved profile in the terminal, with the numbers that the page shows.
 */
#include "report.h"

#include "commands.h"
#include "ui.h"

#include "profile/file.h"
#include "tree/info.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- options ---- */

enum {
    OPTION_INVERTED = 256,
    OPTION_WEIGHT,
    OPTION_SEARCH,
    OPTION_RANGE,
    OPTION_DEPTH,
    OPTION_MIN,
    OPTION_LIMIT,
    OPTION_JSON,
    OPTION_WHAT,                                  /* and what is printed, from there on */
    OPTION_TRANSFORM = OPTION_WHAT + REPORT_KINDS /* and the kinds of transforms */
};

/* A number of seconds, or of ms with that suffix. */
static bool parse_seconds(const char *text, char **end, double *seconds)
{
    *seconds = strtod(text, end);
    if (*end == text || !isfinite(*seconds))
        return false;
    if (strncmp(*end, "ms", 2) == 0) {
        *seconds /= 1000;
        *end += 2;
    } else if (**end == 's') {
        ++*end;
    }
    return true;
}

/* "1.5,3", ",200ms", "2," */
static bool parse_range(const char *text, struct report_options *options)
{
    char *end = (char *)text;
    if (*text != ',' && !parse_seconds(text, &end, &options->from))
        return false;
    if (*end != ',')
        return false;
    const char *second = end + 1;
    if (*second && (!parse_seconds(second, &end, &options->to) || *end))
        return false;
    return !(options->to <= options->from);
}

static bool parse_count(const char *text, size_t *count)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *count = value;
    return *text >= '0' && *text <= '9' && !*end && !errno && value < SIZE_MAX;
}

static bool parse_percent(const char *text, double *percent)
{
    char *end;
    *percent = strtod(text, &end);
    return end != text && (!*end || strcmp(end, "%") == 0) && *percent >= 0 && *percent <= 100;
}

static int parse_value(int option, const char *value, struct report_options *options)
{
    size_t count = 0;
    switch (option) {
    case OPTION_RANGE:
        return parse_range(value, options)
                   ? 0
                   : ui_usage("report", "'%s' is no range: it takes two times in seconds, like 1.5,3 or 200ms,", value);
    case OPTION_MIN:
        return parse_percent(value, &options->min_percent)
                   ? 0
                   : ui_usage("report", "'%s' is no percentage: it takes 0 to 100", value);
    default:
        if (!parse_count(value, &count) || (option == OPTION_DEPTH && (count == 0 || count > UINT32_MAX)))
            return ui_usage("report", "'%s' is no number of %s", value, option == OPTION_DEPTH ? "levels" : "rows");
        if (option == OPTION_DEPTH)
            options->depth = (uint32_t)count;
        else
            options->limit = count;
        return 0;
    }
}

static bool add_transform(struct report_options *options, enum transform_kind kind, const char *text)
{
    return array_push(&options->transforms, (struct report_transform){kind, report_transform_names[kind], text});
}

static bool parse_weight(const char *text, enum sample_weight *weight)
{
    static const char *const names[WEIGH_KINDS] = {
        [WEIGH_RECORDED] = "recorded", [WEIGH_SAMPLES] = "samples",           [WEIGH_TIME] = "time",
        [WEIGH_CPU_TIME] = "cpu-time", [WEIGH_OFF_CPU_TIME] = "off-cpu-time", [WEIGH_ON_CPU] = "on-cpu",
        [WEIGH_OFF_CPU] = "off-cpu"};
    for (int kind = 0; kind < WEIGH_KINDS; kind++)
        if (strcmp(names[kind], text) == 0) {
            *weight = (enum sample_weight)kind;
            return true;
        }
    return false;
}

static int choose_what(struct report_options *options, enum report_what what, const char *of)
{
    if (options->what != REPORT_TREE && options->what != what)
        return ui_usage("report", "--functions, --libraries, --categories, --butterfly, --lines, --annotate and "
                                  "--markers exclude each other");
    options->what = what;
    options->of = of;
    return 0;
}

/* 0, or the exit status; -1 when the help was printed. */
static int parse_options(int argc, char **argv, struct report_options *options)
{
    static const struct option plain_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"inverted", no_argument, NULL, OPTION_INVERTED},
        {"functions", no_argument, NULL, OPTION_WHAT + REPORT_FUNCTIONS},
        {"lines", required_argument, NULL, OPTION_WHAT + REPORT_LINES},
        {"annotate", required_argument, NULL, OPTION_WHAT + REPORT_ANNOTATION},
        {"markers", no_argument, NULL, OPTION_WHAT + REPORT_MARKERS},
        {"libraries", no_argument, NULL, OPTION_WHAT + REPORT_LIBRARIES},
        {"categories", no_argument, NULL, OPTION_WHAT + REPORT_CATEGORIES},
        {"butterfly", required_argument, NULL, OPTION_WHAT + REPORT_BUTTERFLY},
        {"weight", required_argument, NULL, OPTION_WEIGHT},
        {"thread", required_argument, NULL, 't'},
        {"search", required_argument, NULL, OPTION_SEARCH},
        {"range", required_argument, NULL, OPTION_RANGE},
        {"depth", required_argument, NULL, OPTION_DEPTH},
        {"min-percent", required_argument, NULL, OPTION_MIN},
        {"limit", required_argument, NULL, OPTION_LIMIT},
        {"json", no_argument, NULL, OPTION_JSON},
        SYMBOL_OPTIONS,
    };
    enum { PLAIN_OPTIONS = sizeof(plain_options) / sizeof(*plain_options) };
    struct option long_options[PLAIN_OPTIONS + TRANSFORM_KINDS + 1] = {0};
    memcpy(long_options, plain_options, sizeof(plain_options));
    for (int kind = 0; kind < TRANSFORM_KINDS; kind++)
        long_options[PLAIN_OPTIONS + kind] =
            (struct option){report_transform_names[kind], required_argument, NULL, OPTION_TRANSFORM + kind};
    for (int option, status; (option = getopt_long(argc, argv, ":ht:", long_options, NULL)) != -1;) {
        switch (option) {
        case 'h':
            help_print("report");
            return -1;
        case OPTION_INVERTED:
            options->inverted = true;
            break;
        case OPTION_WHAT + REPORT_FUNCTIONS:
        case OPTION_WHAT + REPORT_LIBRARIES:
        case OPTION_WHAT + REPORT_CATEGORIES:
        case OPTION_WHAT + REPORT_BUTTERFLY:
        case OPTION_WHAT + REPORT_LINES:
        case OPTION_WHAT + REPORT_ANNOTATION:
        case OPTION_WHAT + REPORT_MARKERS:
            status = choose_what(options, (enum report_what)(option - OPTION_WHAT), optarg);
            if (status)
                return status;
            break;
        case OPTION_WEIGHT:
            if (!parse_weight(optarg, &options->weight))
                return ui_usage(
                    "report", "'%s' is no weight: there are samples, time, cpu-time, off-cpu-time, on-cpu and off-cpu",
                    optarg);
            break;
        case OPTION_SYMBOL_DIR:
        case OPTION_DEBUGINFOD:
            options->has_symbols = true;
            status = symbol_options_parse(&options->symbols, "report", option, optarg);
            if (status)
                return status;
            break;
        case OPTION_JSON:
            options->json = true;
            break;
        case OPTION_SEARCH:
            options->search = optarg;
            break;
        case 't':
            if (!array_push(&options->threads, optarg))
                return ui_fail("out of memory");
            break;
        case OPTION_RANGE:
        case OPTION_DEPTH:
        case OPTION_MIN:
        case OPTION_LIMIT:
            status = parse_value(option, optarg, options);
            if (status)
                return status;
            break;
        default:
            if (option < OPTION_TRANSFORM)
                return ui_bad_option("report", option, argv);
            if (!add_transform(options, (enum transform_kind)(option - OPTION_TRANSFORM), optarg))
                return ui_fail("out of memory");
        }
    }
    if (argc - optind != 1)
        return ui_usage("report", argc == optind ? "which file?" : "it takes one file, not %d", argc - optind);
    if (options->inverted && options->what != REPORT_TREE)
        return ui_usage("report", "--inverted is for the tree alone");
    if (options->has_symbols && options->what != REPORT_ANNOTATION)
        return ui_usage("report", "--symbol-dir and --debuginfod are for --annotate alone");
    for (size_t i = 0; options->inverted && i < options->transforms.length; i++)
        if (options->transforms.data[i].kind == TRANSFORM_MERGE_CALL_NODE)
            return ui_usage("report", "--merge-call-node takes a path from the root: not with --inverted");
    options->path = argv[optind];
    return 0;
}

/* ---- what is looked at ---- */

/* How well a thread fits what was asked for: its tid, then its index, then its whole name, then a part of it. */
enum { FITS_TID = 4, FITS_INDEX = 3, FITS_NAME = 2, FITS_PART = 1, FITS_NOT = 0 };

static int fit_of_thread(const struct report *report, uint32_t index, const char *wanted)
{
    const struct thread *thread = &report->profile->threads.data[index];
    char number[16];
    snprintf(number, sizeof(number), "%u", index);
    if (strcmp(profile_text(report->profile, thread->tid), wanted) == 0)
        return FITS_TID;
    if (strcmp(number, wanted) == 0)
        return FITS_INDEX;
    if (strcmp(profile_text(report->profile, thread->name), wanted) == 0)
        return FITS_NAME;
    return strcasestr(profile_text(report->profile, thread->name), wanted) ? FITS_PART : FITS_NOT;
}

static int say_no_thread(const struct report *report, const char *wanted)
{
    enum { MOST_NAMED = 12 };
    ui_fail("no thread of %s is named '%s' or has that number; there are:", report->options.path, wanted);
    size_t count = report->profile->threads.length;
    for (uint32_t i = 0; i < count && i < MOST_NAMED; i++) {
        const struct thread *thread = &report->profile->threads.data[i];
        fflush(stdout);
        ui_say("  %u  tid %.40s  %.80s", i, profile_text(report->profile, thread->tid),
               profile_text(report->profile, thread->name));
    }
    if (count > MOST_NAMED)
        ui_say("  and %zu more", count - MOST_NAMED);
    return EXIT_FAILURE;
}

static int add_threads(struct report *report, const char *wanted)
{
    int best = FITS_NOT;
    for (uint32_t i = 0; i < report->profile->threads.length; i++) {
        int fit = fit_of_thread(report, i, wanted);
        best = fit > best ? fit : best;
    }
    if (best == FITS_NOT)
        return say_no_thread(report, wanted);
    for (uint32_t i = 0; i < report->profile->threads.length; i++)
        if (fit_of_thread(report, i, wanted) == best && !array_push(&report->threads, i))
            return ui_fail("out of memory");
    return EXIT_SUCCESS;
}

static int choose_threads(struct report *report)
{
    for (size_t i = 0; i < report->options.threads.length; i++) {
        int status = add_threads(report, report->options.threads.data[i]);
        if (status)
            return status;
    }
    for (uint32_t i = 0; !report->options.threads.length && i < report->profile->threads.length; i++)
        if (!array_push(&report->threads, i))
            return ui_fail("out of memory");
    report->weight_type =
        weight_unit(report->options.weight, report->profile->threads.data[report->threads.data[0]].samples.weight_type);
    return EXIT_SUCCESS;
}

static void choose_range(struct report *report)
{
    struct time_range full = engine_full_range(report->engine);
    report->range = full;
    if (!isnan(report->options.from))
        report->range.from = full.from + report->options.from * 1000;
    if (!isnan(report->options.to))
        report->range.to = full.from + report->options.to * 1000;
}

struct tree_query report_query(const struct report *report)
{
    bool whole = isnan(report->options.from) && isnan(report->options.to);
    bool is_of_markers = report->options.what == REPORT_MARKERS;
    return (struct tree_query){.threads = report->threads.data,
                               .thread_count = report->threads.length,
                               .range = whole ? whole_time : report->range,
                               .transforms = report->transforms.data,
                               .transform_count = report->transforms.length,
                               .search = report->options.search,
                               .search_length = is_of_markers ? 0 : strlen(report->options.search),
                               .inverted = report->options.inverted,
                               .weight = report->options.weight};
}

static int ask_engine(struct report *report, struct error *err)
{
    struct tree_query query = report_query(report);
    int code = engine_query(report->engine, &query, err);
    report->total = code ? 0 : engine_timings(report->engine)->root_total;
    return code;
}

/* ---- the head ---- */

static void print_fact(const struct report *report, const char *label, const char *value)
{
    enum { LABEL = 12 };
    unsigned used = report_put_text(report, label, 40);
    printf("%*s", used < LABEL ? (int)(LABEL - used) : 1, "");
    report_put_text(report, value, report->width > LABEL ? report->width - LABEL : 0);
    putchar('\n');
}

static void print_times(const struct report *report)
{
    const struct profile_meta *meta = &report->profile->meta;
    char text[128], date[64] = "";
    time_t seconds = (time_t)(meta->start_time / 1000);
    struct tm local;
    if (meta->start_time > 0 && meta->start_time < 1e14 && localtime_r(&seconds, &local))
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S, ", &local);
    struct time_range full = engine_full_range(report->engine);
    snprintf(text, sizeof(text), "%s%.3f s, every %g ms", date, (full.to - full.from) / 1000, meta->interval);
    print_fact(report, "Recorded", text);
    if (report->range.from != full.from || report->range.to != full.to) {
        snprintf(text, sizeof(text), "%.3f s to %.3f s", (report->range.from - full.from) / 1000,
                 (report->range.to - full.from) / 1000);
        print_fact(report, "Range", text);
    }
}

static void print_counts(const struct report *report)
{
    const struct profile *profile = report->profile;
    char text[256];
    double all = 0;
    for (size_t i = 0; i < profile->threads.length; i++)
        all += (double)profile->threads.data[i].samples.length;
    double counted = (double)engine_timings(report->engine)->samples;
    char counted_text[32], all_text[32];
    report_format_count(counted, counted_text, sizeof(counted_text));
    report_format_count(all, all_text, sizeof(all_text));
    snprintf(text, sizeof(text), counted == all ? "%s" : "%s of %s", counted_text, all_text);
    print_fact(report, "Samples", text);
    const struct thread *first = &profile->threads.data[report->threads.data[0]];
    if (report->threads.length == 1)
        snprintf(text, sizeof(text), "%.100s, tid %.40s", profile_text(report->profile, first->name),
                 profile_text(report->profile, first->tid));
    else
        snprintf(text, sizeof(text), "%zu", report->threads.length);
    if (report->threads.length < profile->threads.length)
        snprintf(text + strlen(text), 32, " (of %zu)", profile->threads.length);
    print_fact(report, "Threads", text);
}

static int print_trust(const struct report *report, struct error *err)
{
    const struct profile_meta *meta = &report->profile->meta;
    struct arena arena = {0};
    struct fact_list facts = {0};
    int code = 0;
    for (size_t i = 0; !code && i < meta->extra.length; i++)
        if (strcasecmp(profile_text(report->profile, meta->extra.data[i].label), "trust") == 0)
            code = facts_of_section(&facts, &arena, report->profile, &meta->extra.data[i], err);
    for (size_t i = 0; i < facts.length; i++) {
        fputs(i == 0 ? "Trust       " : "            ", stdout);
        report_put_text(report, facts.data[i].label, 60);
        fputs(": ", stdout);
        report_put_text(report, facts.data[i].value, report->width ? report->width - 20 : 0);
        putchar('\n');
    }
    array_free(&facts);
    arena_destroy(&arena);
    return code;
}

static int print_head(const struct report *report, struct error *err)
{
    const struct profile_meta *meta = &report->profile->meta;
    const char *command = profile_text(report->profile, meta->arguments);
    print_fact(report, "Command", command[0] ? command : profile_text(report->profile, meta->product));
    print_times(report);
    print_counts(report);
    for (size_t i = 0; i < report->options.transforms.length; i++) {
        const struct report_transform *transform = &report->options.transforms.data[i];
        char text[512];
        snprintf(text, sizeof(text), "%s %.400s", report_transform_names[transform->kind], transform->text);
        print_fact(report, i == 0 ? "Transforms" : "", text);
    }
    if (report->options.search[0])
        print_fact(report, "Search", report->options.search);
    if (profile_text(report->profile, meta->warning)[0])
        print_fact(report, "Warning", profile_text(report->profile, meta->warning));
    int code = print_trust(report, err);
    putchar('\n');
    return code;
}

static int print_report(const struct report *report, struct error *err)
{
    if (report->options.json)
        return report_print_json(report, err);
    int code = print_head(report, err);
    if (code)
        return code;
    if (report->options.what == REPORT_MARKERS)
        return report_print_markers(report, err);
    if (report->total == 0) {
        puts("No sample with a stack is left to show.");
        return 0;
    }
    switch (report->options.what) {
    case REPORT_FUNCTIONS:
        return report_print_functions(report, err);
    case REPORT_LIBRARIES:
    case REPORT_CATEGORIES:
        return report_print_groups(report, err);
    case REPORT_BUTTERFLY:
        return report_print_butterfly(report, err);
    case REPORT_LINES:
        return report_print_lines(report, err);
    case REPORT_ANNOTATION:
        return report_print_annotation(report, err);
    default:
        return report_print_tree(report, err);
    }
}

static bool needs_cpu_times(enum sample_weight weight)
{
    return weight != WEIGH_RECORDED && weight != WEIGH_SAMPLES && weight != WEIGH_TIME;
}

static int load_and_print(struct report *report)
{
    struct profile profile;
    struct error err = {0};
    profile_init(&profile);
    if (profile_load(report->options.path, &profile, &err)) {
        profile_destroy(&profile);
        return ui_fail_error(&err);
    }
    report->engine = engine_new(&profile, &err);
    if (!report->engine)
        return ui_fail_error(&err);
    report->profile = engine_profile(report->engine);
    int status = choose_threads(report);
    if (status)
        return status;
    choose_range(report);
    status = report_resolve_transforms(report);
    if (!status)
        status = report_resolve_source(report);
    if (status)
        return status;
    if (needs_cpu_times(report->options.weight) && !weight_is_held(report->profile, WEIGH_CPU_TIME))
        return ui_fail("%s does not say when its threads were on a CPU", report->options.path);
    if (ask_engine(report, &err))
        return ui_fail_error(&err);
    if (report->options.what == REPORT_BUTTERFLY || report->options.what == REPORT_ANNOTATION) {
        status = report_resolve_center(report);
        if (status)
            return status;
    }
    if (report->options.what == REPORT_ANNOTATION)
        report->search = symbol_options_open(&report->options.symbols);
    if (print_report(report, &err))
        return ui_fail_error(&err);
    if (fflush(stdout) || ferror(stdout))
        return ui_fail("cannot write the report: %s", strerror(errno));
    return EXIT_SUCCESS;
}

int cmd_report(int argc, char **argv)
{
    struct report report = {.options = {.search = "", .from = NAN, .to = NAN, .min_percent = NAN, .limit = SIZE_MAX}};
    int status = parse_options(argc, argv, &report.options);
    if (!status) {
        report_look_at_terminal(&report);
        status = load_and_print(&report);
    }
    symbol_options_close(&report.options.symbols);
    engine_free(report.engine);
    array_free(&report.threads);
    array_free(&report.options.threads);
    array_free(&report.options.transforms);
    array_free(&report.transforms);
    arena_destroy(&report.paths);
    return status < 0 ? EXIT_SUCCESS : status;
}
