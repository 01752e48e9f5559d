/*
 * Fills in the result of a recording: its counts, and a note for each kind of missing data.
 */
#include "record/recording.h"

#include "os/clock.h"
#include "os/target_memory.h"
#include "base/path.h"

#include <sys/resource.h>

enum {
    END_MOST_NS = 500000, /* CPU time (ns) that the kernel may count after a thread's last record */
    SLACK_NS = 20000000
};

/* Returns the CPU time (ns) from the resource usage of the command, which includes all processes that their parents
 * waited for, or 0 if unknown. Adds a note if the command used more CPU time than recorded. Each thread may use a
 * little more than its switches show; a larger difference comes from a program that prof may not record. */
static uint64_t compute_command_cpu_time(const struct recording *recording, const struct tracker_cpu_times *times,
                                         uint64_t counted)
{
    uint64_t used = recording->result->target_cpu;
    if (!target_is_reaped(recording->target) || times->has_orphans || recording->result->survivors ||
        recording->options->no_inherit || used < target_get_launch_clock(recording->target))
        return 0;
    used -= target_get_launch_clock(recording->target);
    bool is_possible =
        used >= counted / 5 * 4 && used <= counted + counted / 20 + times->ended * END_MOST_NS + SLACK_NS;
    return is_possible ? used : 0;
}

static void add_untraced_note(struct recording *recording, const struct tracker_cpu_times *times, uint64_t counted)
{
    uint64_t explained = times->ran + counted / 10 + times->ended * END_MOST_NS + SLACK_NS;
    if (counted > explained && !recording->control.paused_cpu_time)
        record_result_add_note(
            recording->result,
            "threads that ptrace cannot stop, such as those of io_uring, used %.0f ms of CPU time, which the profile shows as (not sampled)",
            (double)(counted - times->ran) / 1e6);
}

/*
 * Returns the CPU time (ns) that the kernel counted for the recorded threads. `counted` is the CPU time by the clocks
 * of perf events, or of traced processes. The clocks of perf events stop before a thread has finished its exit, and
 * continue while a hypervisor has the CPU. So the clocks of live processes and the resource usage of the command take
 * precedence.
 */
static uint64_t compute_kernel_cpu_time(struct recording *recording, uint64_t counted)
{
    const struct tracker_cpu_times times = tracker_get_cpu_times(recording->tracker);
    if (recording->sampler.is_ptrace && recording_has_switches(recording))
        add_untraced_note(recording, &times, counted);
    if (recording->control.paused_cpu_time || recording->sampler.is_ptrace || recording->options->all ||
        recording->options->cpus || !recording_has_switches(recording))
        return counted - recording->control.paused_cpu_time;
    uint64_t of_command = compute_command_cpu_time(recording, &times, counted);
    if (of_command)
        return of_command;
    /* add the ended processes' proportional share of the switching time */
    double between = counted > times.ran ? (double)(counted - times.ran) : 0;
    double ended = times.ran ? 1 - (double)times.ran_of_readable / (double)times.ran : 0;
    int64_t beside = times.unseen + (int64_t)(between * ended);
    return beside > -(int64_t)times.ran ? (uint64_t)((int64_t)times.ran + beside) : counted;
}

/* Stacks are truncated where they pass through such a file. */
static void add_lost_files_note(struct recording *recording)
{
    const char *path = "";
    size_t count = library_table_count_lost(recording->libraries, &path);
    if (count == 1)
        record_result_add_note(recording->result,
                               "%s was replaced or became unreadable before prof read its unwind information",
                               path_get_base_name(path));
    else if (count)
        record_result_add_note(
            recording->result,
            "%s and %zu more were replaced or became unreadable before prof read their unwind information",
            path_get_base_name(path), count - 1);
    count = library_table_count_silent(recording->libraries, &path);
    if (count)
        record_result_add_note(
            recording->result,
            "%s%s on a file system that does not answer: functions there have no symbols, and stacks through them may be truncated",
            path, count > 1 ? " and other files are" : " is");
    struct rlimit limit;
    const struct open_files *files = recording->options->files;
    if (files && files->lost && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        record_result_add_note(
            recording->result,
            "the limit of %llu open files is too low to hold %zu deleted file%s open: their functions may have no symbols; raise 'ulimit -n'",
            (unsigned long long)limit.rlim_cur, files->lost, files->lost == 1 ? "" : "s");
}

void recording_fill_result(struct recording *recording, uint64_t cpu_before)
{
    struct record_result *result = recording->result;
    struct source *source = recording->source;
    bool is_filtered = recording->filter.count;
    result->left_out = recording->filter.left_out;
    struct source_totals totals =
        source->class->fill_result(source, !is_filtered && !recording->control.paused_cpu_time);
    if (result->target_ended && !recording->options->all)
        result->survivors =
            tracker_list_survivors(recording->tracker, result->survivor_names, sizeof(result->survivor_names));
    /* If samples and counters exclude kernel time, or the filter excludes threads, the uncovered time does not belong
     * to ended threads. */
    if (source->covers_kernel && !result->left_out && !is_filtered)
        result->cpu_time = compute_kernel_cpu_time(recording, totals.cpu_time);
    result->recorder_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before +
                           spool_writer_get_sync_cpu_time(recording->spool) + target_memory_get_cpu_time();
    result->lost = totals.lost_records > totals.lost ? totals.lost_records : totals.lost;
    cpu_samples_fill_result(recording->samples, result);
    result->waits = recording->waits.stored;
    result->waits_truncated = recording->waits.truncated;
    result->waits_without_stack = recording->waits.without_stack;
    add_lost_files_note(recording);
    waits_note_refused(&recording->waits, result);
    process_ends_add_notes(&recording->ends, result);
    marks_add_notes(&recording->marks, result);
    if (recording->counters.was_refused)
        record_result_add_note(
            result,
            "prof does not count the bytes that some processes read and write: this user may not read these processes");
}
