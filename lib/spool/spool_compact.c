#include "spool/spool_compact.h"

struct known_thread {
    uint32_t number, process;
    bool has_ended, stays;
};

struct known_process {
    uint32_t number, parent;
    bool exec, had_thread, stays;
};

struct compaction {
    struct spool_uses *uses;
    struct hash thread_rows, process_rows; /* number -> index */
    ARRAY(struct known_thread) threads;
    ARRAY(struct known_process) processes;
};

/* Whether the last chunk that refers to `number` is still in the file. */
static bool is_used(const struct spool_uses *uses, const struct hash *numbers, uint32_t number)
{
    uint32_t chunk = hash_get(numbers, number);
    return chunk != HASH_MISSING && (int32_t)(chunk - (uint32_t)uses->oldest_chunk) >= 0;
}

static struct known_thread *find_thread(const struct compaction *compaction, uint32_t number)
{
    uint32_t row = hash_get(&compaction->thread_rows, number);
    return row == HASH_MISSING ? NULL : &compaction->threads.data[row];
}

static struct known_process *find_process(const struct compaction *compaction, uint32_t number)
{
    uint32_t row = hash_get(&compaction->process_rows, number);
    return row == HASH_MISSING ? NULL : &compaction->processes.data[row];
}

/* ---- collecting threads and processes ---- */

static bool collect_record(struct compaction *compaction, const struct spool_record *record)
{
    struct known_thread *thread;
    struct known_process *process;
    switch (record->kind) {
    case SPOOL_PROCESS:
        return hash_set(&compaction->process_rows, record->process.process, (uint32_t)compaction->processes.length) &&
               array_push(&compaction->processes, ((struct known_process){.number = record->process.process,
                                                                          .parent = record->process.parent,
                                                                          .exec = record->process.exec}));
    case SPOOL_THREAD:
        if ((process = find_process(compaction, record->thread.process)))
            process->had_thread = true;
        return hash_set(&compaction->thread_rows, record->thread.thread, (uint32_t)compaction->threads.length) &&
               array_push(&compaction->threads,
                          ((struct known_thread){.number = record->thread.thread, .process = record->thread.process}));
    case SPOOL_THREAD_END:
        if ((thread = find_thread(compaction, record->thread_end.thread)))
            thread->has_ended = true;
        return true;
    default:
        return true;
    }
}

static bool collect_records(struct compaction *compaction, const unsigned char *bytes, size_t size)
{
    struct cursor in = cursor_of(bytes, size);
    struct spool_record record;
    while (cursor_left(&in))
        if (!record_code_read(&in, &record) || !collect_record(compaction, &record))
            return false;
    return true;
}

/* ---- choosing the events to keep ---- */

/* Chooses the threads and processes to keep: processes with a kept thread or still without any thread, and the parents
 * from which kept processes inherited mappings by fork, not exec. */
static void choose_kept_threads(struct compaction *compaction)
{
    struct spool_uses *uses = compaction->uses;
    for (size_t i = 0; i < compaction->threads.length; i++) {
        struct known_thread *thread = &compaction->threads.data[i];
        struct known_process *process = find_process(compaction, thread->process);
        thread->stays = !thread->has_ended || is_used(uses, &uses->threads, thread->number);
        if (!thread->stays)
            hash_remove(&uses->threads, thread->number);
        else if (process)
            process->stays = true;
    }
    size_t count = compaction->processes.data ? compaction->processes.length : 0;
    for (size_t i = count; i-- > 0;) { /* children follow their parents */
        struct known_process *process = &compaction->processes.data[i];
        bool has_none_yet = !process->had_thread && i + 1 == count;
        process->stays |= has_none_yet || is_used(uses, &uses->processes, process->number);
        struct known_process *parent = process->exec ? NULL : find_process(compaction, process->parent);
        if (!process->stays)
            hash_remove(&uses->processes, process->number);
        else if (parent)
            parent->stays = true;
    }
}

