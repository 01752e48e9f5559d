/*
 * `prof record`: run a command, sample it until it ends, save the profile, serve it.
 *
 * While the command runs, the recording grows in a spool file beside the output. At the end it becomes the profile. If
 * that fails (disk full), the spool stays, and --recover makes the profile later. It also works on the spool of a
 * killed recorder.
 */
#include "cmd/common/commands.h"
#include "cmd/record/control_options.h"
#include "cmd/record/event_options.h"
#include "cmd/common/directories.h"
#include "cmd/record/leftover.h"
#include "cmd/live.h"
#include "cmd/record/record_push.h"
#include "cmd/record/record_summary.h"
#include "cmd/serving.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/symbol_options.h"
#include "cmd/common/ui.h"
#include "cmd/record/whom_options.h"

#include "assemble/assemble.h"
#include "os/file_output.h"
#include "record/counters.h"
#include "record/launch.h"
#include "record/record.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

enum choice { CHOICE_DEFAULT, CHOICE_YES, CHOICE_NO };

struct options {
    enum record_sampler sampler;
    const char *output;
    const char *recover; /* spool file to make the profile of */
    uint32_t rate;
    uint64_t duration; /* ns; 0: until the command ends */
    uint32_t counters; /* bits by enum counter_group */
    bool no_host;
    ARRAY(const char *) variables; /* of the environment, to be saved */
    ARRAY(char *) arguments;       /* before the command, NULL at the end */
    bool live, save_only, wakers, quiet, verbose;
    enum choice off_cpu, python;
    struct serving_options serving;
    struct symbol_options symbols;
    char **command;
    struct whom_options whom; /* instead of a command, or beside it */
    struct control_options control;
    struct event_options events;
    struct record_push_options push;
};

/* ---- options ---- */

static int parse_rate(const struct option_use *use)
{
    struct options *options = use->group;
    char *end;
    errno = 0;
    unsigned long value = strtoul(use->value, &end, 10);
    if (*use->value < '0' || *use->value > '9' || *end || errno || value < 1 || value > 1000000)
        return ui_usage("record", "'%s' is not a rate: give 1 to 1000000 Hz", use->value);
    options->rate = (uint32_t)value;
    return 0;
}

static int parse_duration(const struct option_use *use)
{
    struct options *options = use->group;
    char *end;
    double seconds = strtod(use->value, &end);
    if (end == use->value || *end || !(seconds >= 0.001 && seconds <= 1e9))
        return ui_usage("record", "'%s' is not a duration: give at least 0.001 seconds", use->value);
    options->duration = (uint64_t)(seconds * 1e9);
    return 0;
}

static int parse_sampler(const struct option_use *use)
{
    static const char *const names[] = {
        [RECORD_BY_ANY] = "auto", [RECORD_BY_PERF] = "perf", [RECORD_BY_PTRACE] = "ptrace"};
    struct options *options = use->group;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(use->value, names[i]) == 0) {
            options->sampler = (enum record_sampler)i;
            return 0;
        }
    return ui_usage("record", "'%s' is not a sampler: give perf, ptrace or auto", use->value);
}

static int parse_choice(const struct option_use *use)
{
    enum choice *choice = (enum choice *)((char *)use->group + use->row->field);
    *choice = strcmp(use->value, "no") == 0 ? CHOICE_NO : CHOICE_YES;
    return *choice == CHOICE_NO || strcmp(use->value, "yes") == 0
               ? 0
               : ui_usage("record", "--%s is 'yes' or 'no', not '%s'", use->row->name, use->value);
}

static int parse_counters(const struct option_use *use)
{
    struct options *options = use->group;
    return counters_parse(use->value, &options->counters)
               ? 0
               : ui_usage("record",
                          "'%s' is not a list of counters: give some of cpu, memory, faults, io, switches, "
                          "threads, system and power, separated by commas, or all or none",
                          use->value);
}

static int add_variable(const struct option_use *use)
{
    struct options *options = use->group;
    if (!*use->value || strchr(use->value, '='))
        return ui_usage("record", "--env takes the name of an environment variable, not '%s'", use->value);
    return array_push(&options->variables, use->value) ? 0 : ui_fail("out of memory");
}

