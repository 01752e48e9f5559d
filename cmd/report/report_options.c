/*
 * The command line of `prof report`, and of `prof export`, which has the options that select what is counted in common
 * with it.
 */
#include "cmd/report/report.h"

#include "cmd/common/commands.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/ui.h"

#include "export/exporters.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_INVERTED = 256,
    OPTION_WEIGHT,
    OPTION_ON_CPU,
    OPTION_OFF_CPU,
    OPTION_BOTH,
    OPTION_SEARCH,
    OPTION_RANGE,
    OPTION_DEPTH,
    OPTION_MIN,
    OPTION_LIMIT,
    OPTION_JSON,
    OPTION_COLOR,
    OPTION_NO_PAGER,
    OPTION_FORMAT,
    OPTION_VIEW,
    OPTION_SANITIZE,
    OPTION_KEEP_NAMES,
    OPTION_DRY_RUN,
    OPTION_FAIL_IF,
    OPTION_MARKDOWN,
    OPTION_JUNIT,
    OPTION_STRICT,
    OPTION_TREE,
    OPTION_SELF,
    OPTION_TOTAL,
    OPTION_KIND,                                  /* first of the options that select what to print */
    OPTION_TRANSFORM = OPTION_KIND + REPORT_KINDS /* first of the transforms */
};

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
        return selection_parse_range(options->command, value, &options->from, &options->to);
    case OPTION_MIN:
        return parse_percent(value, &options->min_percent)
                   ? 0
                   : ui_usage(options->command, "'%s' is not a percentage from 0 to 100", value);
    default:
        if (!parse_count(value, &count) || (option == OPTION_DEPTH && (count == 0 || count > UINT32_MAX)))
            return ui_usage(options->command, "'%s' is not a number of %s", value,
                            option == OPTION_DEPTH ? "levels" : "rows");
        if (option == OPTION_DEPTH)
            options->depth = (uint32_t)count;
        else
            options->limit = count;
        return 0;
    }
}

static int add_transform(struct report_options *options, enum transform_kind kind, const char *text)
{
    const struct report_transform transform = {kind, report_transform_names[kind], text};
    return array_push(&options->transforms, transform) ? 0 : ui_fail("out of memory");
}

static bool parse_color(const char *text, enum report_color_when *when)
{
    static const char *const names[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
    for (size_t i = 0; text && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], text) == 0) {
            *when = (enum report_color_when)i;
            return true;
        }
    *when = COLOR_ALWAYS;
    return !text;
}

static int choose_kind(struct report_options *options, enum report_kind kind, const char *subject)
{
    if (options->kind != REPORT_TREE && options->kind != kind)
        return ui_usage(options->command,
                        "--functions, --libraries, --categories, --butterfly, --hot-lines, --lines, "
                        "--annotate, --markers, --counters, --threads and --waits exclude each other");
    options->kind = kind;
    options->subject = subject;
    return 0;
}

/* What all commands have: which samples, of which threads. */
static const struct option query_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"weight", required_argument, NULL, OPTION_WEIGHT},
    {"on-cpu", no_argument, NULL, OPTION_ON_CPU},
    {"off-cpu", no_argument, NULL, OPTION_OFF_CPU},
    {"both", no_argument, NULL, OPTION_BOTH},
    {"thread", required_argument, NULL, 't'},
    {"search", required_argument, NULL, OPTION_SEARCH},
    {"range", required_argument, NULL, OPTION_RANGE},
    SYMBOL_OPTIONS,
};

static const struct option kind_options[] = {
    {"inverted", no_argument, NULL, OPTION_INVERTED},
    {"functions", no_argument, NULL, OPTION_KIND + REPORT_FUNCTIONS},
    {"hot-lines", no_argument, NULL, OPTION_KIND + REPORT_HOT_LINES},
    {"libraries", no_argument, NULL, OPTION_KIND + REPORT_LIBRARIES},
    {"categories", no_argument, NULL, OPTION_KIND + REPORT_CATEGORIES},
};

/* Kinds that are about one profile alone. */
static const struct option one_profile_options[] = {
    {"markers", no_argument, NULL, OPTION_KIND + REPORT_MARKERS},
    {"counters", no_argument, NULL, OPTION_KIND + REPORT_COUNTERS},
    {"waits", optional_argument, NULL, OPTION_KIND + REPORT_WAITS},
    {"threads", no_argument, NULL, OPTION_KIND + REPORT_THREADS},
};

/* Of what is printed. */
static const struct option print_options[] = {
    {"lines", required_argument, NULL, OPTION_KIND + REPORT_LINES},
    {"butterfly", required_argument, NULL, OPTION_KIND + REPORT_BUTTERFLY},
    {"depth", required_argument, NULL, OPTION_DEPTH},
    {"min-percent", required_argument, NULL, OPTION_MIN},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"color", optional_argument, NULL, OPTION_COLOR},
    {"no-pager", no_argument, NULL, OPTION_NO_PAGER},
};

