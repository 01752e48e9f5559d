/*
 * `prof push FILE URL`: sends a saved profile to a server that takes OpenTelemetry profiles over HTTP.
 *
 * The profile goes into the queue first, and is removed from it when the server has it: what cannot be sent now is sent
 * by the next push.
 */
#include "cmd/common/commands.h"
#include "cmd/push/push_options.h"
#include "cmd/push/pushing.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/symbol_options.h"
#include "cmd/common/ui.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_QUEUED = 256 };

struct options {
    struct push_options push;
    struct symbol_options symbols;
    const char *path;
    bool queued, quiet, help;
};

static const struct option long_options[] = {
    {"queued", no_argument, NULL, OPTION_QUEUED},
    PUSH_OPTIONS,
    SYMBOL_OPTIONS,
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int parse_option(struct options *options, int option, char **argv)
{
    int status = push_parse_option(&options->push, option);
    if (status >= 0)
        return status;
    switch (option) {
    case OPTION_QUEUED:
        options->queued = true;
        return 0;
    case OPTION_SYMBOL_DIR:
    case OPTION_DEBUGINFOD:
        return symbol_options_parse(&options->symbols, "push", option, optarg);
    case 'q':
        options->quiet = true;
        return 0;
    case 'h':
        options->help = true;
        return 0;
    default:
        return ui_bad_option("push", option, argv);
    }
}

static int parse_options(struct options *options, int argc, char **argv)
{
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, ":qh", long_options, NULL)) != -1) {
        int status = parse_option(options, option, argv);
        if (status || options->help)
            return status;
    }
    int words = argc - optind, most = options->queued ? 1 : 2;
    if (!options->queued && !words)
        return ui_usage("push", "no file given; for example: prof push profile.json.gz http://localhost:4318");
    if (words > most)
        return ui_usage("push",
                        options->queued ? "--queued takes an address and no file" : "give one file and one address");
    options->path = options->queued ? NULL : argv[optind];
    return push_options_resolve(&options->push, words == most ? argv[argc - 1] : NULL);
}

static int load(struct options *options, struct profile *profile)
{
    if (strcmp(options->path, "-") == 0 && isatty(STDIN_FILENO))
        return ui_usage("push", "standard input is a terminal; give a file, or send a profile through a pipe");
    return spool_input_load(options->path, &options->symbols, profile);
}

static int add_profile(struct options *options, struct pushing *pushing)
{
    struct profile profile;
    struct error err = {0};
    profile_init(&profile);
    int status = load(options, &profile);
    if (!status)
        return pushing_add(pushing, &profile, (struct time_range){0}, &err) ? ui_fail_error(&err) : 0;
    profile_destroy(&profile);
    return status;
}

static int push(struct options *options)
{
    struct pushing pushing;
    int status = pushing_open(&pushing, &options->push);
    pushing.is_quiet = options->quiet;
    if (!status && options->path)
        status = add_profile(options, &pushing);
    if (!status)
        status = pushing_send(&pushing, options->push.retry);
    if (!status && !options->quiet && !pushing.sent)
        ui_say("the queue has no profile for this address");
    pushing_say_sent(&pushing);
    pushing_close(&pushing);
    return status;
}

int cmd_push(int argc, char **argv)
{
    struct options options = {.push.command = "push"};
    int status = parse_options(&options, argc, argv);
    if (!status)
        status = options.help ? help_print("push") : push(&options);
    push_options_destroy(&options.push);
    symbol_options_close(&options.symbols);
    return status;
}
