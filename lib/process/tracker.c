#include "process/tracker.h"

#include "process/tracker_internal.h"

#include "os/clock.h"
#include "os/file_proc.h"
#include "process/attach.h"
#include "process/command_line.h"
#include "process/proc_maps.h"

#include <linux/perf_event.h>

/* On a busy machine, a thread that ends waits 0.1 s for a CPU after its EXIT record. */
static const uint64_t ending_ns = 1000000000;

struct tracker *tracker_new(struct spool_writer *spool, struct library_table *libraries)
{
    struct tracker *tracker = calloc(1, sizeof(*tracker));
    if (tracker) {
        tracker->spool = spool;
        tracker->mappings = (struct tracked_mappings){.spool = spool, .libraries = libraries};
    }
    return tracker;
}

static void forget_counters(struct tracker *tracker, struct tracked_process *process)
{
    const struct tracker_observer *observer = &tracker->mappings.observer;
    if (process->counters && observer->forgets)
        observer->forgets(observer->context, process);
}

static void process_free(struct tracker *tracker, struct tracked_process *process)
{
    if (process) {
        forget_counters(tracker, process);
        tracked_mappings_forget(&tracker->mappings, process);
        address_space_destroy(&process->space);
        jitdump_unwind_free(process->dump);
        python_process_free(process->python);
    }
    free(process);
}

static void thread_free(struct tracked_thread *thread)
{
    if (thread)
        thread_run_destroy(&thread->run);
    free(thread);
}

void tracker_free(struct tracker *tracker)
{
    if (!tracker)
        return;
    for (size_t i = 0; i < tracker->processes.items.length; i++)
        process_free(tracker, tracker->processes.items.data[i]);
    for (size_t i = 0; i < tracker->threads.items.length; i++)
        thread_free(tracker->threads.items.data[i]);
    index_pool_destroy(&tracker->processes);
    index_pool_destroy(&tracker->threads);
    hash_destroy(&tracker->by_pid);
    hash_destroy(&tracker->by_tid);
    array_free(&tracker->endings);
    free(tracker);
}

static struct tracked_process *find_process(const struct tracker *tracker, uint32_t pid)
{
    uint32_t index = hash_get(&tracker->by_pid, pid);
    return index == HASH_MISSING ? NULL : tracker->processes.items.data[index];
}

static struct tracked_thread *find_thread(const struct tracker *tracker, uint32_t tid)
{
    uint32_t index = hash_get(&tracker->by_tid, tid);
    return index == HASH_MISSING ? NULL : tracker->threads.items.data[index];
}

static struct tracked_process *get_process(const struct tracker *tracker, const struct tracked_thread *thread)
{
    return tracker->processes.items.data[thread->process];
}

/* ---- the threads of a process ---- */

static void link_thread(struct tracked_process *process, struct tracked_thread *thread)
{
    thread->next = process->threads;
    if (thread->next)
        thread->next->previous = thread;
    process->threads = thread;
    process->live_threads++;
}

/* Notes that a thread has exited, when its EXIT record arrives or at the latest at its end. */
static void note_exit(struct tracked_process *process, struct tracked_thread *thread)
{
    process->live_threads -= !thread->has_exited;
    thread->has_exited = true;
}

static void unlink_thread(struct tracked_process *process, struct tracked_thread *thread)
{
    note_exit(process, thread);
    if (thread->next)
        thread->next->previous = thread->previous;
    if (thread->previous)
        thread->previous->next = thread->next;
    else
        process->threads = thread->next;
}

/* ---- ends of threads and processes ---- */

static int end_process(struct tracker *tracker, uint32_t index, struct error *err)
{
    struct tracked_process *process = tracker->processes.items.data[index];
    tracker->has_orphans |= process->parent_pid && !find_process(tracker, process->parent_pid);
    if (hash_get(&tracker->by_pid, process->pid) == index)
        hash_remove(&tracker->by_pid, process->pid);
    process_free(tracker, process);
    return index_pool_remove(&tracker->processes, index) ? 0 : error_no_memory(err);
}

