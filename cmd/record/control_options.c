#include "cmd/record/control_options.h"

#include "cmd/common/directories.h"
#include "cmd/common/quantities.h"
#include "cmd/common/ui.h"

#include "assemble/assemble.h"

#include <unistd.h>

enum { MOST_ITERATIONS = 1000 };

/* ---- options ---- */

static int parse_last(const struct option_use *use)
{
    struct control_options *options = use->group;
    return parse_time(use->value, &options->keep.ns) || parse_size(use->value, &options->keep.bytes)
               ? 0
               : ui_usage(
                     "record",
                     "'%s' is neither a time (ms, s, min, h) nor a size (K, M, G); give a value such as 30s or 64M",
                     use->value);
}

static int parse_delay(const struct option_use *use)
{
    struct control_options *options = use->group;
    return parse_seconds(use->value, &options->delay)
               ? 0
               : ui_usage("record", "'%s' is not a number of seconds", use->value);
}

const struct option_row control_option_rows[] = {
    {"paused", 0, NULL, "start paused, until 'prof ctl resume' or SIGUSR2",
     OPTION_FLAG(struct control_options, paused)},
    {"delay", 0, "SECONDS", "start with a pause of this time, after which the time of -d begins", .parse = parse_delay},
    {"iterations", 0, "N", "run COMMAND N times in sequence, into one profile; stop at the first failure",
     OPTION_NUMBER(struct control_options, iterations, MOST_ITERATIONS)},
    {"last", 0, "TIME|SIZE",
     "flight recorder: keep only the newest 30s, 5min or 64M; 'prof ctl snapshot' or SIGUSR1 saves their profile at any time",
     .parse = parse_last},
    {"max-size", 0, "SIZE", "stop recording at this size (500M); COMMAND continues",
     OPTION(option_set_size, struct control_options, max_size)},
    {.name = NULL},
};

int control_options_check(const struct control_options *options, bool has_command, bool is_recovery)
{
    bool keeps_last = options->keep.bytes || options->keep.ns;
    if (is_recovery && (keeps_last || options->max_size || options->paused || options->delay || options->iterations))
        return ui_usage(
            "record", "--recover records nothing, and takes no --last, --max-size, --paused, --delay or --iterations");
    if (options->iterations && !has_command)
        return ui_usage("record", "--iterations needs a command to run");
    if (options->paused && options->delay)
        return ui_usage(
            "record",
            "--paused and --delay exclude each other: --paused starts paused until 'prof ctl resume', --delay for a time");
    if (keeps_last && options->max_size)
        return ui_usage("record",
                        "--last and --max-size exclude each other, because both limit the size of the recording");
    return 0;
}

/* ---- snapshots and messages during a recording ---- */

static void print_notice(void *context, const char *sentence)
{
    (void)context;
    ui_print_message("%s", sentence);
}

/* Chooses the name of a snapshot: for the output "dir/name.json.gz", the first free name of the form
 * "dir/name-2.json.gz". */
static bool choose_name(const char *output, char *name, size_t size)
{
    enum { MOST_SNAPSHOTS = 100000 };
    const char *slash = strrchr(output, '/');
    const char *base = slash ? slash + 1 : output;
    const char *dot = strstr(base, ".json");
    if (!dot)
        dot = base + strlen(base);
    for (int i = 1; i < MOST_SNAPSHOTS; i++) {
        int length = snprintf(name, size, "%.*s-%d%s", (int)(dot - output), output, i, dot);
        if (length < 0 || (size_t)length >= size)
            return false;
        if (access(name, F_OK))
            return true;
    }
    return false;
}

static bool make_snapshot(void *context, char *answer, size_t size)
{
    struct snapshot_source *source = context;
    struct directory_path path;
    struct error err = {0};
    struct assemble_result result;
    char name[PATH_MAX];
    if (!choose_name(source->output, name, sizeof(name))) {
        snprintf(answer, size, "cannot find a free name for a snapshot of %s", source->output);
        return false;
    }
    struct assemble_options options = {.threads = 1, /* one thread, because the target needs the other CPUs */
                                       .cache_directory = source->no_cache ? NULL : find_cache_directory(&path),
                                       .files = source->files,
                                       .search = symbol_options_open(source->symbols)};
    bool ok = assemble_recording(source->spool, name, &options, &result, &err) == 0;
    if (ok)
        snprintf(answer, size, "%s: %" PRIu64 " samples, %.2f s", name, result.samples, (double)result.length / 1e9);
    else
        snprintf(answer, size, "%s", err.text);
    ui_print_message(ok ? "snapshot %s" : "no snapshot: %s", answer);
    return ok;
}

void control_connect(struct control_options *options, struct snapshot_source *source)
{
    options->has_socket = true;
    options->notice = print_notice;
    if (strcmp(source->output, "-") != 0)
        options->snapshot = make_snapshot;
    options->context = source;
}
