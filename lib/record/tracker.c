#include "record/tracker.h"

#include "base/file_io.h"
#include "base/hash.h"
#include "base/path.h"
#include "record/attach.h"
#include "record/counters.h"
#include "record/info.h"
#include "record/marks.h"
#include "record/proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Things that come and go, each at an index of its own while it lives; the indexes of the dead are used again. */
struct index_pool {
    ARRAY(void *) items; /* NULL where the index is free */
    ARRAY(uint32_t) free;
};

/* A thread that ends a moment after its record. */
struct ending {
    uint32_t tid, number;
    uint64_t time; /* ns, of the record */
};

static const uint64_t ending_ns = 50000000;

struct tracker {
    struct spool_writer *spool;
    struct library_table *libraries;
    struct jit_files *jit_files; /* or NULL */
    struct marks *marks;         /* or NULL */
    struct counters *counters;   /* or NULL */
    struct index_pool processes, threads;
    struct hash by_pid, by_tid; /* -> index */
    uint32_t next_process, next_thread;
    uint64_t losses;     /* how often records were lost */
    bool reads_mappings; /* no record tells of them */
    bool has_switches;   /* each thread's `run` is kept up */
    bool has_samples_after_ends;
    bool has_python;              /* processes that run CPython are noted */
    ARRAY(struct ending) endings; /* by time */
    size_t endings_done;
};

static bool index_pool_add(struct index_pool *pool, void *item, uint32_t *index)
{
    if (pool->free.length) {
        *index = pool->free.data[--pool->free.length];
        pool->items.data[*index] = item;
        return true;
    }
    *index = (uint32_t)pool->items.length;
    return array_push(&pool->items, item);
}

static bool index_pool_remove(struct index_pool *pool, uint32_t index)
{
    pool->items.data[index] = NULL;
    return array_push(&pool->free, index);
}

static void index_pool_destroy(struct index_pool *pool)
{
    array_free(&pool->items);
    array_free(&pool->free);
}

/* ---- the tracker ---- */

struct tracker *tracker_new(struct spool_writer *spool, struct library_table *libraries)
{
    struct tracker *tracker = calloc(1, sizeof(*tracker));
    if (tracker) {
        tracker->spool = spool;
        tracker->libraries = libraries;
    }
    return tracker;
}

void tracker_note_jit_files(struct tracker *tracker, struct jit_files *files)
{
    tracker->jit_files = files;
}

void tracker_note_marks(struct tracker *tracker, struct marks *marks)
{
    tracker->marks = marks;
}

void tracker_tell_counters(struct tracker *tracker, struct counters *counters)
{
    tracker->counters = counters;
}

void tracker_expect_samples_after_ends(struct tracker *tracker)
{
    tracker->has_samples_after_ends = true;
}

void tracker_read_mappings(struct tracker *tracker)
{
    tracker->reads_mappings = true;
}

void tracker_expect_python(struct tracker *tracker)
{
    tracker->has_python = true;
}

void tracker_expect_switches(struct tracker *tracker, bool expect)
{
    tracker->has_switches = expect;
}

static void process_free(struct tracker *tracker, struct tracked_process *process)
{
    if (process) {
        if (process->counters)
            counters_forget(tracker->counters, process);
        address_space_destroy(&process->space);
        jitdump_unwind_free(process->dump);
        python_process_free(process->python);
    }
    free(process);
}

static void thread_free(struct tracked_thread *thread)
{
    if (thread) {
        thread_clock_destroy(&thread->clock);
        free(thread->run.stack);
    }
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

static struct tracked_process *process_of(const struct tracker *tracker, const struct tracked_thread *thread)
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
}

static void unlink_thread(struct tracked_process *process, struct tracked_thread *thread)
{
    if (thread->next)
        thread->next->previous = thread->previous;
    if (thread->previous)
        thread->previous->next = thread->next;
    else
        process->threads = thread->next;
}

/* ---- what ends ---- */

int tracker_tell_unsampled(struct tracker *tracker, struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct thread_run *run = &thread->run;
    uint64_t ran = run->ran + (run->state == RUN_ON && time > run->since ? time - run->since : 0);
    struct spool_event event = {.kind = SPOOL_UNSAMPLED, .number = thread->number, .time = time, .count = ran};
    run->ran = 0;
    run->since = time;
    return ran && tracker->has_switches ? spool_writer_event(tracker->spool, &event, err) : 0;
}