/* Removes a thread, and with its last thread also the process. */
static int end_thread(struct tracker *tracker, uint32_t tid, uint64_t time, struct error *err)
{
    uint32_t index = hash_get(&tracker->by_tid, tid);
    if (index == HASH_MISSING)
        return 0;
    struct tracked_thread *thread = tracker->threads.items.data[index];
    uint32_t process_index = thread->process;
    struct tracked_process *process = get_process(tracker, thread);
    const struct spool_thread_end end = {.thread = thread->number, .time_ns = time};
    int code = tracker_write_unsampled(tracker, thread, time, err);
    tracker->ended++;
    if (!code)
        code = spool_write_thread_end(tracker->spool, &end, err);
    hash_remove(&tracker->by_tid, tid);
    unlink_thread(process, thread);
    thread_free(thread);
    if (!index_pool_remove(&tracker->threads, index))
        return error_no_memory(err);
    if (tid == process->living && process->threads)
        process->living = process->threads->tid;
    if (!process->threads && !code)
        code = end_process(tracker, process_index, err);
    return code;
}

static int delay_thread_end(struct tracker *tracker, uint32_t tid, uint64_t time, struct error *err)
{
    struct tracked_thread *thread = find_thread(tracker, tid);
    if (!thread)
        return 0;
    note_exit(get_process(tracker, thread), thread);
    struct ending ending = {.tid = tid, .number = thread->number, .time = time};
    return array_push(&tracker->endings, ending) ? 0 : error_no_memory(err);
}

/* Ends the threads whose delay after their EXIT record is over. */
static int end_threads(struct tracker *tracker, uint64_t now, struct error *err)
{
    int code = 0;
    while (!code && tracker->endings_done < tracker->endings.length) {
        const struct ending ending = tracker->endings.data[tracker->endings_done];
        if (ending.time + ending_ns > now)
            break;
        tracker->endings_done++;
        const struct tracked_thread *thread = find_thread(tracker, ending.tid);
        if (thread && thread->number == ending.number)
            code = end_thread(tracker, ending.tid, ending.time, err);
    }
    /* if threads end all the time, the queue is never empty */
    if (tracker->endings_done > tracker->endings.length / 2) {
        tracker->endings.length -= tracker->endings_done;
        memmove(tracker->endings.data, tracker->endings.data + tracker->endings_done,
                tracker->endings.length * sizeof(struct ending));
        tracker->endings_done = 0;
    }
    return code;
}

/* Ends a process whose pid was reused without an EXIT record: the record was lost. */
static int end_stale_process(struct tracker *tracker, uint32_t pid, uint64_t time, struct error *err)
{
    int code = 0;
    for (struct tracked_process *process; !code && (process = find_process(tracker, pid)) && process->threads;)
        code = end_thread(tracker, process->threads->tid, time, err);
    return code;
}

/* ---- starts of threads and processes ---- */

static int emit_process(struct tracker *tracker, const struct tracked_process *process, uint32_t parent, bool exec,
                        uint64_t time, const char *name, struct error *err)
{
    const struct spool_process begin = {
        .process = process->number, .parent = parent, .exec = exec, .pid = process->pid, .time_ns = time, .name = name};
    return spool_write_process(tracker->spool, &begin, err);
}

static int emit_thread(struct tracker *tracker, const struct tracked_thread *thread, uint64_t time, struct error *err)
{
    const struct spool_thread begin = {.thread = thread->number,
                                       .process = get_process(tracker, thread)->number,
                                       .tid = thread->tid,
                                       .time_ns = time,
                                       .name = thread->name};
    return spool_write_thread(tracker->spool, &begin, err);
}

static int add_process(struct tracker *tracker, uint32_t pid, struct tracked_process **added, struct error *err)
{
    struct tracked_process *process = calloc(1, sizeof(*process));
    if (!process)
        return error_no_memory(err);
    process->pid = process->living = pid;
    process->maps_fd = -1;
    process->number = tracker->next_process++;
    process->losses = tracker->mappings.losses;
    uint32_t index;
    if (!index_pool_add(&tracker->processes, process, &index)) {
        free(process);
        return error_no_memory(err);
    }
    *added = process;
    return hash_set(&tracker->by_pid, pid, index) ? 0 : error_no_memory(err);
}

static void copy_name(struct tracked_thread *thread, const char *name)
{
    size_t length = strnlen(name, sizeof(thread->name) - 1);
    memmove(thread->name, name, length);
    thread->name[length] = '\0';
}

