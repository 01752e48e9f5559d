#include "record/metadata.h"

#include "os/clock.h"
#include "base/path.h"
#include "record/environment.h"
#include "sample/cpu_list.h"
#include "spool/info.h"

#include <sys/resource.h>
#include <sys/wait.h>

struct item {
    const char *name;
    uint64_t number;
    const char *text; /* replaces the number, unless NULL */
};

static int write_values(struct spool_writer *spool, const struct item *items, size_t count, struct error *err)
{
    int code = 0;
    for (const struct item *item = items; item < items + count && !code; item++)
        code = item->text ? info_write(spool, item->name, item->text, err)
                          : info_write_number(spool, item->name, item->number, err);
    return code;
}

static int write_notes(struct spool_writer *spool, const char (*notes)[PERF_NOTE_SIZE], size_t count, struct error *err)
{
    char text[PERF_NOTES * (PERF_NOTE_SIZE + 2)] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? "; " : "", notes[i]);
    return info_write(spool, INFO_TIER_NOTES, text, err);
}

/* Kernel addresses are valid only until the next boot. */
static int write_boot(struct spool_writer *spool, struct error *err)
{
    char id[64];
    return info_read_boot(id, sizeof(id)) ? info_write(spool, INFO_BOOT, id, err) : 0;
}

/* Writes the scope of the recording, or "" for the default scope (a command or processes with their children). */
static void describe_scope(const struct record_options *options, char *text, size_t size)
{
    if (options->cgroup)
        snprintf(text, size, "cgroup %s", options->cgroup);
    else
        snprintf(text, size, "%s", options->all ? "all processes" : options->no_inherit ? "no child processes" : "");
}

/* Writes the filters as command-line options. */
static void describe_filters(const struct record_options *options, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; options->cpus && i < options->cpus->length && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32, i ? "," : "--cpu ", options->cpus->data[i]);
    for (size_t i = 0; i < options->thread_name_count && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s--thread '%s'", used ? " " : "", options->thread_names[i]);
}

struct event_info {
    const char *prefix;
    uint64_t number;
};

/* Writes the metadata of event `i` (0-based) under a name INFO_EVENT_... */
static int write_event_infos(struct spool_writer *spool, size_t i, const struct event_info *infos, size_t count,
                             struct error *err)
{
    int code = 0;
    for (size_t k = 0; k < count && !code; k++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%zu", infos[k].prefix, i + 1);
        code = info_write_number(spool, name, infos[k].number, err);
    }
    return code;
}

static int write_events_start(struct spool_writer *spool, const struct event_list *events, struct error *err)
{
    int code = 0;
    for (size_t i = 0; events && i < events->length && !code; i++) {
        char name[64];
        const struct event_info infos[] = {{INFO_EVENT_PERIOD, events->data[i].period}};
        snprintf(name, sizeof(name), INFO_EVENT_NAME "%zu", i + 1);
        code = info_write(spool, name, events->data[i].name, err);
        if (!code)
            code = write_event_infos(spool, i, infos, sizeof(infos) / sizeof(*infos), err);
    }
    return code;
}

static int write_events_end(struct spool_writer *spool, const struct event_list *events,
                            const struct record_event *counts, struct error *err)
{
    int code = 0;
    for (size_t i = 0; events && i < events->length && !code; i++) {
        const struct event_info infos[] = {{INFO_EVENT_COUNT, counts[i].count},
                                           {INFO_EVENT_SAMPLES, counts[i].samples},
                                           {INFO_EVENT_TRUNCATED, counts[i].truncated},
                                           {INFO_EVENT_LOST, counts[i].lost},
                                           {INFO_EVENT_THROTTLED, counts[i].throttled}};
        code = write_event_infos(spool, i, infos, sizeof(infos) / sizeof(*infos), err);
    }
    return code;
}

