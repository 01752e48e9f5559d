#include "record/facts.h"

#include "base/clock.h"
#include "record/info.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int write_notes(struct spool_writer *spool, const struct perf_events *events, struct error *err)
{
    char text[PERF_NOTES * (PERF_NOTE_SIZE + 2)] = "";
    size_t used = 0;
    for (size_t i = 0; i < events->note_count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? "; " : "", events->notes[i]);
    return info_write(spool, INFO_TIER_NOTES, text, err);
}

int facts_write_start(struct spool_writer *spool, const struct record_options *options,
                      const struct perf_events *events, uint64_t started, struct error *err)
{
    int code = info_write_command(spool, options->argv, err);
    if (!code)
        code = info_write(spool, INFO_PRODUCT, base_name(options->argv[0]), err);
    if (!code)
        code =
            info_write_number(spool, INFO_START_REALTIME, clock_ns(CLOCK_REALTIME) - (monotonic_ns() - started), err);
    if (!code)
        code = info_write_number(spool, INFO_START_MONOTONIC, started, err);
    if (!code)
        code = info_write_number(spool, INFO_INTERVAL, UINT64_C(1000000000) / events->rate, err);
    if (!code)
        code = info_write(spool, INFO_EVENT, events->hardware ? "cycles" : "cpu-clock", err);
    if (!code)
        code = info_write(spool, INFO_TIER, events->tier == PERF_TIER_KERNEL_AND_USER ? "kernel and user" : "user only",
                          err);
    if (!code)
        code = write_notes(spool, events, err);
    if (!code)
        code = info_write_number(spool, INFO_STACK_BYTES, events->stack_size, err);
    if (!code)
        code = info_write(spool, INFO_RECORDER, options->recorder, err);
    return code;
}

static void describe_end(const struct record_result *result, char *text, size_t size)
{
    if (!result->target_ended) {
        snprintf(text, size, "still running");
    } else if (WIFSIGNALED(result->target_status)) {
        const char *name = sigabbrev_np(WTERMSIG(result->target_status));
        snprintf(text, size, "killed by signal %d%s%s", WTERMSIG(result->target_status), name ? ", SIG" : "",
                 name ? name : "");
    } else {
        snprintf(text, size, "exit status %d", WEXITSTATUS(result->target_status));
    }
}

static const struct {
    enum unwind_end end;
    const char *name;
} cut_infos[] = {
    {UNWIND_STACK_SHORT, INFO_CUT_STACK_SHORT}, {UNWIND_NO_RULE, INFO_CUT_NO_RULE},
    {UNWIND_NO_MODULE, INFO_CUT_NO_MODULE},     {UNWIND_STUCK, INFO_CUT_STUCK},
    {UNWIND_TOO_DEEP, INFO_CUT_TOO_DEEP},
};

int facts_write_end(struct spool_writer *spool, const struct record_result *result, uint64_t samples_expected,
                    const uint64_t *cut_by_reason, struct error *err)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    char end[64];
    describe_end(result, end, sizeof(end));
    int code = info_write_number(spool, INFO_END_MONOTONIC, monotonic_ns(), err);
    if (!code)
        code = info_write_number(spool, INFO_SAMPLES_EXPECTED, samples_expected, err);
    if (!code)
        code = info_write_number(spool, INFO_SAMPLES_LOST, result->lost, err);
    if (!code)
        code = info_write_number(spool, INFO_RECORDER_CPU, result->recorder_cpu, err);
    if (!code)
        code = info_write_number(spool, INFO_RECORDER_MEMORY, (uint64_t)usage.ru_maxrss * 1024, err);
    for (size_t i = 0; !code && i < sizeof(cut_infos) / sizeof(*cut_infos); i++)
        code = info_write_number(spool, cut_infos[i].name, cut_by_reason[cut_infos[i].end], err);
    return code ? code : info_write(spool, INFO_EXIT, end, err);
}