static int add_thread(struct tracker *tracker, struct tracked_process *process, uint32_t tid, const char *name,
                      uint64_t time, struct error *err)
{
    struct tracked_thread *thread = calloc(1, sizeof(*thread));
    if (!thread)
        return error_no_memory(err);
    thread->tid = tid;
    thread->number = tracker->next_thread++;
    thread->process = hash_get(&tracker->by_pid, process->pid);
    copy_name(thread, name);
    uint32_t index;
    if (!index_pool_add(&tracker->threads, thread, &index)) {
        free(thread);
        return error_no_memory(err);
    }
    link_thread(process, thread);
    int code = end_thread(tracker, tid, time, err); /* end an older thread with this tid, whose EXIT record was lost */
    if (code)
        return code;
    if (!hash_set(&tracker->by_tid, tid, index))
        return error_no_memory(err);
    return emit_thread(tracker, thread, time, err);
}

static int add_unknown_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                               struct tracked_process **process, struct error *err)
{
    int code = add_process(tracker, pid, process, err);
    if (code)
        return code;
    (*process)->ran_before = true;
    if (!tracker->mappings.is_past)
        (*process)->clock_before = process_read_clock_ns(pid);
    return emit_process(tracker, *process, SPOOL_NO_NUMBER, false, time, name, err);
}

int tracker_add_running_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                struct error *err)
{
    struct tracked_process *process;
    bool changed;
    int code = add_unknown_process(tracker, pid, name, time, &process, err);
    if (code)
        return code;
    process->living = proc_find_living_thread(pid);
    return tracked_mappings_read(&tracker->mappings, process, time, &changed, err);
}

int tracker_add_running_process_lazily(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                       struct error *err)
{
    struct tracked_process *process;
    int code = add_unknown_process(tracker, pid, name, time, &process, err);
    if (code)
        return code;
    process->maps_unread = true;
    process->living = proc_find_living_thread(pid);
    process->program = attach_identify_program((pid_t)pid);
    return 0;
}

int tracker_add_running_thread(struct tracker *tracker, uint32_t pid, uint32_t tid, const char *name, uint64_t time,
                               struct error *err)
{
    struct tracked_process *process = find_process(tracker, pid);
    return process ? add_thread(tracker, process, tid, name, time, err) : 0;
}

bool tracker_has_thread(const struct tracker *tracker, uint32_t tid)
{
    return hash_get(&tracker->by_tid, tid) != HASH_MISSING;
}

/* The kernel reports the pid -1 for a thread that it has already removed from its lists. */
static void read_thread_name(const struct tracker *tracker, uint32_t pid, uint32_t tid, char *name, size_t size)
{
    if (tid == UINT32_MAX)
        snprintf(name, size, "(exiting)");
    else if (tracker->mappings.is_past)
        name[0] = '\0';
    else
        attach_read_thread_name((pid_t)pid, (pid_t)tid, name, size);
}

static int read_command(struct tracker *tracker, struct tracked_process *process, uint64_t time, struct error *err)
{
    if (!process->exec_without_command)
        return 0;
    const struct tracked_thread *thread = find_thread(tracker, process->pid);
    return thread ? command_line_read(tracker->spool, process, thread->name, time, err) : 0;
}

int tracker_find_thread_and_process(struct tracker *tracker, uint32_t pid, uint32_t tid, uint64_t time,
                                    struct tracked_thread **thread, struct tracked_process **process, struct error *err)
{
    *thread = find_thread(tracker, tid);
    *process = *thread ? get_process(tracker, *thread) : NULL;
    if (*process && (*process)->pid == pid) {
        int code = read_command(tracker, *process, time, err);
        return code ? code : tracked_mappings_read_unread(&tracker->mappings, *process, time, err);
    }
    *process = find_process(tracker, pid);
    char name[32];
    int code = 0;
    if (!*process) {
        bool changed;
        read_thread_name(tracker, pid, pid, name, sizeof(name));
        code = add_unknown_process(tracker, pid, name, time, process, err);
        if (!code)
            code = tracked_mappings_read(&tracker->mappings, *process, time, &changed, err);
    }
    read_thread_name(tracker, pid, tid, name, sizeof(name));
    if (!code)
        code = add_thread(tracker, *process, tid, name, time, err);
    *thread = find_thread(tracker, tid);
    return code;
}

/* ---- records ---- */