static const struct option_row output_rows[] = {
    {"output", 'o', "FILE",
     "save the profile to FILE (profile.json.gz), compressed if the name ends in .gz; -: to the "
     "standard output, and redirect COMMAND's to the standard error",
     OPTION_NAME(struct options, output)},
    {"save-only", 's', NULL, "do not serve; exit with the exit status of COMMAND (with -p: 0)",
     OPTION_FLAG(struct options, save_only)},
    {"live", 0, NULL, "open the page at once; it follows the recording", OPTION_FLAG(struct options, live)},
    {"quiet", 'q', NULL, "print only errors and the address of the page", OPTION_FLAG(struct options, quiet)},
    {"verbose", 'v', NULL, "at the end, print all metadata about the quality of the data",
     OPTION_FLAG(struct options, verbose)},
    {"recover", 0, "SPOOL", "save the profile of the spool file of a killed prof",
     OPTION_TEXT(struct options, recover)},
    {.name = NULL},
};

static const struct option_row data_rows[] = {
    {"rate", 'r', "HZ", "samples per second of CPU time, for each thread (1000)", .parse = parse_rate},
    {"off-cpu", 0, "yes|no", "also record waits and their reasons (yes; with -a: no)", .parse = parse_choice,
     .field = offsetof(struct options, off_cpu), .choices = "yes no"},
    {"wakers", 0, NULL, "also record the waker of each wait, if the kernel permits it",
     OPTION_FLAG(struct options, wakers)},
    {"python", 0, "yes|no", "read the frames of Python code (yes)", .parse = parse_choice,
     .field = offsetof(struct options, python), .choices = "yes no"},
    {"counters", 0, "LIST",
     "counters to read: cpu, memory, faults, io, switches, threads, system, power, separated by commas; "
     "or all, or none (all)",
     .parse = parse_counters, .choices = "all none cpu memory faults io switches threads system power"},
    {"env", 0, "VARIABLE", "save the value of this environment variable in the profile; can be given several times",
     .parse = add_variable},
    {"no-host", 0, NULL, "do not save the name of this machine or the working directory",
     OPTION_FLAG(struct options, no_host)},
    {"sampler", 0, "SAMPLER",
     "perf: perf events; ptrace: stop the threads to sample them; auto: perf events if the kernel "
     "permits them, else ptrace (auto)",
     .parse = parse_sampler, .choices = "auto perf ptrace"},
    {.name = NULL},
};

static const struct option_row duration_rows[] = {
    {"duration", 'd', "SECONDS", "stop recording after this time, and end COMMAND; processes of -p continue",
     .parse = parse_duration},
    {.name = NULL},
};

static const struct option_group option_groups[] = {
    {.rows = output_rows},
    {.rows = whom_option_rows, .offset = offsetof(struct options, whom), .title = "Processes, threads and CPUs:"},
    {.rows = data_rows, .title = "Data:"},
    {.rows = event_option_rows, .offset = offsetof(struct options, events)},
    {.rows = duration_rows, .title = "Beginning, end and size:"},
    {.rows = control_option_rows, .offset = offsetof(struct options, control)},
    {.rows = record_push_option_rows, .offset = offsetof(struct options, push), .title = "OpenTelemetry:"},
    {.rows = push_option_rows, .offset = offsetof(struct options, push.shared)},
    {.rows = serving_option_rows, .offset = offsetof(struct options, serving), .title = "Page and symbols:"},
    {.rows = symbol_option_rows, .offset = offsetof(struct options, symbols)},
    {.rows = NULL},
};

static const char record_usage[] =
    "usage: prof record [OPTIONS] [--] COMMAND [ARGUMENT...]\n"
    "       prof record [OPTIONS] -p PID[,PID...]\n"
    "       prof record [OPTIONS] -a [[--] COMMAND [ARGUMENT...]]\n"
    "       prof record [OPTIONS] --recover SPOOL\n"
    "\n"
    "Runs COMMAND and samples it, its threads and its child processes until COMMAND ends. Saves the profile; at a\n"
    "terminal, also serves it on this machine and prints the address. Ctrl+C goes to COMMAND, too; a second Ctrl+C\n"
    "stops the recording at once. In both cases prof saves the profile. With -p, records running processes until\n"
    "they end or Ctrl+C, and leaves them running. With -a, records all processes of the system until COMMAND ends\n"
    "or Ctrl+C.\n";

const struct option_table record_table = {
    .command = "record",
    .usage = record_usage,
    .groups = option_groups,
    .words = WORDS_PROGRAMS,
    .stops_at_word = true,
};

static bool is_standard_output(const struct options *options)
{
    return strcmp(options->output, "-") == 0;
}

