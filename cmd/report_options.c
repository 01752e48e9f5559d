/*
 * The command line of `prof report`.
 */
#include "report.h"

#include "commands.h"
#include "ui.h"

#include "record/spool.h"

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
    OPTION_KIND,                                  /* first of the options that select what to print */
    OPTION_TRANSFORM = OPTION_KIND + REPORT_KINDS /* first of the transforms */
};

/* Parses seconds, or ms with that suffix. */
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
                   : ui_usage("report", "'%s' is not a range; give two times in seconds, like 1.5,3 or 200ms,", value);
    case OPTION_MIN:
        return parse_percent(value, &options->min_percent)
                   ? 0
                   : ui_usage("report", "'%s' is not a percentage from 0 to 100", value);
    default:
        if (!parse_count(value, &count) || (option == OPTION_DEPTH && (count == 0 || count > UINT32_MAX)))
            return ui_usage("report", "'%s' is not a number of %s", value, option == OPTION_DEPTH ? "levels" : "rows");
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
        return ui_usage("report", "--functions, --libraries, --categories, --butterfly, --hot-lines, --lines, "
                                  "--annotate, --markers, --counters, --threads and --waits exclude each other");
    options->kind = kind;
    options->subject = subject;
    return 0;
}

int report_parse_options(int argc, char **argv, struct report_options *options)
{
    static const char *const time_weights[] = {"cpu-time", "off-cpu-time", "time"};
    static const struct option plain_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"inverted", no_argument, NULL, OPTION_INVERTED},
        {"functions", no_argument, NULL, OPTION_KIND + REPORT_FUNCTIONS},
        {"hot-lines", no_argument, NULL, OPTION_KIND + REPORT_HOT_LINES},
        {"lines", required_argument, NULL, OPTION_KIND + REPORT_LINES},
        {"annotate", required_argument, NULL, OPTION_KIND + REPORT_ANNOTATION},
        {"markers", no_argument, NULL, OPTION_KIND + REPORT_MARKERS},
        {"libraries", no_argument, NULL, OPTION_KIND + REPORT_LIBRARIES},
        {"categories", no_argument, NULL, OPTION_KIND + REPORT_CATEGORIES},
        {"butterfly", required_argument, NULL, OPTION_KIND + REPORT_BUTTERFLY},
        {"weight", required_argument, NULL, OPTION_WEIGHT},
        {"on-cpu", no_argument, NULL, OPTION_ON_CPU},
        {"off-cpu", no_argument, NULL, OPTION_OFF_CPU},
        {"both", no_argument, NULL, OPTION_BOTH},
        {"counters", no_argument, NULL, OPTION_KIND + REPORT_COUNTERS},
        {"waits", optional_argument, NULL, OPTION_KIND + REPORT_WAITS},
        {"thread", required_argument, NULL, 't'},
        {"search", required_argument, NULL, OPTION_SEARCH},
        {"range", required_argument, NULL, OPTION_RANGE},
        {"depth", required_argument, NULL, OPTION_DEPTH},
        {"min-percent", required_argument, NULL, OPTION_MIN},
        {"limit", required_argument, NULL, OPTION_LIMIT},
        {"json", no_argument, NULL, OPTION_JSON},
        {"threads", no_argument, NULL, OPTION_KIND + REPORT_THREADS},
        {"verbose", no_argument, NULL, 'v'},
        {"color", optional_argument, NULL, OPTION_COLOR},
        {"no-pager", no_argument, NULL, OPTION_NO_PAGER},
        SYMBOL_OPTIONS,
    };
    enum { PLAIN_OPTIONS = sizeof(plain_options) / sizeof(*plain_options) };
    struct option long_options[PLAIN_OPTIONS + TRANSFORM_KINDS + 1] = {0};
    memcpy(long_options, plain_options, sizeof(plain_options));
    for (int kind = 0; kind < TRANSFORM_KINDS; kind++)
        long_options[PLAIN_OPTIONS + kind] =
            (struct option){report_transform_names[kind], required_argument, NULL, OPTION_TRANSFORM + kind};
    for (int option, status; (option = getopt_long(argc, argv, ":ht:v", long_options, NULL)) != -1;) {
        switch (option) {
        case 'h':
            help_print("report");
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
            status = symbol_options_parse(&options->symbols, "report", option, optarg);
            if (status)
                return status;
            break;
        case OPTION_JSON:
            options->json = true;
            break;
        case OPTION_COLOR:
            if (!parse_color(optarg, &options->color))
                return ui_usage("report", "--color takes auto, always or never, not '%s'", optarg);
            break;
        case OPTION_NO_PAGER:
            options->no_pager = true;
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
            if (option < OPTION_KIND)
                return ui_bad_option("report", option, argv);
            status = option < OPTION_TRANSFORM
                         ? choose_kind(options, (enum report_kind)(option - OPTION_KIND), optarg)
                         : add_transform(options, (enum transform_kind)(option - OPTION_TRANSFORM), optarg);
            if (status)
                return status;
        }
    }
    if (argc - optind != 1)
        return ui_usage("report", argc == optind ? "no file given" : "it takes one file, not %d", argc - optind);
    if (options->inverted && options->kind != REPORT_TREE)
        return ui_usage("report", "--inverted works only with the tree");
    if (options->has_symbols && options->kind != REPORT_ANNOTATION && !spool_is_spool(argv[optind]))
        return ui_usage("report", "--symbol-dir and --debuginfod work only with --annotate, or with a recording that "
                                  "was not saved as a profile");
    for (size_t i = 0; options->inverted && i < options->transforms.length; i++)
        if (options->transforms.data[i].kind == TRANSFORM_MERGE_CALL_NODE)
            return ui_usage("report", "--merge-call-node takes a path from the root, which --inverted has not");
    options->path = argv[optind];
    return 0;
}
