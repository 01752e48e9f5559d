/*
 * `prof symbolicate FILE`: looks up the names of a saved profile on this machine, and saves it with them.
 *
 * For profiles that have none (samply's), and for those that were recorded where debug files were missing. The result
 * is made beside its final name and renamed, so that FILE itself can be the output.
 */
#include "commands.h"
#include "symbolicating.h"
#include "ui.h"

#include "profile/file.h"
#include "profile/write.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int save(const struct profile *profile, const char *path)
{
    struct profile_file *file;
    struct error err = {0};
    if (profile_file_create(&file, path, &err) != 0)
        return ui_fail_error(&err);
    struct byte_sink sink = profile_file_sink(file);
    if (profile_write(profile, NULL, profile_time_resolution(profile), &sink, &err) != 0) {
        profile_file_abandon(file);
        return ui_fail_error(&err);
    }
    return profile_file_commit(file, &err) == 0 ? EXIT_SUCCESS : ui_fail_error(&err);
}

static int symbolicate(const char *input, const char *output, struct symbol_options *symbols, bool no_cache)
{
    struct profile profile = {0};
    struct error err = {0};
    int status = profile_load(input, &profile, &err) == 0 ? EXIT_SUCCESS : ui_fail_error(&err);
    if (status == EXIT_SUCCESS)
        status = symbolicate_and_say(&profile, output, symbols, no_cache);
    if (status == EXIT_SUCCESS)
        status = save(&profile, output);
    profile_destroy(&profile);
    return status;
}

/* What is written is JSON: it does not take the place of a file in the other format. */
static bool is_jslb_name(const char *path)
{
    const char *end = strstr(path, ".jslb");
    return end && (!end[5] || !strcmp(end + 5, ".gz"));
}

int cmd_symbolicate(int argc, char **argv)
{
    enum { OPTION_NO_CACHE = 256 };
    static const struct option long_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"output", required_argument, NULL, 'o'},
        {"no-cache", no_argument, NULL, OPTION_NO_CACHE},
        SYMBOL_OPTIONS,
        {NULL, 0, NULL, 0},
    };
    const char *output = NULL;
    bool no_cache = false;
    struct symbol_options symbols = {.urls = NULL};
    int status;
    for (int option; (option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1;) {
        switch (option) {
        case 'h':
            return help_print("symbolicate");
        case 'o':
            output = optarg;
            if (!*output)
                return ui_usage("symbolicate", "-o/--output needs the name of a file");
            break;
        case OPTION_NO_CACHE:
            no_cache = true;
            break;
        case OPTION_SYMBOL_DIR:
        case OPTION_DEBUGINFOD:
            if ((status = symbol_options_parse(&symbols, "symbolicate", option, optarg)) != 0)
                return status;
            break;
        default:
            return ui_bad_option("symbolicate", option, argv);
        }
    }
    if (optind == argc)
        return ui_usage("symbolicate", "which file?");
    if (argc - optind > 1)
        return ui_usage("symbolicate", "it takes one file, not %d", argc - optind);
    if (!output && is_jslb_name(argv[optind]))
        return ui_usage("symbolicate", "the result is JSON, which does not belong in %s: name a file with -o",
                        argv[optind]);
    symbol_options_open(&symbols);
    status = symbolicate(argv[optind], output ? output : argv[optind], &symbols, no_cache);
    symbol_options_close(&symbols);
    return status;
}
