/*
 * `prof top PID`: samples a running process, and prints its functions, threads and waits of the last second once a
 * second.
 *
 * A child process of low priority assembles each window of the growing spool file (assemble/recording_window.h), and
 * prints it with the code of prof report. The spool file is deleted at the end.
 */
#include "cmd/common/commands.h"
#include "cmd/common/companion.h"
#include "cmd/common/symbol_options.h"
#include "cmd/common/ui.h"
#include "cmd/report/report_command.h"
#include "cmd/report/report_kinds.h"
#include "cmd/report/report_text.h"
#include "cmd/report/report_threads.h"
#include "cmd/report/report_tree.h"

#include "assemble/assemble.h"
#include "os/clock.h"
#include "record/record.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { PERIOD_MS = 1000, LINES_DEFAULT = 40, HEAD_LINES = 14 };

static const uint64_t KEPT_NS = UINT64_C(60000000000); /* the spool file has the samples of the last minute */

struct top {
    struct symbol_options symbols;
    pid_t pid, recorder;
    struct directory_path spool;
    struct recording_window window;
};

/* ---- one window ---- */

static size_t count_rows(void)
{
    struct winsize size = {0};
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > HEAD_LINES + 2;
    return ((is_known ? size.ws_row : LINES_DEFAULT) - HEAD_LINES) / 2;
}

/* Prints one kind of report of the profile at `path`. Sets *has_waits. */
static int print_report(const char *path, enum report_kind kind, bool *has_waits)
{
    struct report report = report_make(&report_table, false);
    struct error err = {0};
    report.options.path = path;
    report.options.kind = kind;
    report.options.limit = count_rows();
    report.options.is_live = true;
    int status = report_prepare(&report), code = 0;
    if (!status) {
        report_detect_terminal(&report);
        report_measure_figures(&report);
        if (kind == REPORT_WAITS)
            code = report_print_waits(&report, &err);
        else if (!(code = report_print_busy_threads(&report, &err)) && report.total != 0)
            code = report_print_functions(&report, &err);
        *has_waits = engine_has_waits(report.engine);
    }
    report_destroy(&report);
    return code ? ui_fail_with_error(&err) : status;
}

/* Prints the next window. A window without samples leaves the terminal as it is. */
static void print_window(struct top *top)
{
    struct directory_path cache;
    struct assemble_options options = {.threads = 1, /* the target needs the other CPUs */
                                       .cache_directory = find_cache_directory(&cache),
                                       .search = &top->symbols.search,
                                       .window = &top->window};
    struct assemble_result result;
    struct error ignored = {0};
    char path[64];
    bool has_waits = false;
    if (assemble_recording(top->spool.text, NULL, &options, &result, &ignored))
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", result.memory_fd);
    if (isatty(STDOUT_FILENO))
        ui_write("\033[H\033[2J", 7);
    ui_print("process %d, %.1f s (q quits)\n\n", (int)top->pid, (top->window.to - top->window.from) / 1000);
    if (!print_report(path, REPORT_FUNCTIONS, &has_waits) && has_waits) {
        ui_print("\n");
        print_report(path, REPORT_WAITS, &has_waits);
    }
    ui_print("\n");
    fflush(stdout);
    close(result.memory_fd);
}

/* ---- the terminal ---- */

/* Waits for a second, a key, or the end of the recorder. Returns false at the end, or after q. */
static bool wait_for_period(int socket)
{
    uint64_t end = monotonic_ns() + PERIOD_MS * UINT64_C(1000000);
    struct pollfd waits[] = {{.fd = socket, .events = POLLIN},
                             {.fd = isatty(STDIN_FILENO) ? STDIN_FILENO : -1, .events = POLLIN}};
    char key = 0;
    for (uint64_t now; (now = monotonic_ns()) < end;) {
        poll(waits, 2, (int)((end - now) / 1000000) + 1);
        if (waits[0].revents || (waits[1].revents && (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q')))
            return false;
    }
    return true;
}

static int follow_recording(void *context, int socket)
{
    struct top *top = context;
    symbol_options_open(&top->symbols);
    while (wait_for_period(socket))
        print_window(top);
    recording_window_destroy(&top->window);
    kill(top->recorder, SIGTERM); /* a job in the background may ignore SIGINT */
    return EXIT_SUCCESS;
}

/* Makes the terminal pass on each key at once, and stores its settings. Returns false if the standard input is no
 * terminal. */
static bool read_single_keys(struct termios *before)
{
    if (tcgetattr(STDIN_FILENO, before))
        return false;
    struct termios single = *before;
    single.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    return tcsetattr(STDIN_FILENO, TCSANOW, &single) == 0;
}

/* ---- the recording ---- */

static int record_process(struct top *top, struct error *err)
{
    struct companion *companion;
    struct record_result result = {.rest_fd = -1};
    const struct record_options options = {.pids = &top->pid,
                                           .pid_count = 1,
                                           .rate = 1000,
                                           .off_cpu = true,
                                           .python = true,
                                           .spool_path = top->spool.text,
                                           .recorder = "prof " PROF_VERSION,
                                           .environment = {.no_machine_name = true},
                                           .control = {.keep = {.ns = KEPT_NS}}};
    sigset_t signals;
    list_recorder_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int code = companion_start(&companion, follow_recording, top, "print the functions", err);
    if (code)
        return code;
    code = record_command(&options, &result, err);
    if (!code && result.problem.text[0])
        code = error_set(err, EIO, "%s", result.problem.text);
    if (result.rest_fd >= 0)
        close(result.rest_fd);
    companion_end(companion);
    return code;
}

static int run_top(struct top *top)
{
    struct termios before;
    struct error err = {0};
    if (make_temporary_path(&top->spool, "spool", &err))
        return ui_fail_with_error(&err);
    bool is_terminal = read_single_keys(&before);
    int code = record_process(top, &err);
    if (is_terminal)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    remove_temporary_path(&top->spool);
    return code ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}

static const struct option_group option_groups[] = {
    {.rows = symbol_option_rows, .offset = offsetof(struct top, symbols)},
    {.rows = NULL},
};

static const char usage[] = "usage: prof top [OPTIONS] PID\n"
                            "\n"
                            "Samples a running process, and prints its functions by self time, its threads and its\n"
                            "waits of the last second, once a second. q or Ctrl+C ends prof, which leaves no file.\n";

const struct option_table top_table = {.command = "top", .usage = usage, .groups = option_groups};

int cmd_top(int argc, char **argv)
{
    struct top top = {.recorder = getpid()};
    int status;
    if (!options_parse(&top_table, &top, argc, argv, &status))
        return status;
    char none[] = "", *end = none;
    long pid = argc - optind == 1 ? strtol(argv[optind], &end, 10) : 0;
    if (*end || pid < 1 || pid > INT_MAX)
        return ui_usage("top", "give one process ID");
    top.pid = (pid_t)pid;
    status = run_top(&top);
    symbol_options_close(&top.symbols);
    return status;
}