int metadata_write_start(struct spool_writer *spool, const struct record_options *options,
                         const struct metadata_start *start, const struct record_result *result, struct error *err)
{
    char whom[512], filters[1024];
    describe_scope(options, whom, sizeof(whom));
    describe_filters(options, filters, sizeof(filters));
    const struct item items[] = {
        {INFO_PRODUCT, .text = start->command ? path_get_base_name(start->command[0]) : whom},
        {INFO_SCOPE, .text = whom},
        {INFO_FILTERS, .text = filters},
        {INFO_START_REALTIME, .number = clock_ns(CLOCK_REALTIME) - (monotonic_ns() - start->started)},
        {INFO_START_MONOTONIC, .number = start->started},
        {INFO_INTERVAL, .number = UINT64_C(1000000000) / start->rate},
        {INFO_EVENT, .text = start->event},
        {INFO_TIER, .text = start->tier},
        {INFO_STACK_BYTES, .number = start->stack_size},
        {INFO_RECORDER, .text = options->recorder},
        {INFO_SWITCHES, .number = start->switches},
        {INFO_OFF_CPU, .number = start->off_cpu},
        {INFO_WAKERS, .number = start->wakers},
    };
    int code = start->command ? info_write_words(spool, INFO_COMMAND, start->command, err) : 0;
    if (!code)
        code = write_boot(spool, err);
    if (!code)
        code = write_environment(spool, &options->environment, options->pid_count ? options->pids[0] : 0, err);
    if (!code)
        code = write_notes(spool, result->notes, result->note_count, err);
    if (!code)
        code = write_events_start(spool, options->events, err);
    return code ? code : write_values(spool, items, sizeof(items) / sizeof(*items), err);
}

static void describe_target_end(const struct record_result *result, char *text, size_t size)
{
    if (!result->target_ended) {
        snprintf(text, size, "%s", result->has_target ? "still running" : "");
    } else if (!result->pid) {
        snprintf(text, size, "ended");
    } else if (WIFSIGNALED(result->target_status)) {
        const char *name = sigabbrev_np(WTERMSIG(result->target_status));
        snprintf(text, size, "killed by signal %d%s%s", WTERMSIG(result->target_status), name ? ", SIG" : "",
                 name ? name : "");
    } else {
        snprintf(text, size, "exit status %d", WEXITSTATUS(result->target_status));
    }
}

int metadata_write_end(struct spool_writer *spool, const struct record_options *options,
                       const struct record_result *result, struct error *err)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    char end[64];
    describe_target_end(result, end, sizeof(end));
    const struct item items[] = {
        {INFO_END_MONOTONIC, .number = result->stopped ? result->stopped : monotonic_ns()},
        {INFO_CPU_TIME, .number = result->cpu_time},
        {INFO_TARGET_CPU, .number = result->target_cpu},
        {INFO_SURVIVORS, .number = result->survivors},
        {INFO_SURVIVOR_NAMES, .text = result->survivor_names},
        {INFO_FOLLOWED, .number = options->follow_daemons},
        {INFO_WAITS, .number = result->waits},
        {INFO_WAITS_TRUNCATED, .number = result->waits_truncated},
        {INFO_WAITS_WITHOUT_STACK, .number = result->waits_without_stack},
        {INFO_WAIT_CHECK_INTERVAL, .number = options->off_cpu ? result->check_interval : 0},
        {INFO_PYTHON_SAMPLES, .number = result->python_samples},
        {INFO_PYTHON_READ, .number = result->python_read},
        {INFO_PYTHON_LATE, .number = result->python_late},
        {INFO_EXCLUDED_SAMPLES, .number = result->left_out},
        {INFO_SAMPLES_LOST, .number = result->lost},
        {INFO_THROTTLED, .number = result->throttled},
        {INFO_LIMIT_PERIODS, .number = result->cpu_limit.periods},
        {INFO_LIMIT_THROTTLED, .number = result->cpu_limit.throttled},
        {INFO_BY_LIBUNWIND, .number = result->completed_by_libunwind},
        {INFO_RECORDER_CPU, .number = result->recorder_cpu},
        {INFO_RECORDER_MEMORY, .number = (uint64_t)usage.ru_maxrss * 1024},
        {INFO_EXIT, .text = end},
        {INFO_LIMITS, .text = result->limits},
    };
    int code =
        write_notes(spool, result->notes, result->note_count, err); /* the end of the recording may have added notes */
    if (!code)
        code = write_values(spool, items, sizeof(items) / sizeof(*items), err);
    if (!code)
        code = write_events_end(spool, options->events, result->events, err);
    for (size_t i = 0; i < UNWIND_ENDS && !code; i++) {
        char name[64];
        snprintf(name, sizeof(name), INFO_TRUNCATED "%s", unwind_ends[i].key);
        uint64_t count = result->truncated_by_reason[i];
        code = count ? info_write_number(spool, name, count, err) : 0;
    }
    return code;
}
