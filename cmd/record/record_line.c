#include "cmd/record/record_line.h"

#include "cmd/common/ui.h"

#include "base/shell_quote.h"
#include "record/counters.h"

static int parse_duration(const struct option_use *use)
{
    struct record_line *options = use->group;
    char *end;
    double seconds = strtod(use->value, &end);
    if (end == use->value || *end || !(seconds >= 0.001 && seconds <= 1e9))
        return ui_usage("record", "'%s' is not a duration; give at least 0.001 seconds", use->value);
    options->duration = (uint64_t)(seconds * 1e9);
    return 0;
}

static int parse_counters(const struct option_use *use)
{
    struct record_line *options = use->group;
    return counters_parse(use->value, &options->counters)
               ? 0
               : ui_usage(
                     "record",
                     "'%s' is not a list of counters; give all, none, or some of cpu, memory, faults, io, switches, threads, system and power, separated by commas",
                     use->value);
}

static int add_environment_variable(const struct option_use *use)
{
    return strchr(use->value, '=')
               ? ui_usage("record", "--env takes the name of an environment variable, not '%s'", use->value)
               : option_add_text(use);
}

static const struct option_row output_rows[] = {
    {"output", 'o', "FILE",
     "save the profile to FILE (profile.json.gz), compressed if the name ends in .gz; with -, save to the standard output, and redirect the output of COMMAND to the standard error",
     OPTION_NAME(struct record_line, output), .is_local = true},
    {"save-only", 's', NULL, "do not serve; exit with the exit status of COMMAND (with -p: 0)",
     OPTION_FLAG(struct record_line, save_only), .is_local = true},
    {"live", 0, NULL, "open the page at once, and update it during the recording",
     OPTION_FLAG(struct record_line, live)},
    {"quiet", 'q', NULL, "print only errors and the address of the page", OPTION_FLAG(struct record_line, quiet)},
    {"verbose", 'v', NULL, "at the end, print all metadata about the quality of the data",
     OPTION_FLAG(struct record_line, verbose)},
    {"host", 0, "HOST", "record on HOST over ssh, save and serve the profile here",
     OPTION_TEXT(struct record_line, host), .is_local = true},
    {"recover", 0, "SPOOL", "save the profile of the spool file of a killed prof",
     OPTION_TEXT(struct record_line, recover)},
    {.name = NULL},
};

static const struct option_row data_rows[] = {
    {"rate", 'r', "HZ", "samples per second of CPU time, for each thread (1000)",
     OPTION_NUMBER(struct record_line, rate, 1000000)},
    {"off-cpu", 0, "yes|no", "also record waits and their reasons (yes; with -a: no)",
     OPTION(option_set_choice, struct record_line, off_cpu), .data = CHOICE_YES, .choices = "yes no"},
    {"wakers", 0, NULL,
     "print the reason if the kernel does not permit prof to record wakers; with -a, record waits and wakers",
     OPTION_FLAG(struct record_line, wakers)},
    {"no-wakers", 0, NULL, "do not record the wakers of waits", OPTION_FLAG(struct record_line, no_wakers)},
    {"python", 0, "yes|no", "read the frames of Python code (yes)",
     OPTION(option_set_choice, struct record_line, python), .data = CHOICE_YES, .choices = "yes no"},
    {"counters", 0, "LIST",
     "read these counters: all, none, or some of cpu, memory, faults, io, switches, threads, system and power, separated by commas (all)",
     .parse = parse_counters, .choices = "all none cpu memory faults io switches threads system power"},
    {"env", 0, "VARIABLE", "save the value of this environment variable in the profile; can be given several times",
     OPTION(add_environment_variable, struct record_line, variables)},
    {"no-machine-name", 0, NULL, "do not save the name of this machine or the working directory",
     OPTION_FLAG(struct record_line, no_machine_name)},
    {"sampler", 0, "SAMPLER",
     "perf samples with perf events, ptrace samples by stopping threads, and auto (the default) uses perf events if the kernel permits them, else ptrace",
     OPTION(option_set_choice, struct record_line, sampler), .choices = "auto perf ptrace"},
    {.name = NULL},
};

static const struct option_row duration_rows[] = {
    {"duration", 'd', "SECONDS", "stop recording after this time, and end COMMAND; processes of -p continue",
     .parse = parse_duration},
    {.name = NULL},
};

static const struct option_group option_groups[] = {
    {.rows = output_rows},
    {.rows = target_option_rows,
     .offset = offsetof(struct record_line, targets),
     .title = "Processes, threads and CPUs:"},
    {.rows = data_rows, .title = "Data:"},
    {.rows = event_option_rows, .offset = offsetof(struct record_line, events)},
    {.rows = duration_rows, .title = "Beginning, end and size:"},
    {.rows = control_option_rows, .offset = offsetof(struct record_line, control)},
    {.rows = record_push_option_rows, .offset = offsetof(struct record_line, push), .title = "OpenTelemetry:"},
    {.rows = push_option_rows, .offset = offsetof(struct record_line, push.shared)},
    {.rows = serving_option_rows, .offset = offsetof(struct record_line, serving), .title = "Page and symbols:"},
    {.rows = symbol_option_rows, .offset = offsetof(struct record_line, symbols)},
    {.rows = NULL},
};