static int end_process(struct tracker *tracker, uint32_t index, struct error *err)
{
    struct tracked_process *process = tracker->processes.items.data[index];
    if (hash_get(&tracker->by_pid, process->pid) == index)
        hash_remove(&tracker->by_pid, process->pid);
    process_free(tracker, process);
    return index_pool_remove(&tracker->processes, index) ? 0 : error_no_memory(err);
}

/* Forgets a thread, and with its last one the process. */
static int end_thread(struct tracker *tracker, uint32_t tid, uint64_t time, struct error *err)
{
    uint32_t index = hash_get(&tracker->by_tid, tid);
    if (index == HASH_MISSING)
        return 0;
    struct tracked_thread *thread = tracker->threads.items.data[index];
    uint32_t process_index = thread->process;
    struct tracked_process *process = process_of(tracker, thread);
    struct spool_event event = {.kind = SPOOL_THREAD_END, .number = thread->number, .time = time};
    int code = tracker_tell_unsampled(tracker, thread, time, err);
    if (!code)
        code = spool_writer_event(tracker->spool, &event, err);
    hash_remove(&tracker->by_tid, tid);
    unlink_thread(process, thread);
    thread_free(thread);
    if (!index_pool_remove(&tracker->threads, index))
        return error_no_memory(err);
    if (!process->threads && !code)
        code = end_process(tracker, process_index, err);
    return code;
}

static int end_thread_later(struct tracker *tracker, uint32_t tid, uint64_t time, struct error *err)
{
    const struct tracked_thread *thread = find_thread(tracker, tid);
    if (!thread)
        return 0;
    struct ending ending = {.tid = tid, .number = thread->number, .time = time};
    return array_push(&tracker->endings, ending) ? 0 : error_no_memory(err);
}

/* Ends the threads whose moment is over. */
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
    if (tracker->endings_done > tracker->endings.length / 2) { /* where threads always end, it is never empty */
        tracker->endings.length -= tracker->endings_done;
        memmove(tracker->endings.data, tracker->endings.data + tracker->endings_done,
                tracker->endings.length * sizeof(struct ending));
        tracker->endings_done = 0;
    }
    return code;
}

/* A number of the system that is used again although no end was seen: the record was lost. */
static int end_stale_process(struct tracker *tracker, uint32_t pid, uint64_t time, struct error *err)
{
    int code = 0;
    for (struct tracked_process *process; !code && (process = find_process(tracker, pid)) && process->threads;)
        code = end_thread(tracker, process->threads->tid, time, err);
    return code;
}

/* ---- what begins ---- */

static int emit_process(struct tracker *tracker, const struct tracked_process *process, uint32_t parent, bool exec,
                        uint64_t time, const char *name, struct error *err)
{
    struct spool_event event = {.kind = SPOOL_PROCESS,
                                .number = process->number,
                                .parent = parent,
                                .exec = exec,
                                .pid = process->pid,
                                .time = time,
                                .name = name};
    return spool_writer_event(tracker->spool, &event, err);
}

static int emit_thread(struct tracker *tracker, const struct tracked_thread *thread, uint64_t time, struct error *err)
{
    struct spool_event event = {.kind = SPOOL_THREAD,
                                .number = thread->number,
                                .process = process_of(tracker, thread)->number,
                                .tid = thread->tid,
                                .time = time,
                                .name = thread->name};
    return spool_writer_event(tracker->spool, &event, err);
}

static int add_process(struct tracker *tracker, uint32_t pid, struct tracked_process **added, struct error *err)
{
    struct tracked_process *process = calloc(1, sizeof(*process));
    if (!process)
        return error_no_memory(err);
    process->pid = pid;
    process->number = tracker->next_process++;
    process->losses = tracker->losses;
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
    thread->clock.started = time;
    copy_name(thread, name);
    uint32_t index;
    if (!index_pool_add(&tracker->threads, thread, &index)) {
        free(thread);
        return error_no_memory(err);
    }
    link_thread(process, thread);
    int code = end_thread(tracker, tid, time, err); /* one of this number whose end was not seen */
    if (code)
        return code;
    if (!hash_set(&tracker->by_tid, tid, index))
        return error_no_memory(err);
    return emit_thread(tracker, thread, time, err);
}

/* ---- compiled code ---- */

