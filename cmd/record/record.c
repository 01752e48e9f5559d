/*
 * `prof record`: run a command, sample it until it ends, save the profile, serve it.
 *
 * While the command runs, the recording grows in a spool file beside the output. At the end, prof makes the profile
 * from the spool file. If prof cannot save the profile (disk full), the spool file stays, and --recover makes the
 * profile later. --recover also reads the spool file of a killed recorder.
 */
#include "cmd/common/commands.h"
#include "cmd/common/directories.h"
#include "cmd/record/leftover.h"
#include "cmd/record/record_line.h"
#include "cmd/record/remote.h"
#include "cmd/live.h"
#include "cmd/push/push_windows.h"
#include "cmd/record/record_summary.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/ui.h"

#include "assemble/assemble.h"
#include "os/file_output.h"
#include "process/launch.h"
#include "record/record.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

/* ---- the files ---- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Checks before the recording that prof can save its profile. */
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
        return ui_fail("cannot save in %s: name a file in this directory, such as %sprofile.json.gz", output, output);
    if (!is_directory(directory))
        return ui_fail("cannot save %s: the directory %s does not exist", output, directory);
    if (access(directory, W_OK | X_OK))
        return ui_fail("cannot save %s: the directory %s is not writable: %s", output, directory, strerror(errno));
    if (is_directory(output))
        return ui_fail("cannot save %s: this path is a directory; name a file in it, such as %s/profile.json.gz",
                       output, output);
    if (stat(output, &info) == 0 && !S_ISREG(info.st_mode))
        return ui_fail("cannot save %s: this is not a regular file", output);
    snprintf(old, sizeof(old), "%s.old", output);
    if (is_directory(old) && stat(output, &info) == 0)
        return ui_fail("cannot save %s: the earlier file would become %s, which is a directory", output, old);
    return file_output_check(output, &err) ? ui_fail_with_error(&err) : 0;
}

/* Finds the common start of the names of spool files: the path of the output or, without an output, of a temporary
 * file. */
static void get_spool_base(const struct record_line *options, char *base, size_t size)
{
    const char *directory = getenv("TMPDIR");
    if (record_line_is_piped(options))
        snprintf(base, size, "%s/prof", directory && directory[0] == '/' ? directory : "/tmp");
    else
        snprintf(base, size, "%s", options->output);
}

static int save_profile(const struct record_line *options, const char *spool, int rest, const struct open_files *files,
                        struct record_summary *summary, struct assemble_result *saved)
{
    struct directory_path path;
    char rest_path[64];
    snprintf(rest_path, sizeof(rest_path), "/proc/self/fd/%d", rest);
    struct assemble_options assemble = {.cache_directory =
                                            options->serving.no_cache ? NULL : find_cache_directory(&path),
                                        .files = files,
                                        .rest = rest >= 0 ? rest_path : NULL,
                                        .search = &options->symbols.search,
                                        .keeps_old = true,
                                        .listener = make_summary_listener(summary)};
    struct error err = {0};
    if (assemble_recording(spool, options->output, &assemble, saved, &err) == 0)
        return 0;
    return ui_fail_with_error(&err);
}

/* ---- commands ---- */

/* Returns whether to serve the saved profile. Without a terminal, no user reads the address or presses Ctrl+C, so prof
 * serves only if the command line has an option of the server. Continuous integrations set CI=true, some with a
 * terminal. */
static bool wants_server(const struct record_line *options)
{
    const char *ci = getenv("CI");
    bool is_automatic = !isatty(STDERR_FILENO) || (ci && (!strcmp(ci, "true") || !strcmp(ci, "1")));
    return !options->save_only && (!is_automatic || has_server_options(&options->serving));
}

static int serve(struct record_line *options, int status)
{
    if (!wants_server(options)) {
        if (!options->save_only && !options->quiet)
            ui_print_message("'prof load %s' shows it", options->output);
        return status;
    }
    int failed = options->host ? load_profile(options->output, &options->serving, &options->symbols)
                               : serve_and_wait(options->output, &options->serving, &options->symbols);
    return failed ? failed : status;
}

static struct record_summary make_summary(const struct record_line *options)
{
    return (struct record_summary){.output = options->shown_output,
                                   .quiet = options->quiet,
                                   .verbose = options->verbose,
                                   .has_debug_servers = options->symbols.search.server != NULL};
}

