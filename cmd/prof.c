/*
 * prof: a sampling profiler for Linux programs.
 *
 * main() finds the subcommand in a table and passes the rest of the command line to it. To add one, write cmd/NAME.c
 * with cmd_NAME() and its table of options, declare both in commands.h, and add a line here.
 */
#include "cmd/common/build_name.h"
#include "cmd/common/commands.h"
#include "cmd/common/ui.h"
#include "cmd/page.h"

#include "base/hash.h"
#include "base/text_buffer.h"
#include "base/typing_distance.h"
#include "base/starts_with.h"
#include "serve/page_template.h"

#include <sys/random.h>
#include <sys/stat.h>

const struct command commands[] = {
    {"record", cmd_record, "Run a command (or attach to a process), sample it, save the profile and show it",
     &record_table},
    {"load", cmd_load, "Show a saved profile in the browser", &load_table},
    {"report", cmd_report, "Print a saved profile in the terminal", &report_table},
    {"diff", cmd_diff, "Compare two profiles: functions that take more or less time", &diff_table},
    {"check", cmd_check, "Compare two profiles, and fail if the change exceeds a limit", &check_table},
    {"export", cmd_export, "Write a saved profile in the format of another tool", &export_table},
    {"push", cmd_push, "Send a saved profile to a server that takes OpenTelemetry profiles", &push_table},
    {"stacks", cmd_stacks, "Print the stack of each thread of a running process or a core file", &stacks_table},
    {"top", cmd_top, "Print the functions, threads and waits of a running process once a second", &top_table},
    {"symbolicate", cmd_symbolicate, "Add symbols to a saved profile on this machine", &symbolicate_table},
    {"ctl", cmd_ctl, "Pause, mark, snapshot or end a running recording", &ctl_table},
    {"events", cmd_events, "List the events that prof can record here, and why others are not available",
     &events_table},
    {"dump", cmd_dump, "Print the records of a recording, one line of JSON each", &dump_table},
    {"doctor", cmd_doctor, "Print the kinds of recordings that work here, and the settings that enable more",
     &doctor_table},
    {"help", cmd_help, "Show the help of a command", &help_table},
};
const struct command *const commands_end = commands + sizeof(commands) / sizeof(*commands);

const struct command *find_command(const char *name)
{
    for (const struct command *command = commands; command < commands_end; command++) {
        if (!strcmp(command->name, name))
            return command;
    }
    return NULL;
}

static const struct command *find_similar_command(const char *name)
{
    const struct command *best = NULL;
    size_t best_distance = 3; /* a word with more than two typos counts as another word */
    for (const struct command *command = commands; command < commands_end; command++) {
        size_t distance = compute_typing_distance(name, command->name);
        bool is_beginning = strlen(name) >= 2 && !strncmp(command->name, name, strlen(name));
        if (is_beginning)
            distance = 0;
        if (distance < best_distance && distance < strlen(name)) {
            best = command;
            best_distance = distance;
        }
    }
    return best;
}

int print_unknown_command(const char *name)
{
    const struct command *meant = find_similar_command(name);
    struct stat info;
    bool is_file = stat(name, &info) == 0 && S_ISREG(info.st_mode);
    if (meant)
        ui_print_message("unknown command '%s'; did you mean 'prof %s'?", name, meant->name);
    else if (is_file && (ends_with(name, ".json") || ends_with(name, ".json.gz")))
        ui_print_message("unknown command '%s'; to show this file: prof load %s", name, name);
    else if (is_file && (info.st_mode & 0111))
        ui_print_message("unknown command '%s'; to profile this program: prof record %s", name, name);
    else
        ui_print_message("unknown command '%s'; 'prof help' lists them", name);
    return EXIT_USAGE;
}

/* Seeds the hash tables at random, so that profiles cannot be made to collide (base/hash.h). Early at boot, random
 * numbers may be unavailable; then the seed stays fixed. */
static void seed_hash_tables(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
        hash_set_seed(seed);
}

/* The licenses of all that the binary contains, which web/build.mjs collects. */
static int print_licenses(void)
{
    struct text_buffer text = {0};
    struct error err = {0};
    int code = -1;
    for (size_t i = 0; i < page_asset_count; i++) {
        if (!strcmp(page_assets[i].path, "licenses.txt"))
            code = asset_unpack(&page_assets[i], &text, &err);
    }
    if (!code)
        ui_print("%.*s", (int)text.length, text.data);
    array_free(&text);
    return code ? ui_fail("cannot read the licenses in this binary; build prof again") : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    seed_hash_tables();
    if (argc < 2) {
        ui_print_message("no command given; see 'prof help'");
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        ui_print("prof %s\n", build_name);
        return EXIT_SUCCESS;
    }
    if (!strcmp(word, "--licenses"))
        return print_licenses();
    if (!strcmp(word, "--help") || !strcmp(word, "-h"))
        word = "help";
    if (word[0] == '-') {
        ui_print_message("unknown option %s before the command; 'prof help' shows the usage", word);
        return EXIT_USAGE;
    }
    const struct command *command = find_command(word);
    return command ? command->run(argc - 1, argv + 1) : print_unknown_command(word);
}