/* Executable memory that is no file's is where compiled code will be; a jitdump file is mapped to tell us of it. */
static bool note_code(struct tracker *tracker, struct tracked_process *process, const struct perf_mapping *mapping,
                      bool is_file)
{
    if (!tracker->jit_files)
        return true;
    if (!is_file)
        return jit_files_note(tracker->jit_files, process->number, process->pid);
    if (!jit_files_is_jitdump(mapping->path))
        return true;
    if (!jit_files_note_jitdump(tracker->jit_files, process->number, process->pid, mapping))
        return false;
    int dump = jit_files_find(tracker->jit_files, process->number)->dump;
    if (dump >= 0 && !process->dump)
        process->dump = jitdump_unwind_new(dump);
    return dump < 0 || process->dump;
}

/* Memory of a compiler is made executable again each time when something was written to it: what the jitdump file has
 * said of the code there still holds. */
static bool map_memory(struct tracked_process *process, const struct mapping *map)
{
    return process->dump && map->lib == MAPPING_NO_LIB ? address_space_map_around(&process->space, map)
                                                       : address_space_map(&process->space, map);
}

static bool inherit_code(struct tracker *tracker, const struct tracked_process *child,
                         const struct tracked_process *parent)
{
    if (!parent || !tracker->jit_files || !jit_files_find(tracker->jit_files, parent->number))
        return true;
    return jit_files_note(tracker->jit_files, child->number, child->pid);
}

/* ---- Python ---- */

static bool note_python(const struct tracker *tracker, struct tracked_process *process, const struct mapping *map,
                        const struct library_mapping *found)
{
    if (!tracker->has_python || !found->python || process->python)
        return true;
    process->python = python_process_new(found->python, map->start - map->rva);
    process->python_lib = map->lib;
    return process->python != NULL;
}

static bool inherit_python(struct tracked_process *child, const struct tracked_process *parent)
{
    if (!parent || !parent->python)
        return true;
    child->python = python_process_fork(parent->python);
    child->python_lib = parent->python_lib;
    return child->python != NULL;
}

/* ---- records ---- */

static int map_into(struct tracker *tracker, struct tracked_process *process, const struct perf_mapping *mapping,
                    uint64_t time, struct error *err)
{
    if (tracker->marks) {
        int failed = marks_take_mapping(tracker->marks, process->pid, mapping, err);
        if (failed)
            return failed;
    }
    if (!mapping->executable || !mapping->length || mapping->start > UINT64_MAX - mapping->length)
        return 0;
    struct library_mapping found;
    int code = library_table_find(tracker->libraries, process->pid, mapping, &found, err);
    if (code)
        return code;
    struct mapping map = {.start = mapping->start,
                          .end = mapping->start + mapping->length,
                          .rva = found.rva,
                          .lib = found.lib == SPOOL_NO_NUMBER ? MAPPING_NO_LIB : found.lib,
                          .module = found.module};
    process->space.is_java |= strcmp(path_base_name(mapping->path), "libjvm.so") == 0;
    if (!map_memory(process, &map) || !note_code(tracker, process, mapping, found.lib != SPOOL_NO_NUMBER) ||
        !note_python(tracker, process, &map, &found))
        return error_no_memory(err);
    struct spool_event event = {.kind = SPOOL_MAP,
                                .number = process->number,
                                .time = time,
                                .start = map.start,
                                .end = map.end,
                                .rva = map.rva,
                                .lib_number = found.lib};
    return spool_writer_event(tracker->spool, &event, err);
}

struct maps_reading {
    struct tracker *tracker;
    struct tracked_process *process;
    uint64_t time;
    bool changed;
    struct error *err;
};

/* Whether it was read before; JIT code may have split what is no file's. */
static bool is_known(struct maps_reading *reading, const struct perf_mapping *mapping, struct error *err)
{
    const struct address_space *space = &reading->process->space;
    const struct mapping *first = address_space_find(space, mapping->start);
    const struct mapping *last = address_space_find(space, mapping->start + mapping->length - 1);
    struct library_mapping found;
    if (!first || !last || first->start != mapping->start || last->end != mapping->start + mapping->length ||
        library_table_find(reading->tracker->libraries, reading->process->pid, mapping, &found, err))
        return false;
    if (found.lib == SPOOL_NO_NUMBER)
        return first->lib == MAPPING_NO_LIB && last->lib == MAPPING_NO_LIB;
    return first == last && first->lib == found.lib && first->rva == found.rva;
}

static int use_mapping(void *context, const struct perf_mapping *mapping)
{
    struct maps_reading *reading = context;
    if (!mapping->executable)
        return map_into(reading->tracker, reading->process, mapping, reading->time, reading->err);
    if (!mapping->length || (reading->tracker->reads_mappings && is_known(reading, mapping, reading->err)))
        return 0;
    reading->changed = true;
    return map_into(reading->tracker, reading->process, mapping, reading->time, reading->err);
}