static const struct option comparing_options[] = {COMPARING_OPTIONS};

static const struct option only_of_report[] = {
    {"annotate", required_argument, NULL, OPTION_KIND + REPORT_ANNOTATION},
    {"verbose", no_argument, NULL, 'v'},
};

static const struct option only_of_diff[] = {
    {"tree", no_argument, NULL, OPTION_TREE},
    {"self", no_argument, NULL, OPTION_SELF},
    {"total", no_argument, NULL, OPTION_TOTAL},
};

static const struct option only_of_check[] = {
    {"fail-if", required_argument, NULL, OPTION_FAIL_IF},
    {"markdown", no_argument, NULL, OPTION_MARKDOWN},
    {"junit", required_argument, NULL, OPTION_JUNIT},
    {"strict", no_argument, NULL, OPTION_STRICT},
    {"json", no_argument, NULL, OPTION_JSON},
};

static const struct option only_of_export[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"view", required_argument, NULL, OPTION_VIEW},
    {"sanitize", optional_argument, NULL, OPTION_SANITIZE},
    {"keep-names", required_argument, NULL, OPTION_KEEP_NAMES},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
};

enum { OPTIONS_MAX = 64 };

static size_t add_options(struct option *all, size_t count, const struct option *more, size_t length)
{
    memcpy(all + count, more, length * sizeof(*more));
    return count + length;
}

#define ADD_OPTIONS(all, count, more) add_options((all), (count), (more), sizeof(more) / sizeof(*(more)))

static void list_options(const char *command, struct option all[OPTIONS_MAX])
{
    _Static_assert(sizeof(query_options) + sizeof(kind_options) + sizeof(one_profile_options) + sizeof(print_options) +
                           sizeof(comparing_options) + sizeof(only_of_export) <
                       (OPTIONS_MAX - TRANSFORM_KINDS) * sizeof(struct option),
                   "OPTIONS_MAX is too small");
    bool is_diff = strcmp(command, "diff") == 0, is_check = strcmp(command, "check") == 0;
    bool is_export = strcmp(command, "export") == 0, is_report = !is_diff && !is_check && !is_export;
    size_t count = ADD_OPTIONS(all, 0, query_options);
    if (!is_check)
        count = ADD_OPTIONS(all, count, kind_options);
    if (is_report || is_export)
        count = ADD_OPTIONS(all, count, one_profile_options);
    if (is_report || is_diff)
        count = ADD_OPTIONS(all, count, print_options);
    if (is_diff || is_check)
        count = ADD_OPTIONS(all, count, comparing_options);
    count = is_diff     ? ADD_OPTIONS(all, count, only_of_diff)
            : is_check  ? ADD_OPTIONS(all, count, only_of_check)
            : is_export ? ADD_OPTIONS(all, count, only_of_export)
                        : ADD_OPTIONS(all, count, only_of_report);
    for (int kind = 0; kind < TRANSFORM_KINDS; kind++)
        all[count++] = (struct option){report_transform_names[kind], required_argument, NULL, OPTION_TRANSFORM + kind};
    all[count] = (struct option){0};
}

static int choose_format(struct report_options *options, const char *name)
{
    options->exporter = exporter_find(name);
    if (options->exporter)
        return 0;
    char list[REPORT_LINE_SIZE] = "";
    for (size_t i = 0; i < exporter_count; i++)
        report_append(list, "%s%s", i == 0 ? "" : i + 1 < exporter_count ? ", " : " or ", exporters[i].name);
    return ui_usage(options->command, "there is no format '%s'; give %s", name, list);
}

/* The parts that --sanitize names, separated by commas; without any, all. */
static int choose_parts(struct report_options *options, const char *list)
{
    static const char *const names[SANITIZE_PARTS] = {"homes", "names", "urls", "arguments", "sources"};
    if (!list)
        options->sanitized = SANITIZE_ALL;
    while (list) {
        size_t length = strcspn(list, ","), part = 0;
        while (part < SANITIZE_PARTS && (strlen(names[part]) != length || strncmp(names[part], list, length) != 0))
            part++;
        if (part == SANITIZE_PARTS)
            return ui_usage(options->command, "--sanitize takes homes, names, urls, arguments and sources, not '%.*s'",
                            (int)length, list);
        options->sanitized |= 1U << part;
        list = list[length] ? list + length + 1 : NULL;
    }
    return 0;
}

/* The libraries of --keep-names, cut at their commas in place. */
static int add_libraries(struct report_options *options, char *list)
{
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ","))
        if (!array_push(&options->keep_names, name))
            return ui_fail("out of memory");
    return options->keep_names.length ? 0 : ui_usage(options->command, "--keep-names takes names of libraries");
}

static bool is_comparing(const char *command)
{
    return strcmp(command, "diff") == 0 || strcmp(command, "check") == 0;
}