/* Takes the command, and checks that the options fit together. Returns 0 or the exit status after a message. */
static int check_options(struct options *options, char **argv)
{
    options->command = argv + optind;
    for (int i = 1; i < optind; i++)
        if (strcmp(argv[i], "--") != 0 && !array_push(&options->arguments, argv[i]))
            return ui_fail("out of memory");
    if (!array_push(&options->arguments, NULL))
        return ui_fail("out of memory");
    if (options->quiet && options->verbose)
        return ui_usage("record", "-q/--quiet and -v/--verbose exclude each other");
    if (options->whom.all && options->sampler == RECORD_BY_PTRACE)
        return ui_usage("record", "--sampler ptrace records a command or processes (-p), not all processes");
    if (options->wakers && options->off_cpu == CHOICE_NO)
        return ui_usage("record", "--wakers records the wakers of waits, but --off-cpu=no records no waits");
    if (options->recover && *options->command)
        return ui_usage("record", "--recover takes no command: it saves the profile of an earlier recording");
    bool has_whom = options->whom.pid_count || options->whom.all;
    if (options->recover && has_whom)
        return ui_usage("record", "--recover takes no %s: it saves the profile of an earlier recording",
                        options->whom.pid_count ? "-p" : "-a or --cgroup");
    if (!options->recover && !has_whom && !*options->command)
        return ui_usage("record", "no command given; for example: prof record ./program, or prof record -p PID");
    if (options->recover && options->events.texts.length)
        return ui_usage("record", "--recover takes no -e: it saves the profile of an earlier recording");
    if (options->sampler == RECORD_BY_PTRACE && options->events.texts.length)
        return ui_usage("record", "--sampler ptrace samples CPU time alone, not the events of -e");
    if (options->live && options->recover)
        return ui_usage("record", "--recover takes no --live: it saves the profile of an earlier recording");
    if (options->live && (options->save_only || is_standard_output(options)))
        return ui_usage("record", "--live shows the profile in prof's page, and %s shows none",
                        options->save_only ? "-s/--save-only" : "-o -");
    if (options->live && options->serving.ui)
        return ui_usage("record", "--live takes no --ui: it needs prof's own page");
    int status = control_check(&options->control, *options->command != NULL, options->recover != NULL);
    if (!status)
        status = whom_check(&options->whom, *options->command != NULL);
    if (!status)
        status = record_push_check(&options->push, options->recover != NULL, is_standard_output(options),
                                   options->control.keep.ns);
    return status ? status : event_options_find(&options->events);
}

/* ---- the files ---- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Checks before a long recording that the result can be saved. */
static int check_output(const char *output)
{
    struct stat info;
    struct error err = {0};
    char directory[PATH_MAX], old[PATH_MAX];
    const char *slash = strrchr(output, '/');
    size_t length = slash == output ? 1 : slash ? (size_t)(slash - output) : 0;
    if (strlen(output) >= PATH_MAX - 32)
        return ui_fail("the name of the output file is too long");
    snprintf(directory, sizeof(directory), "%.*s", length ? (int)length : 1, length ? output : ".");
    if (slash && !slash[1])
        return ui_fail("cannot save in %s: name a file in that directory, such as %sprofile.json.gz", output, output);
    if (!is_directory(directory))
        return ui_fail("cannot save %s: the directory %s does not exist", output, directory);
    if (access(directory, W_OK | X_OK))
        return ui_fail("cannot save %s: the directory %s is not writable: %s", output, directory, strerror(errno));
    if (is_directory(output))
        return ui_fail("cannot save %s: that is a directory; name a file in it, such as %s/profile.json.gz", output,
                       output);
    if (stat(output, &info) == 0 && !S_ISREG(info.st_mode))
        return ui_fail("cannot save %s: that is not a regular file", output);
    snprintf(old, sizeof(old), "%s.old", output);
    if (is_directory(old) && stat(output, &info) == 0)
        return ui_fail("cannot save %s: the earlier file would become %s, which is a directory", output, old);
    return file_output_check(output, &err) ? ui_fail_error(&err) : 0;
}

/* The common start of the names of spool files: that of the output or, without one, of a temporary file. */
static void spool_base(const struct options *options, char *base, size_t size)
{
    const char *directory = getenv("TMPDIR");
    if (is_standard_output(options))
        snprintf(base, size, "%s/prof", directory && directory[0] == '/' ? directory : "/tmp");
    else
        snprintf(base, size, "%s", options->output);
}

/* `rest`: see struct record_result. */
static int save_profile(const struct options *options, const char *spool, int rest, const struct open_files *files,
                        struct record_summary *summary, struct assemble_result *saved)
{
    struct directory_path path;
    char rest_path[64];
    snprintf(rest_path, sizeof(rest_path), "/proc/self/fd/%d", rest);
    struct assemble_options assemble = {.cache_directory = options->serving.no_cache ? NULL : cache_directory(&path),
                                        .files = files,
                                        .rest = rest >= 0 ? rest_path : NULL,
                                        .search = &options->symbols.search,
                                        .keeps_old = true,
                                        .listener = record_summary_listener(summary)};
    struct error err = {0};
    if (assemble_recording(spool, options->output, &assemble, saved, &err) == 0)
        return 0;
    return ui_fail_error(&err);
}