static int recover_spool(struct record_line *options)
{
    struct assemble_result saved = {0};
    if (access(options->recover, R_OK))
        return ui_fail("cannot read %s: %s", options->recover, strerror(errno));
    symbol_options_open(&options->symbols);
    int status =
        spool_input_assemble(options->recover, options->output, &options->symbols, options->serving.no_cache, &saved);
    if (status)
        return status;
    struct record_summary summary = make_summary(options);
    record_summary_print(&summary, &saved);
    return serve(options, EXIT_SUCCESS);
}

static int get_launch_status(int code)
{
    return code == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Returns the command's exit status in the convention of shells, or 0 if prof ended the command because the time of
 * -d was over. A full disk ends the recording, not the command; it is a failure if nothing could be saved. */
static int get_exit_status(const struct record_result *recorded, const struct assemble_result *saved)
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

/* prof has already sent the command a signal. Waits up to 1 s for the command to end, and prints its pid if it is still
 * running. */
static void print_running_command(const struct record_result *recorded)
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
    ui_print_message("the command is still running as process %d", (int)recorded->pid);
}

static void print_targets(void *context)
{
    const struct record_line *options = context;
    if (!options->quiet)
        target_options_print(&options->targets, options->duration != 0);
}

/* The processes that run beside the recorder: the live page and the pusher. */
struct companions {
    struct companion *live;    /* NULL without --live */
    struct companion *windows; /* NULL without --push */
};

/* Starts to push windows (--every) or, with `saved`, the saved profile. Does nothing if the options request another
 * time. */
static int start_pusher(struct companions *companions, struct record_line *options, const char *spool,
                        const char *saved, struct error *err)
{
    const struct push_windows_options push = {.spool = spool,
                                              .push = &options->push.shared,
                                              .symbols = &options->symbols,
                                              .every = options->push.every,
                                              .no_cache = options->serving.no_cache,
                                              .quiet = options->quiet};
    bool has_windows = options->push.every != 0;
    return options->push.address && has_windows == !saved ? push_windows_start(&companions->windows, &push, saved, err)
                                                          : 0;
}

/* Returns 0 or an exit status after a message. */
static int start_companions(struct companions *companions, struct record_line *options, const char *spool)
{
    struct error err = {0};
    int code = start_pusher(companions, options, spool, NULL, &err);
    if (!code && options->live)
        code = live_view_start(&companions->live, spool, options->control.keep.bytes || options->control.keep.ns,
                               &options->serving, &options->symbols, &err);
    if (!code)
        return EXIT_SUCCESS;
    push_windows_end(companions->windows, true);
    companions->windows = NULL;
    return ui_fail_with_error(&err);
}

static struct record_options make_recorder_options(struct record_line *options, const char *spool)
{
    struct record_options recorder = {.sampler = options->sampler,
                                      .argv = options->command[0] ? options->command : NULL,
                                      .attached = print_targets,
                                      .context = options,
                                      .rate = options->rate,
                                      /* with -a, few users need the waits of all daemons */
                                      .off_cpu = options->off_cpu == CHOICE_YES || options->wakers ||
                                                 (options->off_cpu == CHOICE_DEFAULT && !options->targets.all),
                                      .wakers = options->wakers      ? WAKERS_REQUESTED
                                                : options->no_wakers ? WAKERS_NO
                                                                     : WAKERS_IF_PERMITTED,
                                      .events = &options->events.list,
                                      .no_cpu_samples = options->events.no_cpu_samples,
                                      .counters = options->counters,
                                      .environment = {.arguments = options->arguments.data,
                                                      .variables = options->variables.data,
                                                      .variable_count = options->variables.length,
                                                      .no_machine_name = options->no_machine_name},
                                      .python = options->python != CHOICE_NO,
                                      .duration = options->duration,
                                      .spool_path = spool,
                                      .recorder = "prof " PROF_VERSION,
                                      .output_to_error = record_line_is_piped(options),
                                      .control = options->control};
    target_options_apply(&options->targets, &recorder);
    return recorder;
}

