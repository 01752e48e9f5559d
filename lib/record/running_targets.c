#include "record/running_targets.h"

#include "process/attach.h"
#include "process/cgroup.h"

#include <time.h>
#include <unistd.h>

static int track_threads(struct recording *recording, pid_t pid, const struct tid_array *tids, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < tids->length && !code; i++) {
        char name[32];
        attach_read_thread_name(pid, tids->data[i], name, sizeof(name));
        code = tracker_add_running_thread(recording->tracker, (uint32_t)pid, (uint32_t)tids->data[i], name,
                                          recording->loop.started, err);
        if (!code && recording_has_switches(recording))
            code = waits_add_running(&recording->waits, (uint32_t)tids->data[i], recording->loop.started, err);
    }
    return code;
}

static int add_process_by_name(struct recording *recording, pid_t pid, struct tid_array *tids, struct error *err)
{
    char name[32];
    tids->length = 0;
    int code = attach_list_threads(pid, tids, err);
    if (code)
        return code == -ESRCH ? 0 : code; /* the thread has ended since */
    attach_read_thread_name(pid, pid, name, sizeof(name));
    code = tracker_add_running_process_lazily(recording->tracker, (uint32_t)pid, name, recording->loop.started, err);
    return code ? code : track_threads(recording, pid, tids, err);
}

/* Adds running processes to a recording. The recorder starts process records, then reads the list of processes, and
 * then starts samples, so that samples do not fill the rings while it reads the list. */
int running_targets_add_all(struct recording *recording, struct error *err)
{
    struct tid_array pids = {0}, tids = {0};
    tracker_expect_samples_after_ends(recording->tracker);
    int cgroup = recording->options->cgroup ? cgroup_open(recording->options->cgroup, err) : -1;
    int code = recording->options->cgroup && cgroup < 0 ? cgroup : attach_list_processes(&pids, err);
    for (size_t i = 0; i < pids.length && !code; i++)
        code = add_process_by_name(recording, pids.data[i], &tids, err);
    if (!code)
        code = recording->source->class->add_all(recording->source, cgroup, err);
    if (cgroup >= 0)
        close(cgroup);
    array_free(&pids);
    array_free(&tids);
    return code;
}

/* ---- one process ---- */

/* Starts to sample the threads of the process that are not yet sampled. Appends them to `added`. */
static int sample_unknown_threads(struct recording *recording, pid_t pid, struct tid_array *added, struct error *err)
{
    struct tid_array tids = {0};
    int code = attach_list_threads(pid, &tids, err);
    for (size_t i = 0; i < tids.length && !code; i++) {
        if (tracker_has_thread(recording->tracker, (uint32_t)tids.data[i]))
            continue;
        code = recording->source->class->add(recording->source, pid, tids.data[i], false, err);
        if (!code && !array_push(added, tids.data[i]))
            code = error_no_memory(err);
        else if (code == -ESRCH)
            code = 0; /* the thread has ended since */
    }
    array_free(&tids);
    return code;
}

static int track_process(struct recording *recording, pid_t pid, uint64_t clock, struct error *err)
{
    char name[32];
    attach_read_thread_name(pid, pid, name, sizeof(name));
    int code = tracker_add_running_process(recording->tracker, (uint32_t)pid, name, recording->loop.started, err);
    struct tracked_process *process = tracker_find_process(recording->tracker, (uint32_t)pid);
    if (process)
        process->clock_before = clock;
    if (!code && process) /* counting starts now */
        counters_mark_running(&recording->counters, process, recording->loop.started, true);
    return code;
}

/*
 * Opens a process's events before it reads the mappings, so that it misses no new mapping. A thread that starts
 * meanwhile is already sampled if its parent thread is, as the records show; otherwise the next round adds it. So each
 * round reads the records, and repeats until no thread is unknown. The record of a thread's start comes an instant
 * after the thread appears.
 */
int running_targets_add(struct recording *recording, pid_t pid, uint64_t clock, struct error *err)
{
    enum { ROUNDS = 100 };
    static const struct timespec instant = {.tv_nsec = 1000000};
    struct tid_array added = {0};
    int code = sample_unknown_threads(recording, pid, &added, err);
    if (!code)
        code = track_process(recording, pid, clock, err);
    struct source *source = recording->source;
    if (source->class->count_from)
        source->class->count_from(source, pid, clock);
    for (int round = 0; added.length && !code && round < ROUNDS; round++) {
        code = track_threads(recording, pid, &added, err);
        added.length = 0;
        nanosleep(&instant, NULL);
        if (!code)
            code = source->class->read(source, err);
        if (!code)
            code = sample_unknown_threads(recording, pid, &added, err);
    }
    array_free(&added);
    return code == -ESRCH ? 0 : code; /* the thread has ended; the spool has its samples */
}
