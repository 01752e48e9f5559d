#include "cmd/common/symbol_options.h"

#include "cmd/common/directories.h"
#include "cmd/common/ui.h"

#include <signal.h>
#include <sys/stat.h>

static int add_directory(const struct option_use *use)
{
    struct symbol_options *options = use->group;
    struct stat info;
    if (stat(use->value, &info) != 0 || !S_ISDIR(info.st_mode))
        return ui_usage(use->command, "--symbol-dir: the directory %s does not exist", use->value);
    return array_push(&options->directories, use->value) ? 0 : ui_fail("out of memory");
}

static int parse_debuginfod(const struct option_use *use)
{
    struct symbol_options *options = use->group;
    options->urls = use->value;
    return strstr(use->value, "://")
               ? 0
               : ui_usage(use->command, "'%s' is not the address of a debuginfod server", use->value);
}

const struct option_row symbol_option_rows[] = {
    {"symbol-dir", 0, "DIR", "search DIR for debug files before other directories; can be given several times",
     .parse = add_directory, .is_local = true},
    {"debuginfod", 0, "URL", "download missing debug files and sources from URL (DEBUGINFOD_URLS)",
     .parse = parse_debuginfod},
    {.name = NULL},
};

bool symbol_options_are_set(const struct symbol_options *options)
{
    return options->directories.length || options->urls;
}

/* ---- progress and Ctrl+C during downloads ---- */

/* Consumes a pending SIGINT; other signals that end prof stay pending for their handlers. */
static bool is_interrupted(void)
{
    static const struct timespec at_once = {0};
    sigset_t interrupt, pending;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    if (sigpending(&pending) != 0)
        return false;
    if (sigismember(&pending, SIGINT))
        return sigtimedwait(&interrupt, NULL, &at_once) == SIGINT;
    return sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP);
}

static bool print_fetch_progress(void *context, const struct debug_server_progress *progress)
{
    const struct symbol_options *options = context;
    const char *hint = options->leave_interrupts ? "" : " (Ctrl+C skips it)";
    bool stop = !options->leave_interrupts && is_interrupted();
    if (stop)
        ui_print_message("stopped downloading debug files; the symbols in these files are missing");
    else if (progress->ended)
        ui_show_progress("%s", "");
    else if (progress->total)
        ui_show_progress("downloading the debug file of %.40s, %.1f of %.1f MB%s", progress->name,
                         (double)progress->done / 1e6, (double)progress->total / 1e6, hint);
    else
        ui_show_progress("searching for the debug file of %.40s%s", progress->name, hint);
    return !stop;
}

/* Raises the limit of open files: each library may need several. */
static void raise_file_limit(const struct rlimit *before)
{
    const rlim_t enough = 1 << 16;
    struct rlimit raised = *before;
    raised.rlim_cur = before->rlim_max < enough ? before->rlim_max : enough;
    if (raised.rlim_cur > before->rlim_cur)
        setrlimit(RLIMIT_NOFILE, &raised);
}

const struct debug_search *symbol_options_open(struct symbol_options *options)
{
    struct error err = {""};
    options->is_open = getrlimit(RLIMIT_NOFILE, &options->files_before) == 0;
    if (options->is_open)
        raise_file_limit(&options->files_before);
    const char *urls = getenv("DEBUGINFOD_URLS");
    options->search.directories = options->directories.data;
    options->search.directory_count = options->directories.length;
    options->search.perf_cache = find_perf_cache_directory(&options->perf_cache);
    if (options->urls && setenv("DEBUGINFOD_URLS", options->urls, 1) == 0)
        urls = options->urls;
    if (!urls || !urls[strspn(urls, " ")])
        return &options->search;
    struct debug_server_options server = {.progress = print_fetch_progress, .context = options};
    if (debug_server_new(&options->search.server, &server, &err) && options->urls)
        ui_fail_with_error(&err);
    return &options->search;
}

void symbol_options_stop(struct symbol_options *options)
{
    if (options->search.server)
        debug_server_stop(options->search.server);
}

void symbol_options_block_interrupts(const struct symbol_options *options, bool blocks)
{
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    if (options->search.server || !blocks)
        sigprocmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &interrupt, NULL);
}

void symbol_options_close(struct symbol_options *options)
{
    if (options->search.server && debug_server_describe_problem(options->search.server)[0])
        ui_print_message("%s", debug_server_describe_problem(options->search.server));
    debug_server_free(options->search.server);
    array_free(&options->directories);
    if (options->is_open)
        setrlimit(RLIMIT_NOFILE, &options->files_before);
    options->is_open = false;
    options->search = (struct debug_search){0};
}
