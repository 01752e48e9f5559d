#include "cmd/record/control_options.h"

#include "cmd/common/directories.h"
#include "cmd/common/quantities.h"
#include "cmd/common/ui.h"

#include "assemble/assemble.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ITERATIONS = 1000 };

/* ---- options ---- */

static bool parse_count(const char *text, uint32_t *count)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < 1 || value > MOST_ITERATIONS)
        return false;
    *count = (uint32_t)value;
    return true;
}

int control_parse_option(struct control_options *options, int option)
{
    switch (option) {
    case OPTION_LAST:
        return parse_time(optarg, &options->keep.ns) || parse_size(optarg, &options->keep.bytes)
                   ? 0
                   : ui_usage("record", "'%s' is neither a time (ms, s, min, h) nor a size (K, M, G): give 30s or 64M",
                              optarg);
    case OPTION_MAX_SIZE:
        return parse_size(optarg, &options->max_size)
                   ? 0
                   : ui_usage("record", "'%s' is not a size (K, M, G), such as 500M", optarg);
    case OPTION_DELAY:
        return parse_seconds(optarg, &options->delay) ? 0
                                                      : ui_usage("record", "'%s' is not a number of seconds", optarg);
    case OPTION_ITERATIONS:
        return parse_count(optarg, &options->iterations)
                   ? 0
                   : ui_usage("record", "'%s' is not a number of runs from 1 to %d", optarg, MOST_ITERATIONS);
    case OPTION_PAUSED:
        options->paused = true;
        return 0;
    default:
        return -1;
    }
}

int control_check(const struct control_options *options, bool has_command, bool is_recovery)
{
    bool keeps_last = options->keep.bytes || options->keep.ns;
    if (is_recovery && (keeps_last || options->max_size || options->paused || options->delay || options->iterations))
        return ui_usage("record", "--recover records nothing, and takes no --last, --max-size, --paused, --delay or "
                                  "--iterations");
    if (options->iterations && !has_command)
        return ui_usage("record", "--iterations needs a command to run");
    if (options->paused && options->delay)
        return ui_usage("record", "--paused starts paused until 'prof ctl resume', --delay for a time: give one of "
                                  "them");
    if (keeps_last && options->max_size)
        return ui_usage("record", "--last and --max-size exclude each other: both limit the size of the recording");
    return 0;
}

/* ---- while it records ---- */

static void say(void *context, const char *sentence)
{
    (void)context;
    ui_say("%s", sentence);
}

/* "dir/name-2.json.gz" of "dir/name.json.gz": the first that does not exist. */
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
    struct assemble_options options = {.threads = 1, /* the target's processors are not ours */
                                       .cache_directory = source->no_cache ? NULL : cache_directory(&path),
                                       .files = source->files,
                                       .search = symbol_options_open(source->symbols)};
    bool ok = assemble_recording(source->spool, name, &options, &result, &err) == 0;
    if (ok)
        snprintf(answer, size, "%s: %" PRIu64 " samples, %.2f s", name, result.samples, (double)result.length / 1e9);
    else
        snprintf(answer, size, "%s", err.text);
    ui_say(ok ? "snapshot %s" : "no snapshot: %s", answer);
    return ok;
}

void control_connect(struct control_options *options, struct snapshot_source *source)
{
    options->has_socket = true;
    options->notice = say;
    if (strcmp(source->output, "-") != 0)
        options->snapshot = make_snapshot;
    options->context = source;
}
