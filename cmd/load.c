/*
 * `prof load FILE`: checks a saved profile, then serves it.
 *
 * The whole file is read before the address is printed, although the page reads it again. So a file that is damaged, or
 * is something else, gives a sentence here and an exit status that a script can see, instead of a page that cannot show
 * it.
 */
#include "commands.h"
#include "serving.h"
#include "symbol_options.h"
#include "ui.h"

#include "profile/file.h"

#include <getopt.h>
#include <stdlib.h>

static int check_profile(const char *path)
{
    struct profile profile = {0};
    struct error err = {0};
    int result = profile_load(path, &profile, &err);
    profile_destroy(&profile);
    return result ? ui_fail_error(&err) : EXIT_SUCCESS;
}

int cmd_load(int argc, char **argv)
{
    enum { OPTION_NO_CACHE = 256 };
    static const struct option long_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"no-open", no_argument, NULL, 'n'},
        {"port", required_argument, NULL, 'P'},
        {"no-cache", no_argument, NULL, OPTION_NO_CACHE},
        SYMBOL_OPTIONS,
        {NULL, 0, NULL, 0},
    };
    struct serving_options options = SERVING_DEFAULTS;
    struct symbol_options symbols = {.urls = NULL};
    int status;
    for (int option; (option = getopt_long(argc, argv, ":hnP:", long_options, NULL)) != -1;) {
        switch (option) {
        case 'h':
            return help_print("load");
        case 'n':
            options.no_open = true;
            break;
        case 'P':
            if (!serving_parse_port(optarg, &options))
                return ui_usage("load", "'%s' is no port: it takes 3000, 3000+ or 0", optarg);
            break;
        case OPTION_NO_CACHE:
            options.no_cache = true;
            break;
        case OPTION_SYMBOL_DIR:
        case OPTION_DEBUGINFOD:
            if ((status = symbol_options_parse(&symbols, "load", option, optarg)) != 0)
                return status;
            break;
        default:
            return ui_bad_option("load", option, argv);
        }
    }
    if (optind == argc)
        return ui_usage("load", "which file?");
    if (argc - optind > 1)
        return ui_usage("load", "it takes one file, not %d", argc - optind);
    const char *path = argv[optind];
    status = check_profile(path);
    if (status != EXIT_SUCCESS)
        return status;
    symbol_options_open(&symbols);
    status = serve_and_wait(path, &options, &symbols);
    symbol_options_close(&symbols);
    return status;
}