/* A new thread is runnable, and soon runs on a CPU. */
static int add_new_thread(struct tracker *tracker, struct tracked_process *process, const struct perf_record *record,
                          const char *name, struct error *err)
{
    int code = add_thread(tracker, process, record->tid, name, record->time, err);
    if (!code)
        find_thread(tracker, record->tid)->run = (struct thread_run){.state = RUN_WAITS,
                                                                     .since = record->time,
                                                                     .known_since = record->time,
                                                                     .is_runnable = true,
                                                                     .has_run_delay = true};
    return code;
}

static int fork_process(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    int code = end_stale_process(tracker, record->pid, record->time, err);
    struct tracked_process *child;
    if (!code)
        code = add_process(tracker, record->pid, &child, err);
    if (code)
        return code;
    child->started = record->time;
    child->parent_pid = record->task.parent_pid;
    struct tracked_process *parent = find_process(tracker, record->task.parent_pid);
    if (parent)
        code = tracked_mappings_read_unread(&tracker->mappings, parent, record->time, err);
    if (code)
        return code;
    const struct tracked_thread *forking = find_thread(tracker, record->task.parent_tid);
    const char *name = forking ? forking->name : "";
    if (parent && !tracked_mappings_inherit(&tracker->mappings, child, parent))
        return error_no_memory(err);
    code = emit_process(tracker, child, parent ? parent->number : SPOOL_NO_NUMBER, false, record->time, name, err);
    return code ? code : add_new_thread(tracker, child, record, name, err);
}

static int fork_thread(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    int code = 0;
    struct tracked_process *process = find_process(tracker, record->pid);
    const struct tracked_thread *cloning = find_thread(tracker, record->task.parent_tid);
    const char *name = cloning ? cloning->name : "";
    if (!process)
        code = add_unknown_process(tracker, record->pid, name, record->time, &process, err);
    return code ? code : add_new_thread(tracker, process, record, name, err);
}

/*
 * After exec only the calling thread continues, with the pid of the process as its tid. All other threads have ended,
 * and EXIT records have reported them. If another thread than the first called exec, the first thread has ended, too,
 * and the caller's CPU time continues under the tid of the first thread.
 */
static void move_run_of_exec_caller(struct tracker *tracker, const struct tracked_process *process,
                                    struct thread_run *run)
{
    struct tracked_thread *caller = find_thread(tracker, process->pid);
    if (!caller)
        caller = process->threads;
    if (!caller)
        return;
    *run = caller->run;
    caller->run = (struct thread_run){0};
}

static int exec_process(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    struct tracked_process *old = find_process(tracker, record->pid), before = {.started = record->time};
    if (record->pid == tracker->command)
        before.clock_before = tracker->command_clock;
    uint32_t old_number = old ? old->number : SPOOL_NO_NUMBER;
    struct thread_run run = {.state = RUN_ON, .since = record->time};
    int code = 0;
    if (old) {
        move_run_of_exec_caller(tracker, old, &run);
        before = *old;
        old->counters = NULL;
        code = end_stale_process(tracker, record->pid, record->time, err);
    }
    struct tracked_process *process = NULL;
    if (!code)
        code = add_process(tracker, record->pid, &process, err);
    if (process) {
        process->space.work =
            before.space.work; /* programs of one pid share a budget, so repeated exec does not refill it */
        process->budget = before.budget;
        process->excesses = before.excesses;
        if (tracker->mappings.observer.execs)
            tracker->mappings.observer.execs(&before, process, record->time);
        process->parent_pid = before.parent_pid;
        process->clock_before = before.clock_before;
        process->ran = before.ran;
    } else {
        forget_counters(tracker, &before);
    }
    if (!code)
        code = emit_process(tracker, process, old_number, old_number != SPOOL_NO_NUMBER, record->time,
                            record->comm.name, err);
    if (!code)
        code = add_thread(tracker, process, record->tid, record->comm.name, record->time, err);
    struct tracked_thread *thread = find_thread(tracker, record->tid);
    if (code || !thread)
        thread_run_destroy(&run);
    else
        thread->run = run;
    if (!code && thread && run.known_since) {
        thread->run.known_since = record->time;
        thread->run.stored = 0;
    }
    if (!code) {
        process->exec_without_command = tracker->mappings.is_past ? 0 : record->time;
        code = read_command(tracker, process, record->time, err);
    }
    if (!code && tracker->mappings.are_read) {
        bool changed;
        code = tracked_mappings_read(&tracker->mappings, process, record->time, &changed, err);
    }
    return code;
}