/* Its files, and what it prints unless an option says so: a list of functions. Returns 0, or the exit status after a
 * message. */
static int finish_diff(struct report_options *options, int count, char **files, int after)
{
    if (options->is_tree && options->kind != REPORT_TREE)
        return ui_usage(options->command,
                        "--tree and --functions, --hot-lines, --lines, --libraries, --categories or --butterfly "
                        "exclude each other");
    if (options->kind == REPORT_TREE && !options->is_tree && !options->inverted)
        options->kind = REPORT_FUNCTIONS;
    return comparing_choose_files(&options->compared, options->command, count, files, after);
}

int report_parse_options(int argc, char **argv, struct report_options *options)
{
    static const char *const time_weights[] = {"cpu-time", "off-cpu-time", "time"};
    bool is_export = strcmp(options->command, "export") == 0, is_diff = is_comparing(options->command);
    int after = comparing_count_after(argc, argv);
    struct option long_options[OPTIONS_MAX];
    list_options(options->command, long_options);
    for (int option, status;
         (option = getopt_long(argc, argv, is_export ? ":ho:t:" : ":ht:v", long_options, NULL)) != -1;) {
        switch (option) {
        case 'h':
            help_print(options->command);
            return -1;
        case OPTION_INVERTED:
            options->inverted = true;
            break;
        case OPTION_WEIGHT:
            options->weight = optarg;
            break;
        case OPTION_ON_CPU:
        case OPTION_OFF_CPU:
        case OPTION_BOTH:
            options->weight = time_weights[option - OPTION_ON_CPU];
            break;
        case OPTION_SYMBOL_DIR:
        case OPTION_DEBUGINFOD:
            options->has_symbols = true;
            status = symbol_options_parse(&options->symbols, options->command, option, optarg);
            if (status)
                return status;
            break;
        case OPTION_FAIL_IF:
            if (!array_push(&options->limits, optarg))
                return ui_fail("out of memory");
            break;
        case OPTION_MARKDOWN:
            options->markdown = true;
            break;
        case OPTION_STRICT:
            options->strict = true;
            break;
        case OPTION_JUNIT:
            options->junit = optarg;
            break;
        case OPTION_TREE:
            options->is_tree = true;
            break;
        case OPTION_SELF:
        case OPTION_TOTAL:
            options->order = option == OPTION_SELF ? FUNCS_BY_SELF : FUNCS_BY_TOTAL;
            break;
        case OPTION_JSON:
            options->json = true;
            break;
        case OPTION_COLOR:
            if (!parse_color(optarg, &options->color))
                return ui_usage(options->command, "--color takes auto, always or never, not '%s'", optarg);
            break;
        case OPTION_NO_PAGER:
            options->no_pager = true;
            break;
        case 'o':
            options->output = optarg;
            break;
        case OPTION_FORMAT:
            status = choose_format(options, optarg);
            if (status)
                return status;
            break;
        case OPTION_VIEW:
            options->view = optarg;
            break;
        case OPTION_SANITIZE:
            status = choose_parts(options, optarg);
            if (status)
                return status;
            break;
        case OPTION_KEEP_NAMES:
            status = add_libraries(options, optarg);
            if (status)
                return status;
            break;
        case OPTION_DRY_RUN:
            options->is_dry_run = true;
            break;
        case 'v':
            options->verbose = true;
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
            status = comparing_parse_option(&options->compared, options->command, option, optarg);
            if (status == 0)
                break;
            if (status > 0)
                return status;
            if (option < OPTION_KIND)
                return ui_bad_option(options->command, option, argv);
            status = option < OPTION_TRANSFORM
                         ? choose_kind(options, (enum report_kind)(option - OPTION_KIND), optarg)
                         : add_transform(options, (enum transform_kind)(option - OPTION_TRANSFORM), optarg);
            if (status)
                return status;
        }
    }
    if (is_diff) {
        int status = finish_diff(options, argc - optind, argv + optind, after);
        if (status)
            return status;
    }
    if (!is_diff && argc - optind != 1)
        return ui_usage(options->command, argc == optind ? "no file given" : "give one file, not %d", argc - optind);
    if (options->inverted && options->kind != REPORT_TREE)
        return ui_usage(options->command, "--inverted works only with the tree");
    if (!is_diff && options->has_symbols && options->kind != REPORT_ANNOTATION &&
        !spool_input_is_recording(argv[optind]))
        return ui_usage(options->command, "--symbol-dir and --debuginfod work only with --annotate, or with an unsaved "
                                          "recording");
    for (size_t i = 0; options->inverted && i < options->transforms.length; i++)
        if (options->transforms.data[i].kind == TRANSFORM_MERGE_CALL_NODE)
            return ui_usage(options->command,
                            "--merge-call-node takes a path from the root, and does not work with --inverted");
    options->path = is_diff ? "the comparison" : argv[optind];
    return 0;
}