static const char record_usage[] =
    "usage: prof record [OPTIONS] [--] COMMAND [ARGUMENT...]\n"
    "       prof record [OPTIONS] -p PID[,PID...]\n"
    "       prof record [OPTIONS] -a [[--] COMMAND [ARGUMENT...]]\n"
    "       prof record [OPTIONS] --host [USER@]HOST ...\n"
    "       prof record [OPTIONS] --recover SPOOL\n"
    "\n"
    "Runs COMMAND, and samples its threads and its child processes until COMMAND ends.\n"
    "Saves the profile. At a terminal, also serves the profile on this machine and prints its address.\n"
    "The first Ctrl+C goes to COMMAND, too, and a second Ctrl+C ends the recording at once.\n"
    "In both cases prof saves the profile.\n"
    "With -p, records running processes until they end or Ctrl+C, and leaves them running.\n"
    "With -a, records all processes of the system until COMMAND ends or Ctrl+C.\n";

const struct option_table record_table = {
    .command = "record",
    .usage = record_usage,
    .groups = option_groups,
    .words = WORDS_PROGRAMS,
    .stops_at_word = true,
};

/* Stores the command, and checks that no option contradicts another. Returns 0 or the exit status after a message. */
static int check_options(struct record_line *options, char **argv)
{
    options->command = argv + optind;
    for (int i = 1; i < optind; i++)
        if (strcmp(argv[i], "--") != 0 && !array_push(&options->arguments, argv[i]))
            return ui_fail("out of memory");
    if (!array_push(&options->arguments, NULL))
        return ui_fail("out of memory");
    if (options->quiet && options->verbose)
        return ui_usage("record", "-q/--quiet and -v/--verbose exclude each other");
    if (options->targets.all && options->sampler == RECORD_BY_PTRACE)
        return ui_usage("record", "--sampler ptrace records a command or processes (-p), not all processes");
    if (options->wakers && options->no_wakers)
        return ui_usage("record", "--wakers and --no-wakers exclude each other");
    if (options->wakers && options->off_cpu == CHOICE_NO)
        return ui_usage("record", "--wakers records the wakers of waits, but --off-cpu=no records no waits");
    bool has_targets = options->targets.pid_count || options->targets.all;
    const char *refused = *options->command              ? "command"
                          : options->targets.pid_count   ? "-p"
                          : options->targets.all         ? "-a or --cgroup"
                          : options->events.texts.length ? "-e"
                          : options->live                ? "--live"
                          : options->host                ? "--host"
                                                         : NULL;
    if (options->recover && refused)
        return ui_usage("record", "--recover takes no %s, because it saves the profile of an earlier recording",
                        refused);
    if (!options->recover && !has_targets && !*options->command)
        return ui_usage("record", "no command given; for example: prof record ./program, or prof record -p PID");
    if (options->sampler == RECORD_BY_PTRACE && options->events.texts.length)
        return ui_usage("record", "--sampler ptrace samples CPU time alone, not the events of -e");
    if (options->live && (options->save_only || record_line_is_piped(options)))
        return ui_usage("record", "--live shows the profile in prof's page, and %s shows none",
                        options->save_only ? "-s/--save-only" : "-o -");
    if (options->live && options->serving.ui)
        return ui_usage("record", "--live takes no --ui: it needs prof's own page");
    if (options->host && (options->live || options->push.address))
        return ui_usage("record", "--host takes no --%s, because prof copies the profile when the recording has ended",
                        options->live ? "live" : "push");
    if (options->host && !*options->host)
        return ui_usage("record", "--host needs the name of a machine, such as user@server");
    int status = control_options_check(&options->control, *options->command != NULL, options->recover != NULL);
    if (!status)
        status = target_options_check(&options->targets, *options->command != NULL);
    if (!status)
        status = record_push_check(&options->push, options->recover != NULL, record_line_is_piped(options),
                                   options->control.keep.ns);
    return status || options->host ? status : event_options_find(&options->events);
}

/* Makes the words after `prof record` for the other machine's shell. */
static int list_remote_words(struct record_line *options, int argc, char **argv)
{
    struct text_buffer *words = &options->remote_words;
    bool ok = options_append_remote(&record_table, argc, argv, words) && text_append_z(words, " --");
    for (char **word = options->command; ok && *word; word++)
        ok = text_append_z(words, " ") && shell_quote(words, *word);
    return ok ? 0 : ui_fail("out of memory");
}

bool record_line_parse(struct record_line *line, int argc, char **argv, int *status)
{
    *line = (struct record_line){.output = "profile.json.gz",
                                 .push.shared.command = "record",
                                 .rate = 1000,
                                 .counters = COUNT_ALL,
                                 .serving = SERVING_DEFAULTS};
    if (!options_parse(&record_table, line, argc, argv, status))
        return false;
    line->shown_output = getenv(OUTPUT_NAME_VARIABLE) ? getenv(OUTPUT_NAME_VARIABLE) : line->output;
    unsetenv(OUTPUT_NAME_VARIABLE); /* it is not for the target */
    *status = check_options(line, argv);
    if (!*status && line->host)
        *status = list_remote_words(line, argc, argv);
    return *status == EXIT_SUCCESS;
}

bool record_line_is_piped(const struct record_line *line)
{
    return strcmp(line->output, "-") == 0;
}

void record_line_destroy(struct record_line *line)
{
    symbol_options_close(&line->symbols);
    target_options_destroy(&line->targets);
    event_options_destroy(&line->events);
    push_options_destroy(&line->push.shared);
    array_free(&line->variables);
    array_free(&line->arguments);
    array_free(&line->remote_words);
}