static int rename_thread(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    struct tracked_thread *thread = find_thread(tracker, record->tid);
    if (!thread || !strcmp(thread->name, record->comm.name))
        return 0;
    copy_name(thread, record->comm.name);
    const struct spool_thread_name change = {.thread = thread->number, .time_ns = record->time, .name = thread->name};
    return spool_write_thread_name(tracker->spool, &change, err);
}

static int handle_mapping_record(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process = find_process(tracker, record->pid);
    if (!process) {
        int code = add_unknown_process(tracker, record->pid, "", record->time, &process, err);
        if (!code)
            code = add_thread(tracker, process, record->tid, "", record->time, err);
        if (code)
            return code;
    }
    char path[PROC_MAPS_PATH];
    struct perf_mapping mapping = record->mapping;
    snprintf(path, sizeof(path), "%s", mapping.path);
    proc_maps_strip_deleted(path);
    mapping.path = path;
    return tracked_mappings_add(&tracker->mappings, process, &mapping, record->time, err);
}

static int handle_lost_records(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    tracker->mappings.losses++;
    const struct spool_lost lost = {.time_ns = record->time, .cpu = record->cpu, .count = record->lost};
    return record->lost ? spool_write_lost(tracker->spool, &lost, err) : 0; /* of samples */
}

int tracker_check_stack(struct tracker *tracker, struct tracked_process *process, const struct tracked_stack *stack,
                        uint64_t time, bool *changed, struct error *err)
{
    return tracked_mappings_check(&tracker->mappings, process, stack, time, changed, err);
}

struct tracked_process *tracker_find_process(const struct tracker *tracker, uint32_t pid)
{
    return find_process(tracker, pid);
}

struct tracked_thread *tracker_find_thread(struct tracker *tracker, uint32_t tid, struct tracked_process **process)
{
    struct tracked_thread *thread = find_thread(tracker, tid);
    *process = thread ? get_process(tracker, thread) : NULL;
    return thread;
}

size_t tracker_count_threads(const struct tracker *tracker)
{
    return tracker->threads.items.length;
}

struct tracked_thread *tracker_get_thread_at(struct tracker *tracker, size_t i, struct tracked_process **process)
{
    struct tracked_thread *thread = tracker->threads.items.data[i];
    *process = thread ? get_process(tracker, thread) : NULL;
    return thread;
}

int tracker_finish(struct tracker *tracker, struct error *err)
{
    return end_threads(tracker, UINT64_MAX, err);
}

/* Reads the counters of a process, which exist until its parent has waited for it. */
static int read_last_counters(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    const struct tracker_observer *observer = &tracker->mappings.observer;
    const struct tracked_thread *thread = observer->ends ? find_thread(tracker, record->tid) : NULL;
    struct tracked_process *process = thread ? get_process(tracker, thread) : NULL;
    bool is_last = process && process->live_threads == !thread->has_exited;
    return is_last ? observer->ends(observer->context, process, err) : 0;
}

int tracker_handle_record(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    int code = end_threads(tracker, record->time, err);
    if (!code && record->type == PERF_RECORD_EXIT)
        code = read_last_counters(tracker, record, err);
    struct tracked_process *process =
        find_process(tracker, record->type == PERF_RECORD_FORK ? record->task.parent_pid : record->pid);
    if (!code && process)
        code = read_command(tracker, process, record->time, err);
    if (code)
        return code;
    switch (record->type) {
    case PERF_RECORD_FORK:
        return record->pid == record->task.parent_pid ? fork_thread(tracker, record, err)
                                                      : fork_process(tracker, record, err);
    case PERF_RECORD_COMM:
        return record->comm.exec ? exec_process(tracker, record, err) : rename_thread(tracker, record, err);
    case PERF_RECORD_MMAP2:
        return handle_mapping_record(tracker, record, err);
    case PERF_RECORD_EXIT:
        return tracker->has_samples_after_ends ? delay_thread_end(tracker, record->tid, record->time, err)
                                               : end_thread(tracker, record->tid, record->time, err);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        return handle_lost_records(tracker, record, err);
    default:
        return 0;
    }
}