static int read_maps(struct tracker *tracker, struct tracked_process *process, uint64_t time, bool *changed,
                     struct error *err)
{
    struct maps_reading reading = {.tracker = tracker, .process = process, .time = time, .err = err};
    struct error unused = {0};
    reading.err = err ? err : &unused;
    reading.err->text[0] = '\0';
    int code = proc_maps_read(process->pid, use_mapping, &reading);
    *changed = reading.changed;
    if (code == -ENOMEM)
        return error_no_memory(err);
    bool process_is_gone = code && !reading.err->text[0];
    return process_is_gone ? 0 : code;
}

/* A process may have called exec since it was noted: its mappings are those of another program then. */
static int read_unread_maps(struct tracker *tracker, struct tracked_process *process, uint64_t time, struct error *err)
{
    bool changed;
    if (!process->maps_unread)
        return 0;
    process->maps_unread = false;
    return attach_program((pid_t)process->pid) == process->program ? read_maps(tracker, process, time, &changed, err)
                                                                   : 0;
}

static int add_unknown_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                               struct tracked_process **process, struct error *err)
{
    int code = add_process(tracker, pid, process, err);
    if (!code)
        code = emit_process(tracker, *process, SPOOL_NO_NUMBER, false, time, name, err);
    return code;
}

int tracker_add_running_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                struct error *err)
{
    struct tracked_process *process;
    bool changed;
    int code = add_unknown_process(tracker, pid, name, time, &process, err);
    return code ? code : read_maps(tracker, process, time, &changed, err);
}

int tracker_note_running_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                 struct error *err)
{
    struct tracked_process *process;
    int code = add_unknown_process(tracker, pid, name, time, &process, err);
    if (code)
        return code;
    process->maps_unread = true;
    process->program = attach_program((pid_t)pid);
    return 0;
}

int tracker_add_running_thread(struct tracker *tracker, uint32_t pid, uint32_t tid, const char *name, uint64_t time,
                               struct error *err)
{
    struct tracked_process *process = find_process(tracker, pid);
    return process ? add_thread(tracker, process, tid, name, time, err) : 0;
}

bool tracker_knows(const struct tracker *tracker, uint32_t tid)
{
    return hash_get(&tracker->by_tid, tid) != HASH_MISSING;
}

/* The kernel gives a thread that it has taken off its lists already the number -1. */
static void living_name(uint32_t pid, uint32_t tid, char *name, size_t size)
{
    if (tid == UINT32_MAX)
        snprintf(name, size, "(exiting)");
    else
        attach_thread_name((pid_t)pid, (pid_t)tid, name, size);
}

int tracker_find(struct tracker *tracker, uint32_t pid, uint32_t tid, uint64_t time, struct tracked_thread **thread,
                 struct tracked_process **process, struct error *err)
{
    *thread = find_thread(tracker, tid);
    *process = *thread ? process_of(tracker, *thread) : NULL;
    if (*process && (*process)->pid == pid)
        return read_unread_maps(tracker, *process, time, err);
    *process = find_process(tracker, pid);
    char name[32];
    int code = 0;
    if (!*process) {
        bool changed;
        living_name(pid, pid, name, sizeof(name));
        code = add_unknown_process(tracker, pid, name, time, process, err);
        if (!code)
            code = read_maps(tracker, *process, time, &changed, err);
    }
    living_name(pid, tid, name, sizeof(name));
    if (!code)
        code = add_thread(tracker, *process, tid, name, time, err);
    *thread = find_thread(tracker, tid);
    return code;
}

static const uint64_t reading_interval = UINT64_C(1000000000); /* ns between two readings of mappings */

/* Of readings that change nothing: 1 ms, 2, 4, ... */
static uint64_t next_pause(uint64_t pause)
{
    const uint64_t first = UINT64_C(1000000);
    return !pause ? first : 2 * pause < reading_interval ? 2 * pause : reading_interval;
}

static int read_maps_at_most(struct tracker *tracker, struct tracked_process *process, uint64_t time, uint64_t pause,
                             bool *changed, struct error *err)
{
    *changed = false;
    if (process->last_reading && time < process->last_reading + pause)
        return 0;
    process->last_reading = time;
    return read_maps(tracker, process, time, changed, err);
}

