#include "record/whom.h"

#include "process/cgroup.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

bool whom_is_recorded(const struct recording *recording, const struct perf_record *record)
{
    bool is_idle = record->type == PERF_RECORD_SAMPLE && record->pid == 0;
    bool is_child = record->type == PERF_RECORD_FORK && record->pid != record->task.parent_pid;
    return !is_idle && !(is_child && recording->options->no_inherit);
}

int whom_track_threads(struct recording *recording, pid_t pid, const struct tid_array *tids, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < tids->length && !code; i++) {
        char name[32];
        attach_thread_name(pid, tids->data[i], name, sizeof(name));
        code = tracker_add_running_thread(recording->tracker, (uint32_t)pid, (uint32_t)tids->data[i], name,
                                          recording->started, err);
        if (!code && recording->follows_runs)
            code = waits_add_running(&recording->waits, (uint32_t)tids->data[i], recording->started, err);
    }
    return code;
}

static int note_process(struct recording *recording, pid_t pid, struct tid_array *tids, struct error *err)
{
    char name[32];
    tids->length = 0;
    int code = attach_list_threads(pid, tids, err);
    if (code)
        return code == -ESRCH ? 0 : code; /* it has ended since */
    attach_thread_name(pid, pid, name, sizeof(name));
    code = tracker_note_running_process(recording->tracker, (uint32_t)pid, name, recording->started, err);
    return code ? code : whom_track_threads(recording, pid, tids, err);
}

/* Process records start before the list of processes is read, and samples start after it, so that the rings do not fill
 * up while the list is read. */
int whom_sample_system(struct recording *recording, struct error *err)
{
    struct tid_array pids = {0}, tids = {0};
    tracker_expect_samples_after_ends(recording->tracker);
    int cgroup = recording->options->cgroup ? cgroup_open(recording->options->cgroup, err) : -1;
    int code = recording->options->cgroup && cgroup < 0 ? cgroup : attach_list_processes(&pids, err);
    for (size_t i = 0; i < pids.length && !code; i++)
        code = note_process(recording, pids.data[i], &tids, err);
    if (!code)
        code = perf_events_add_all(&recording->events, cgroup, err);
    if (cgroup >= 0)
        close(cgroup);
    array_free(&pids);
    array_free(&tids);
    return code;
}
