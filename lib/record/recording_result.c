/*
 * The results of a recording: counts, and a note for each kind of missing data.
 */
#include "record/recording.h"

#include "os/clock.h"
#include "sample/cpu_list.h"

#include <inttypes.h>

static void note_new_cpus(struct recording *recording)
{
    struct cpu_list online = {0};
    uint32_t missed = 0;
    if (cpu_list_online(&online, NULL) == 0) {
        for (size_t i = 0; i < online.length; i++) {
            bool known = false;
            for (size_t j = 0; j < recording->events.cpus.length; j++)
                known |= recording->events.cpus.data[j].cpu == online.data[i];
            missed += !known;
        }
    }
    array_free(&online);
    if (missed)
        record_result_add_note(recording->result,
                               "%" PRIu32 " CPUs came online during the recording; what ran on them was not sampled",
                               missed);
}

static void note_lower_rates(struct recording *recording)
{
    const struct perf_rate *rates = &recording->events.rates;
    if (rates->lowered)
        record_result_add_note(
            recording->result,
            "%" PRIu32 " thread%s switched so often that %s sampled at %" PRIu64
            " Hz, so as not to slow %s down; CPU time is that of every switch",
            rates->lowered, rates->lowered == 1 ? "" : "s", rates->lowered == 1 ? "it was" : "they were",
            UINT64_C(1000000000) / (rates->interval * PERF_RATE_FEWER), rates->lowered == 1 ? "it" : "these processes");
}

enum {
    END_MOST_NS = 500000, /* CPU time that the kernel may count after a thread's last record */
    SLACK_NS = 20000000
};

/* Returns the CPU time (ns) from the resource usage of the command, which includes all processes that their parents
 * waited for; 0: unknown. Each thread may use a little more than its switches show; a larger difference comes from a
 * program that may not be recorded. */
static uint64_t count_of_command(const struct recording *recording, const struct tracker_cpu_times *times,
                                 uint64_t counted)
{
    uint64_t used = recording->result->target_cpu;
    if (!recording->target_reaped || times->has_orphans || recording->result->survivors ||
        recording->options->no_inherit || used < recording->launch_cpu)
        return 0;
    used -= recording->launch_cpu;
    bool is_possible =
        used >= counted / 5 * 4 && used <= counted + counted / 20 + times->ended * END_MOST_NS + SLACK_NS;
    return is_possible ? used : 0;
}

static void note_untraced(struct recording *recording, const struct tracker_cpu_times *times, uint64_t counted)
{
    uint64_t explained = times->ran + counted / 10 + times->ended * END_MOST_NS + SLACK_NS;
    if (counted > explained && !recording->control.paused_cpu_time)
        record_result_add_note(
            recording->result,
            "threads that ptrace cannot stop, such as those of io_uring, used %.0f ms of CPU time, which "
            "the profile shows as (not sampled)",
            (double)(counted - times->ran) / 1e6);
}

/*
 * Returns the CPU time (ns) that the kernel counted for the recorded threads. `counted`: by the clocks of perf events,
 * or of traced processes. The clocks of perf events stop before a thread has finished its exit, and continue while a
 * hypervisor has the CPU. So the clocks of live processes and the resource usage of the command take precedence.
 */
static uint64_t count_of_kernel(struct recording *recording, uint64_t counted)
{
    const struct tracker_cpu_times times = tracker_cpu_times(recording->tracker);
    if (recording->by_ptrace && recording->follows_runs)
        note_untraced(recording, &times, counted);
    if (recording->control.paused_cpu_time || recording->by_ptrace || recording->options->all ||
        recording->options->cpus || !recording->follows_runs)
        return counted - recording->control.paused_cpu_time;
    uint64_t of_command = count_of_command(recording, &times, counted);
    if (of_command)
        return of_command;
    /* ended processes get their proportional share of the switching time */
    double between = counted > times.ran ? (double)(counted - times.ran) : 0;
    double ended = times.ran ? 1 - (double)times.ran_living / (double)times.ran : 0;
    int64_t beside = times.unseen + (int64_t)(between * ended);
    return beside > -(int64_t)times.ran ? (uint64_t)((int64_t)times.ran + beside) : counted;
}

void recording_fill_result(struct recording *recording, uint64_t cpu_before)
{
    struct record_result *result = recording->result;
    struct perf_totals totals = {0};
    if (recording->by_ptrace) {
        totals.cpu_time = recording->traced_cpu;
        result->look_interval = ptrace_sampler_check_interval(recording->sampler);
        if (recording->limits.tracer)
            result->target_cpu = 0; /* it includes programs that prof does not trace */
    } else {
        totals = perf_events_totals(&recording->events);
    }
    if (result->target_ended && !recording->options->all)
        result->survivors =
            tracker_list_survivors(recording->tracker, result->survivor_names, sizeof(result->survivor_names));
    result->left_out = recording->filter.left_out;
    /* If neither samples nor counters cover the time inside the kernel, or if threads are excluded, the rest is not the
     * time of ended threads. */
    if ((recording->by_ptrace || recording->follows_runs || recording->events.tier == PERF_TIER_KERNEL_AND_USER) &&
        !result->left_out && !recording->filter.count)
        result->cpu_time = count_of_kernel(recording, totals.cpu_time);
    result->recorder_cpu =
        clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before + spool_writer_sync_cpu_time(recording->spool);
    for (size_t i = 0; recording->events.sampling.list && i < recording->events.sampling.list->length; i++) {
        struct event_totals event =
            event_sampling_totals(&recording->events.sampling, recording->events.layout.read_format, (uint32_t)i);
        totals.lost += result->events[i].lost = event.lost;
        /* it also includes what the recording excluded */
        if (!recording->filter.count && !recording->control.paused_cpu_time)
            result->events[i].count = event.count;
    }
    result->lost = recording->lost_records > totals.lost ? recording->lost_records : totals.lost;
    result->samples = recording->samples;
    result->truncated = recording->truncated;
    result->completed_by_libunwind = recording->completed_by_libunwind;
    result->python_samples = recording->python.counts.samples;
    result->python_read = recording->python.counts.read;
    result->python_late = recording->python.counts.late;
    result->waits = recording->waits.stored;
    result->waits_truncated = recording->waits.truncated;
    result->waits_without_stack = recording->waits.without_stack;
    if (!recording->by_ptrace)
        note_new_cpus(recording);
    note_lower_rates(recording);
    recording_note_lost_files(recording);
    excess_describe(&recording->excesses, result->limits, sizeof(result->limits));
    recording_note_refused_waits(recording);
    if (recording->python.problem[0])
        record_result_add_note(recording->result, "prof records no Python frames: %s", recording->python.problem);
    if (recording->signals.left_out)
        record_result_add_note(recording->result, "%" PRIu64 " signals have no marker: a recording takes %d",
                               recording->signals.left_out, PROCESS_SIGNALS_MAX);
    if (recording->counters.was_refused)
        record_result_add_note(recording->result,
                               "bytes read and written by some processes are not counted: this user may not read "
                               "these processes");
    if (recording->lost_others)
        record_result_add_note(
            recording->result,
            "%" PRIu64
            " records of processes and mappings are lost, because the buffer was full: prof read the mappings of these "
            "processes instead, and some of their symbols may be missing",
            recording->lost_others);
    if (recording->lost_wakeups)
        record_result_add_note(recording->result,
                               "some waits have no waker: %" PRIu64 " wakeups are lost, because the buffer was full",
                               recording->lost_wakeups);
}