static bool keeps_thread(const struct compaction *compaction, uint32_t number)
{
    const struct known_thread *thread = find_thread(compaction, number);
    return thread && thread->stays;
}

static bool keeps_process(const struct compaction *compaction, uint32_t number)
{
    const struct known_process *process = find_process(compaction, number);
    return process && process->stays;
}

/* Whether to keep a mark: its interval ends after the oldest sample. */
static bool keeps_mark(const struct compaction *compaction, const struct spool_program_mark *mark)
{
    uint64_t end = mark->mark == SPOOL_MARK_SPAN && mark->end_ns > mark->time_ns ? mark->end_ns : mark->time_ns;
    return end >= compaction->uses->oldest_time;
}

/* Whether to keep an event. Without a default, the compiler reports an unhandled kind. */
static bool keeps_record(const struct compaction *compaction, const struct spool_record *record)
{
    uint64_t oldest = compaction->uses->oldest_time;
    switch (record->kind) {
    case SPOOL_PROCESS:
        return keeps_process(compaction, record->process.process);
    case SPOOL_COMMAND:
        return keeps_process(compaction, record->command_line.process);
    case SPOOL_MAP:
        return record->mapping.process == SPOOL_NO_NUMBER || keeps_process(compaction, record->mapping.process);
    case SPOOL_THREAD:
        return keeps_thread(compaction, record->thread.thread);
    case SPOOL_NAME:
        return keeps_thread(compaction, record->thread_name.thread);
    case SPOOL_THREAD_END:
        return keeps_thread(compaction, record->thread_end.thread);
    case SPOOL_UNSAMPLED_THREAD:
        return keeps_thread(compaction, record->unsampled_thread_time.thread);
    case SPOOL_PROGRAM_MARK:
        return keeps_mark(compaction, &record->program_mark);
    case SPOOL_LOST:
        return record->lost.time_ns >= oldest;
    case SPOOL_MARKS_LOST:
        return record->marks_lost.time_ns >= oldest;
    case SPOOL_EXIT:
        return record->process_exit.time_ns >= oldest;
    case SPOOL_WORK:
        return record->recorder_work.end_ns >= oldest;
    case SPOOL_SIGNAL:
        return record->signal.time_ns >= oldest;
    case SPOOL_OOM_KILL:
        return record->oom_kill.time_ns >= oldest;
    case SPOOL_INFO:
    case SPOOL_LIB:
    case SPOOL_OBJECT:
    case SPOOL_PYTHON_FUNCTION:
    case SPOOL_MARK_NAME:
    case SPOOL_MARK:
    case SPOOL_RUN:
    case SPOOL_PAUSED:
    case SPOOL_RESUMED:
    case SPOOL_UNSAMPLED_PROCESS: /* a record that only the end of the file has */
    case SPOOL_SAMPLE:
    case SPOOL_WAIT:
    case SPOOL_EVENT_SAMPLE:
    case SPOOL_COUNTERS:
    case SPOOL_SLICE:
    case SPOOL_WAKER_STACK:
        break;
    }
    return true;
}

static bool copy_kept_events(const struct compaction *compaction, const unsigned char *bytes, size_t size,
                             struct spool_bytes *out)
{
    struct cursor in = cursor_of(bytes, size);
    struct spool_record record;
    while (cursor_left(&in)) {
        const unsigned char *start = in.at;
        if (!record_code_read(&in, &record))
            return false;
        if (keeps_record(compaction, &record) && !array_append(out, start, (size_t)(in.at - start)))
            return false;
    }
    return true;
}

bool spool_compact(const unsigned char *bytes, size_t size, struct spool_uses *uses, struct spool_bytes *out)
{
    struct compaction compaction = {.uses = uses};
    bool done = collect_records(&compaction, bytes, size);
    if (done) {
        choose_kept_threads(&compaction);
        done = copy_kept_events(&compaction, bytes, size, out);
    }
    hash_destroy(&compaction.thread_rows);
    hash_destroy(&compaction.process_rows);
    array_free(&compaction.threads);
    array_free(&compaction.processes);
    return done;
}
