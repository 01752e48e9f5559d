/*
 * `prof help`: lists the commands, or shows the options of one. The manual pages in man/ have the details.
 */
#include "cmd/common/commands.h"
#include "cmd/common/completion.h"
#include "cmd/common/ui.h"

#include <getopt.h>

struct options {
    const char *completion;
};

static const struct option_row option_rows[] = {
    {"completion", 0, "SHELL", "print the completion script for a shell: bash, zsh or fish",
     OPTION_TEXT(struct options, completion), .choices = "bash zsh fish"},
    {.name = NULL},
};

static const char usage[] = "usage: prof help [COMMAND]\n"
                            "       prof help --completion SHELL\n"
                            "\n"
                            "Lists the commands, or shows the help of one.\n";

const struct option_table help_table = {
    .command = "help",
    .usage = usage,
    .groups = (const struct option_group[]){{.rows = option_rows}, {.rows = NULL}},
};

static void print_overview(void)
{
    puts("usage: prof COMMAND [OPTIONS] [ARGUMENTS]\n"
         "\n"
         "Sampling profiler: records programs and shows their profiles in the browser.\n");
    for (const struct command *command = commands; command < commands_end; command++)
        ui_print("  prof %-11s %s\n", command->name, command->summary);
    puts("\n"
         "  prof record ./program arguments   profile it\n"
         "  prof load profile.json.gz         show the profile again\n"
         "\n"
         "'prof help COMMAND' shows the options of a command.\n"
         "'prof --version' shows the version, and 'prof --licenses' shows the licenses.");
}

int cmd_help(int argc, char **argv)
{
    struct options options = {.completion = NULL};
    int status;
    if (!options_parse(&help_table, &options, argc, argv, &status))
        return status;
    if (options.completion && optind < argc)
        return ui_usage("help", "--completion takes no command");
    if (options.completion)
        return completion_print(options.completion)
                   ? EXIT_SUCCESS
                   : ui_usage("help", "--completion takes bash, zsh or fish, not '%s'", options.completion);
    if (argc - optind > 1)
        return ui_usage("help", "give one command, not %d", argc - optind);
    const struct command *command = optind < argc ? find_command(argv[optind]) : NULL;
    if (optind < argc && !command)
        return print_unknown_command(argv[optind]);
    if (command)
        options_print_help(command->options);
    else
        print_overview();
    return EXIT_SUCCESS;
}