/* ---- commands ---- */

/* Whether to serve after saving. Without a terminal, no user reads the address or presses Ctrl+C; an option of the
 * server asks for it all the same. Continuous integrations set CI=true, some with a terminal. */
static bool wants_server(const struct options *options)
{
    const char *ci = getenv("CI");
    bool is_automatic = !isatty(STDERR_FILENO) || (ci && (!strcmp(ci, "true") || !strcmp(ci, "1")));
    return !options->save_only && (!is_automatic || serving_was_requested(&options->serving));
}

static int serve(struct options *options, int status)
{
    if (!wants_server(options)) {
        if (!options->save_only && !options->quiet)
            ui_say("'prof load %s' shows it", options->output);
        return status;
    }
    int failed = serve_and_wait(options->output, &options->serving, &options->symbols);
    return failed ? failed : status;
}

static struct record_summary summary_of(const struct options *options)
{
    return (struct record_summary){.output = options->output,
                                   .quiet = options->quiet,
                                   .verbose = options->verbose,
                                   .has_debug_servers = options->symbols.search.server != NULL};
}

static int recover(struct options *options)
{
    struct assemble_result saved = {0};
    if (access(options->recover, R_OK))
        return ui_fail("cannot read %s: %s", options->recover, strerror(errno));
    symbol_options_open(&options->symbols);
    int status =
        spool_input_assemble(options->recover, options->output, &options->symbols, options->serving.no_cache, &saved);
    if (status)
        return status;
    struct record_summary summary = summary_of(options);
    record_summary_print(&summary, &saved);
    return serve(options, EXIT_SUCCESS);
}

