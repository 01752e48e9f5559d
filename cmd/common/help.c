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

static const char usage[] = "usage: prof help [COMMAND | agents]\n"
                            "       prof help --completion SHELL\n"
                            "\n"
                            "Lists the commands, shows the help of one, or shows how programs and agents use prof.\n";

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
         "'prof help COMMAND' shows the options of a command, and 'prof help agents' the use from a program.\n"
         "'prof --version' shows the version, and 'prof --licenses' shows the licenses.");
}

/* tests/e2e/test_schemas runs the commands. */
static const char agents_help[] =
    "How a program or an agent uses prof:\n"
    "\n"
    "Record a command, without a browser. The exit status is that of the command.\n"
    "\n"
    "  prof record -s -o base.json.gz ./program\n"
    "  prof record -s --iterations 5 -o new.json.gz ./program\n"
    "\n"
    "Read the answer in at most 8 KiB: a headline, findings with their place, the first functions, lines and waits,\n"
    "the data quality, warnings, and the exit status of the command.\n"
    "\n"
    "  prof report --summary --json base.json.gz\n"
    "\n"
    "Read lists. --limit is the number of rows, --search, --range and --thread select samples.\n"
    "\n"
    "  prof report --functions --limit 20 --json base.json.gz\n"
    "  prof report --hot-lines --limit 20 --json base.json.gz\n"
    "  prof report --waits --limit 5 --json base.json.gz\n"
    "  prof report --processes --json base.json.gz\n"
    "  prof report --butterfly main --min-percent 5 --json base.json.gz\n"
    "  prof report --annotate main --json base.json.gz\n"
    "\n"
    "Read the call tree, and drill down into a row by its 'id': callers, callees, lines and waits.\n"
    "\n"
    "  prof report --depth 5 --json base.json.gz\n"
    "  prof report --node ID --json base.json.gz\n"
    "\n"
    "Compare two profiles. With runs of --iterations, 'is_noise' marks changes within noise.\n"
    "\n"
    "  prof diff --limit 20 --json base.json.gz new.json.gz\n"
    "  prof check --json --fail-if 'total > +300%' base.json.gz new.json.gz\n"
    "\n"
    "Print the stacks of a running process, and what works on this machine.\n"
    "\n"
    "  prof stacks --json PID\n"
    "  prof doctor --json\n"
    "\n"
    "Exit status: 0 success, 1 failure, 2 wrong usage. prof check: 3 if a limit is exceeded, and with --strict 4 if\n"
    "noise hides the answer. Messages are on standard error. All JSON has a member 'version', and a JSON Schema in\n"
    "docs/schema of the sources. 'samples' are stacks that were taken on a CPU. Times of 'unit' ms are milliseconds.\n";

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
    if (optind < argc && !strcmp(argv[optind], "agents")) {
        ui_print("%s", agents_help);
        return EXIT_SUCCESS;
    }
    const struct command *command = optind < argc ? find_command(argv[optind]) : NULL;
    if (optind < argc && !command)
        return print_unknown_command(argv[optind]);
    if (command)
        options_print_help(command->options);
    else
        print_overview();
    return EXIT_SUCCESS;
}