int tracker_refresh(struct tracker *tracker, struct tracked_process *process, uint64_t time, bool *changed,
                    struct error *err)
{
    bool has_new_mappings;
    if (tracker->reads_mappings) {
        uint64_t before = process->last_reading;
        int code = read_maps_at_most(tracker, process, time, process->reading_pause, changed, err);
        if (*changed)
            process->reading_pause = 0;
        else if (process->last_reading != before)
            process->reading_pause = next_pause(process->reading_pause);
        return code;
    }
    *changed = process->losses != tracker->losses;
    int code = *changed ? read_maps(tracker, process, time, &has_new_mappings, err) : 0;
    if (!code)
        process->losses = tracker->losses;
    return code;
}

int tracker_keep_current(struct tracker *tracker, struct tracked_process *process, uint64_t time, struct error *err)
{
    bool changed;
    return tracker->reads_mappings ? read_maps_at_most(tracker, process, time, reading_interval, &changed, err) : 0;
}

/* A new thread is ready to run, and soon comes to a CPU. */
static int add_new_thread(struct tracker *tracker, struct tracked_process *process, const struct perf_record *record,
                          const char *name, struct error *err)
{
    int code = add_thread(tracker, process, record->tid, name, record->time, err);
    if (!code)
        find_thread(tracker, record->tid)->run =
            (struct thread_run){.state = RUN_WAITS, .since = record->time, .preempted = true};
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
    struct tracked_process *parent = find_process(tracker, record->task.parent_pid);
    if (parent)
        code = read_unread_maps(tracker, parent, record->time, err);
    if (code)
        return code;
    const struct tracked_thread *forking = find_thread(tracker, record->task.parent_tid);
    const char *name = forking ? forking->name : "";
    if ((parent && !address_space_copy(&child->space, &parent->space)) || !inherit_code(tracker, child, parent) ||
        !inherit_python(child, parent))
        return error_no_memory(err);
    if (parent)
        child->losses = parent->losses;
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

/* By the time that the record of an exec is read, the process may have called exec again. */
static int emit_command(struct tracker *tracker, const struct tracked_process *process, const char *name,
                        struct error *err)
{
    char now[32];
    attach_thread_name((pid_t)process->pid, (pid_t)process->pid, now, sizeof(now));
    if (strcmp(now, name) != 0)
        return 0;
    char **words = attach_command((pid_t)process->pid);
    if (!words)
        return error_no_memory(err);
    int code = info_write_process_command(tracker->spool, process->number, words, err);
    free(words);
    return code;
}

/*
 * The thread that called exec goes on alone, under the number of the process. The others have ended, and their ends
 * were recorded before. If the first thread was not the caller it has ended as well, and the caller is the one that is
 * left; its counters go on, and so does its time on the CPU.
 */
static struct thread_clock take_clock_of_caller(struct tracker *tracker, const struct tracked_process *process,
                                                struct thread_run *run)
{
    struct thread_clock clock = {0};
    struct tracked_thread *caller = find_thread(tracker, process->pid);
    if (!caller)
        caller = process->threads;
    if (caller) {
        clock = caller->clock;
        caller->clock = (struct thread_clock){0};
        *run = caller->run;
        caller->run = (struct thread_run){0};
    }
    return clock;
}

static int exec_process(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    struct tracked_process *old = find_process(tracker, record->pid), before = {.started = record->time};
    uint32_t old_number = old ? old->number : SPOOL_NO_NUMBER;
    struct thread_clock clock = {0};
    struct thread_run run = {.state = RUN_ON, .since = record->time};
    int code = 0;
    if (old) {
        clock = take_clock_of_caller(tracker, old, &run);
        before = *old;
        old->counters = NULL;
        code = end_stale_process(tracker, record->pid, record->time, err);
    }
    struct tracked_process *process = NULL;
    if (!code)
        code = add_process(tracker, record->pid, &process, err);
    if (process)
        counters_process_execs(&before, process, record->time);
    else if (before.counters)
        counters_forget(tracker->counters, &before);
    if (!code)
        code = emit_process(tracker, process, old_number, old_number != SPOOL_NO_NUMBER, record->time,
                            record->comm.name, err);
    if (!code)
        code = add_thread(tracker, process, record->tid, record->comm.name, record->time, err);
    struct tracked_thread *thread = find_thread(tracker, record->tid);
    if (code || !thread) {
        thread_clock_destroy(&clock);
        free(run.stack);
    } else {
        thread->clock = clock;
        thread->run = run;
    }
    if (!code)
        code = emit_command(tracker, process, record->comm.name, err);
    if (!code && tracker->reads_mappings) {
        bool changed;
        code = read_maps(tracker, process, record->time, &changed, err);
        process->last_reading = record->time;
    }
    return code;
}

static int rename_thread(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    struct tracked_thread *thread = find_thread(tracker, record->tid);
    if (!thread || !strcmp(thread->name, record->comm.name))
        return 0;
    copy_name(thread, record->comm.name);
    struct spool_event event = {
        .kind = SPOOL_NAME, .number = thread->number, .time = record->time, .name = thread->name};
    return spool_writer_event(tracker->spool, &event, err);
}

static int map_record(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    struct tracked_process *process = find_process(tracker, record->pid);
    if (!process) {
        int code = add_unknown_process(tracker, record->pid, "", record->time, &process, err);
        if (!code)
            code = add_thread(tracker, process, record->tid, "", record->time, err);
        if (code)
            return code;
    }
    return map_into(tracker, process, &record->mapping, record->time, err);
}

static int lost_records(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    tracker->losses++;
    struct spool_event event = {.kind = SPOOL_LOST, .time = record->time, .cpu = record->cpu, .count = record->lost};
    return spool_writer_event(tracker->spool, &event, err);
}

struct tracked_process *tracker_process(const struct tracker *tracker, uint32_t pid)
{
    return find_process(tracker, pid);
}

struct tracked_thread *tracker_thread(struct tracker *tracker, uint32_t tid, struct tracked_process **process)
{
    struct tracked_thread *thread = find_thread(tracker, tid);
    *process = thread ? process_of(tracker, thread) : NULL;
    return thread;
}

size_t tracker_thread_count(const struct tracker *tracker)
{
    return tracker->threads.items.length;
}

struct tracked_thread *tracker_thread_at(struct tracker *tracker, size_t i, struct tracked_process **process)
{
    struct tracked_thread *thread = tracker->threads.items.data[i];
    *process = thread ? process_of(tracker, thread) : NULL;
    return thread;
}

/* The record of an end may not have come yet. A zombie only waits for its parent. */
static bool still_runs(uint32_t pid)
{
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
    const char *name_end = file_read_text(path, line, sizeof(line)) ? strrchr(line, ')') : NULL;
    return name_end && name_end[1] && !strchr("ZX", name_end[2]);
}

size_t tracker_count_processes(const struct tracker *tracker)
{
    return tracker->processes.items.length - tracker->processes.free.length;
}

size_t tracker_list_survivors(const struct tracker *tracker, char *text, size_t size)
{
    enum { LISTED = 5 };
    size_t count = 0, used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < tracker->processes.items.length; i++) {
        const struct tracked_process *process = tracker->processes.items.data[i];
        if (!process || !still_runs(process->pid) || count++ >= LISTED || used >= size)
            continue;
        char name[32];
        attach_thread_name((pid_t)process->pid, (pid_t)process->pid, name, sizeof(name));
        used += (size_t)snprintf(text + used, size - used, "%s%s (%" PRIu32 ")", used ? ", " : "", name, process->pid);
    }
    if (count > LISTED && used < size)
        snprintf(text + used, size - used, " and %zu more", count - LISTED);
    return count;
}