/* Saves the profile and prints its summary; on failure, leaves the spool. Returns 0 or the exit status. */
static int save(struct record_line *options, const char *spool, const struct open_files *files,
                struct companions *companions, const struct record_result *recorded, struct assemble_result *saved)
{
    symbol_options_open(&options->symbols);
    struct record_summary summary = make_summary(options);
    for (size_t i = 0; i < recorded->note_count; i++)
        record_summary_add_note(&summary, recorded->notes[i]);
    if (recorded->limits[0])
        record_summary_add_note(&summary, recorded->limits);
    int failed = save_profile(options, spool, recorded->rest_fd, files, &summary, saved);
    if (companions->windows)
        push_windows_send_last(companions->windows, recorded->rest_fd);
    if (recorded->rest_fd >= 0)
        close(recorded->rest_fd);
    if (!options->quiet)
        print_running_command(recorded);
    record_summary_print(&summary, failed ? NULL : saved);
    if (failed)
        ui_print_message("the recording stays in %s%s; 'prof load %s' shows it", spool,
                         recorded->rest_fd >= 0 ? ", without its end, which was only in memory" : "", spool);
    else
        unlink(spool);
    return failed;
}

/* Records into the spool and saves the profile. Returns 0 if the profile is saved, or the exit status. */
static int record_and_save(struct record_line *options, const char *spool, struct companions *companions,
                           struct record_result *recorded, struct assemble_result *saved)
{
    struct error err = {0};
    sigset_t signals, mask;
    list_recorder_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    struct open_files files;
    open_files_init(&files);
    struct record_options recorder = make_recorder_options(options, spool);
    recorder.target_mask = &mask;
    recorder.files = &files;
    struct snapshot_source source = {.output = options->output,
                                     .spool = spool,
                                     .symbols = &options->symbols,
                                     .files = &files,
                                     .no_cache = options->serving.no_cache};
    control_connect(&recorder.control, &source);
    int code, status = start_companions(companions, options, spool);
    if (status)
        goto out;
    code = record_command(&recorder, recorded, &err);
    if (code) {
        ui_fail_with_error(&err);
        status = recorded->launch_failed ? get_launch_status(code) : EXIT_FAILURE;
        goto out;
    }
    /* The reader of prof's messages may have ended: prof ignores SIGPIPE and saves the profile. The target is already
     * running, so it does not inherit the ignored signal. */
    void (*on_closed_pipe)(int) = signal(SIGPIPE, SIG_IGN);
    if (recorded->end == RECORD_SPOOL_FULL)
        ui_print_message("recording stopped before the end: %s", recorded->problem.text);
    status = save(options, spool, &files, companions, recorded, saved);
    if (!status) {
        if (start_pusher(companions, options, NULL, options->output, &err))
            ui_fail_with_error(&err);
        signal(SIGPIPE, on_closed_pipe);
    }
out:
    open_files_destroy(&files);
    return status;
}

static int record(struct record_line *options)
{
    struct error err = {0};
    int code = options->command[0] ? launch_check_program(options->command[0], &err) : 0;
    if (code) {
        ui_fail_with_error(&err);
        return get_launch_status(code);
    }
    char base[PATH_MAX - 32], spool[PATH_MAX];
    get_spool_base(options, base, sizeof(base));
    if (!options->quiet)
        print_leftover(base);
    snprintf(spool, sizeof(spool), "%s.%d.spool", base, (int)getpid());

    struct companions companions = {.live = NULL};
    struct record_result recorded;
    struct assemble_result saved = {0};
    int status = record_and_save(options, spool, &companions, &recorded, &saved);
    bool is_saved = status == EXIT_SUCCESS, was_shown = false;
    if (is_saved) {
        was_shown = companions.live && live_view_show_saved(companions.live, options->output);
        status = get_exit_status(&recorded, &saved);
    }
    companion_end(companions.live);
    if (is_saved && !was_shown)
        status = serve(options, status);
    int pushed = push_windows_end(companions.windows, is_saved && !options->save_only);
    return status ? status : pushed;
}

static int record_on_host(struct record_line *options)
{
    bool is_saved;
    int status = record_remotely(options, &is_saved);
    if (!is_saved)
        return status;
    symbol_options_open(&options->symbols);
    return serve(options, status);
}

int cmd_record(int argc, char **argv)
{
    struct record_line options;
    int status;
    if (!record_line_parse(&options, argc, argv, &status))
        goto out;
    if (record_line_is_piped(&options) && isatty(STDOUT_FILENO)) {
        status = ui_fail(
            "cannot write a profile to a terminal: redirect the output to a file or a program, or name a file with -o");
        goto out;
    }
    if (record_line_is_piped(&options))
        options.save_only = true;
    else
        status = check_output(options.output);
    if (!status)
        status = options.recover ? recover_spool(&options) : options.host ? record_on_host(&options) : record(&options);
out:
    record_line_destroy(&options);
    return status;
}
