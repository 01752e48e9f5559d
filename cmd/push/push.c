/*
 * `prof push FILE URL`: sends a saved profile to a server that takes OpenTelemetry profiles over HTTP.
 *
 * The command puts the profile into the queue, and removes the profile when the server has accepted it. A profile that
 * prof could not send waits in the queue for the next push.
 */
#include "cmd/common/commands.h"
#include "cmd/push/push_options.h"
#include "cmd/push/pushing.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/symbol_options.h"
#include "cmd/common/ui.h"

#include <unistd.h>

struct options {
    struct push_options push;
    struct symbol_options symbols;
    const char *path;
    bool queued, quiet;
};

static const struct option_row queued_rows[] = {
    {"queued", 0, NULL, "send no file, only the queue for URL", OPTION_FLAG(struct options, queued)},
    {.name = NULL},
};

static const struct option_row quiet_rows[] = {
    {"quiet", 'q', NULL, "print only failures", OPTION_FLAG(struct options, quiet)},
    {.name = NULL},
};

static const struct option_group option_groups[] = {
    {.rows = queued_rows},
    {.rows = push_option_rows, .offset = offsetof(struct options, push)},
    {.rows = quiet_rows},
    {.rows = symbol_option_rows,
     .offset = offsetof(struct options, symbols),
     .title = "With the spool file of a recording:"},
    {.rows = NULL},
};

static const char usage[] =
    "usage: prof push [OPTIONS] FILE [URL]\n"
    "       prof push [OPTIONS] --queued [URL]\n"
    "\n"
    "Sends a saved profile to a server that takes OpenTelemetry profiles over HTTP (OTLP, v1development).\n"
    "URL is the address of the server, such as http://localhost:4318 (OTEL_EXPORTER_OTLP_ENDPOINT).\n"
    "Profiles that prof cannot send wait in a queue, and the next push to the same address sends them.\n";

const struct option_table push_table = {
    .command = "push",
    .usage = usage,
    .groups = option_groups,
    .words = WORDS_FILES,
};

/* Parses the arguments FILE and URL. Returns 0, or the exit status after printing a message. */
static int parse_arguments(struct options *options, int argc, char **argv)
{
    int words = argc - optind, most = options->queued ? 1 : 2;
    if (!options->queued && !words)
        return ui_usage("push", "no file given; for example: prof push profile.json.gz http://localhost:4318");
    if (words > most)
        return ui_usage("push", options->queued ? "--queued takes an address and no file"
                                                : "too many arguments: 'prof push' takes one file and one address");
    options->path = options->queued ? NULL : argv[optind];
    return push_options_resolve(&options->push, words == most ? argv[argc - 1] : NULL);
}

static int load_profile(struct options *options, struct profile *profile)
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
    int status = load_profile(options, &profile);
    if (!status)
        return pushing_add(pushing, &profile, (struct time_range){0}, &err) ? ui_fail_with_error(&err) : 0;
    profile_destroy(&profile);
    return status;
}

static int send_profiles(struct options *options)
{
    struct pushing pushing;
    int status = pushing_open(&pushing, &options->push);
    pushing.is_quiet = options->quiet;
    if (!status && options->path)
        status = add_profile(options, &pushing);
    if (!status)
        status = pushing_send(&pushing, options->push.retry);
    if (!status && !options->quiet && !pushing.sent)
        ui_print_message("the queue has no profile for this address");
    pushing_print_sent(&pushing);
    pushing_close(&pushing);
    return status;
}

int cmd_push(int argc, char **argv)
{
    struct options options = {.push.command = "push"};
    int status;
    if (options_parse(&push_table, &options, argc, argv, &status)) {
        status = parse_arguments(&options, argc, argv);
        if (!status)
            status = send_profiles(&options);
    }
    push_options_destroy(&options.push);
    symbol_options_close(&options.symbols);
    return status;
}