/* The values of a process can be read until its parent has waited for it. */
static int read_last_counters(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    const struct tracked_thread *thread = tracker->counters ? find_thread(tracker, record->tid) : NULL;
    struct tracked_process *process = thread ? process_of(tracker, thread) : NULL;
    bool is_last = process && process->threads == thread && !thread->next;
    return is_last ? counters_process_ends(tracker->counters, process, err) : 0;
}

int tracker_record(struct tracker *tracker, const struct perf_record *record, struct error *err)
{
    int code = end_threads(tracker, record->time, err);
    if (!code && record->type == PERF_RECORD_EXIT)
        code = read_last_counters(tracker, record, err);
    if (code)
        return code;
    switch (record->type) {
    case PERF_RECORD_FORK:
        return record->pid == record->task.parent_pid ? fork_thread(tracker, record, err)
                                                      : fork_process(tracker, record, err);
    case PERF_RECORD_COMM:
        return record->comm.exec ? exec_process(tracker, record, err) : rename_thread(tracker, record, err);
    case PERF_RECORD_MMAP2:
        return map_record(tracker, record, err);
    case PERF_RECORD_EXIT:
        return tracker->has_samples_after_ends ? end_thread_later(tracker, record->tid, record->time, err)
                                               : end_thread(tracker, record->tid, record->time, err);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        return lost_records(tracker, record, err);
    default:
        return 0;
    }
}
