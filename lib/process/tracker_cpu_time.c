/*
 * Compares the recorded CPU time of processes with the kernel's own count. The difference (SPOOL_UNSAMPLED_PROCESS) is
 * CPU time that no sample and no switch record shows.
 */
#include "process/tracker.h"

#include "process/tracker_internal.h"

#include "os/clock.h"

void tracker_report_run(struct tracker *tracker, struct tracked_process *process, uint64_t time, bool by_sample)
{
    const struct tracker_observer *observer = &tracker->mappings.observer;
    if (observer->runs)
        observer->runs(observer->context, process, time, by_sample);
}

void tracker_add_cpu_time(struct tracker *tracker, struct tracked_thread *thread, uint64_t ran)
{
    thread->run.stored += ran;
    struct tracked_process *process = tracker->processes.items.data[thread->process];
    process->ran += ran;
    tracker->ran += ran;
}

int tracker_write_unsampled(struct tracker *tracker, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t ran = run->ran + (run->state == RUN_ON && time > run->since ? time - run->since : 0);
    const struct spool_unsampled_thread_time rest = {.thread = thread->number, .time_ns = time, .cpu_time_ns = ran};
    run->ran = 0;
    run->since = time;
    if (!ran || !tracker->has_switches || (tracker->filter && !thread_filter_matches(tracker->filter, thread->name)))
        return 0;
    tracker_add_cpu_time(tracker, thread, ran);
    return spool_write_unsampled_thread_time(tracker->spool, &rest, err);
}

void tracker_store_command_clock(struct tracker *tracker, uint32_t pid, uint64_t clock)
{
    tracker->command = pid;
    tracker->command_clock = clock;
}

void tracker_read_clocks(struct tracker *tracker)
{
    for (size_t i = 0; i < tracker->processes.items.length; i++) {
        struct tracked_process *process = tracker->processes.items.data[i];
        if (process)
            process->clock_after = process_read_clock_ns(process->pid);
    }
}

/* Returns the CPU time (ns) that only the kernel counted. A zombie still has its clock. */
static int64_t get_unseen_cpu_time(const struct tracked_process *process)
{
    if (!process || process->clock_after <= process->clock_before)
        return 0;
    return (int64_t)(process->clock_after - process->clock_before - process->ran);
}

int tracker_write_unseen(struct tracker *tracker, uint64_t time, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < tracker->processes.items.length && !code; i++) {
        const struct tracked_process *process = tracker->processes.items.data[i];
        int64_t unseen = get_unseen_cpu_time(process);
        if (unseen <= 0)
            continue;
        const struct spool_unsampled_process_time rest = {
            .process = process->number, .time_ns = time, .cpu_time_ns = (uint64_t)unseen};
        code = spool_write_unsampled_process_time(tracker->spool, &rest, err);
    }
    return code;
}

struct tracker_cpu_times tracker_get_cpu_times(const struct tracker *tracker)
{
    struct tracker_cpu_times times = {
        .ran = tracker->ran, .ended = tracker->ended, .has_orphans = tracker->has_orphans};
    for (size_t i = 0; i < tracker->processes.items.length; i++) {
        const struct tracked_process *process = tracker->processes.items.data[i];
        times.unseen += get_unseen_cpu_time(process);
        times.ran_of_readable += process && process->clock_after > process->clock_before ? process->ran : 0;
    }
    return times;
}