static int launch_status(int code)
{
    return code == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* The exit status of a shell: that of the command. 0 if prof ended the command because the time of -d was over. A full
 * disk ends the recording, not the command; it is a failure if nothing could be saved. */
static int exit_status(const struct record_result *recorded, const struct assemble_result *saved)
{
    if (recorded->end == RECORD_STOPPED && (recorded->pid || recorded->signal != SIGINT))
        return EXIT_SIGNAL + recorded->signal;
    if (recorded->end == RECORD_SPOOL_FULL && (!recorded->target_ended || !saved->samples))
        return EXIT_FAILURE;
    if (recorded->end == RECORD_STOPPED_BY_CONTROL || !recorded->target_ended || !recorded->pid)
        return EXIT_SUCCESS;
    int status = recorded->target_status;
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The target got its signal before the profile was saved. Gives it another moment to end. */
static void say_if_still_running(const struct record_result *recorded)
{
    enum { STEPS = 20 };
    static const struct timespec step = {.tv_nsec = 50 * 1000 * 1000};
    if (recorded->target_ended || !recorded->pid)
        return;
    for (int i = 0; i < STEPS; i++) {
        if (waitpid(recorded->pid, NULL, WNOHANG) != 0)
            return;
        nanosleep(&step, NULL);
    }
    ui_say("the command is still running as process %d", (int)recorded->pid);
}

static void say_attached(void *context)
{
    const struct options *options = context;
    if (!options->quiet)
        whom_say(&options->whom, options->duration != 0);
}

/* Starts what goes on beside the recording. Returns 0 or an exit status after a message. */
static int start_beside(struct options *options, const char *spool, struct live_view **live,
                        struct push_windows **windows)
{
    struct error err = {0};
    int code = record_push_start(windows, &options->push, spool, &options->symbols, options->serving.no_cache,
                                 options->quiet, &err);
    if (!code && options->live)
        code = live_view_start(live, spool, options->control.keep.bytes || options->control.keep.ns, &options->serving,
                               &options->symbols, &err);
    if (code)
        push_windows_end(*windows, true);
    return code ? ui_fail_error(&err) : 0;
}

static int record(struct options *options)
{
    struct error err = {0};
    bool has_command = options->command[0];
    int code = has_command ? launch_check(options->command[0], &err) : 0;
    if (code) {
        ui_fail_error(&err);
        return launch_status(code);
    }
    char base[PATH_MAX - 32], spool[PATH_MAX];
    spool_base(options, base, sizeof(base));
    if (!options->quiet)
        leftover_say(base);
    snprintf(spool, sizeof(spool), "%s.%d.spool", base, (int)getpid());

    sigset_t signals, mask;
    record_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    struct open_files files;
    open_files_init(&files);
    struct record_options record_options = {.sampler = options->sampler,
                                            .argv = has_command ? options->command : NULL,
                                            .attached = say_attached,
                                            .context = options,
                                            .rate = options->rate,
                                            /* what the system's daemons wait for is of use to few */
                                            .off_cpu = options->off_cpu == CHOICE_YES || options->wakers ||
                                                       (options->off_cpu == CHOICE_DEFAULT && !options->whom.all),
                                            .wakers = options->wakers,
                                            .events = &options->events.list,
                                            .no_cpu_samples = options->events.no_cpu_samples,
                                            .counters = options->counters,
                                            .environment = {.arguments = options->arguments.data,
                                                            .variables = options->variables.data,
                                                            .variable_count = options->variables.length,
                                                            .no_host = options->no_host},
                                            .python = options->python != CHOICE_NO,
                                            .duration = options->duration,
                                            .spool_path = spool,
                                            .recorder = "prof " PROF_VERSION,
                                            .target_mask = &mask,
                                            .output_to_error = is_standard_output(options),
                                            .files = &files};
    whom_apply(&options->whom, &record_options);
    struct snapshot_source source = {.output = options->output,
                                     .spool = spool,
                                     .symbols = &options->symbols,
                                     .files = &files,
                                     .no_cache = options->serving.no_cache};
    record_options.control = options->control;
    control_connect(&record_options.control, &source);
    struct live_view *live = NULL;
    struct push_windows *windows = NULL;
    int status = start_beside(options, spool, &live, &windows);
    if (status) {
        open_files_destroy(&files);
        return status;
    }
    struct record_result recorded;
    code = record_command(&record_options, &recorded, &err);
    if (code) {
        live_view_end(live);
        push_windows_end(windows, false);
        open_files_destroy(&files);
        ui_fail_error(&err);
        return recorded.launch_failed ? launch_status(code) : EXIT_FAILURE;
    }
    /* the reader of our messages may be gone: save all the same. The target has been started already. */
    void (*on_closed_pipe)(int) = signal(SIGPIPE, SIG_IGN);
    if (recorded.end == RECORD_SPOOL_FULL)
        ui_say("recording stopped before the end: %s", recorded.problem.text);

    struct assemble_result saved = {0};
    symbol_options_open(&options->symbols);
    struct record_summary summary = summary_of(options);
    for (size_t i = 0; i < recorded.note_count; i++)
        record_summary_note(&summary, recorded.notes[i]);
    if (recorded.limits[0])
        record_summary_note(&summary, recorded.limits);
    int failed = save_profile(options, spool, recorded.rest_fd, &files, &summary, &saved);
    if (windows)
        push_windows_take_last(windows, recorded.rest_fd);
    if (recorded.rest_fd >= 0)
        close(recorded.rest_fd);
    open_files_destroy(&files);
    if (!options->quiet)
        say_if_still_running(&recorded);
    if (failed) {
        live_view_end(live);
        push_windows_end(windows, false);
        record_summary_print(&summary, NULL);
        ui_say("the recording stays in %s%s; 'prof load %s' shows it", spool,
               recorded.rest_fd >= 0 ? ", without its end, which was only in memory" : "", spool);
        return failed;
    }
    unlink(spool);
    record_summary_print(&summary, &saved);
    record_push_saved(&windows, &options->push, options->output, options->quiet);
    signal(SIGPIPE, on_closed_pipe);
    bool was_shown = live && live_view_show_saved(live, options->output);
    live_view_end(live);
    status = exit_status(&recorded, &saved);
    if (!was_shown)
        status = serve(options, status);
    int pushed = push_windows_end(windows, !options->save_only);
    return status ? status : pushed;
}

int cmd_record(int argc, char **argv)
{
    struct options options = {.output = "profile.json.gz",
                              .push.shared.command = "record",
                              .rate = 1000,
                              .counters = COUNT_ALL,
                              .serving = SERVING_DEFAULTS};
    int status;
    if (!options_parse(&record_table, &options, argc, argv, &status))
        return status;
    status = check_options(&options, argv);
    if (status)
        return status;
    if (is_standard_output(&options)) {
        options.save_only = true;
        if (isatty(STDOUT_FILENO))
            return ui_fail(
                "cannot write a profile to a terminal: redirect the output to a file or a program, or name a file "
                "with -o");
    } else {
        status = check_output(options.output);
        if (status)
            return status;
    }
    status = options.recover ? recover(&options) : record(&options);
    symbol_options_close(&options.symbols);
    whom_options_destroy(&options.whom);
    event_options_destroy(&options.events);
    push_options_destroy(&options.push.shared);
    array_free(&options.variables);
    array_free(&options.arguments);
    return status;
}
