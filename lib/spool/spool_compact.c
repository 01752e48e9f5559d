#include "spool/spool_compact.h"

#include <string.h>

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

bool spool_uses_have(const struct spool_uses *uses, const struct hash *numbers, uint32_t number)
{
    uint32_t chunk = hash_get(numbers, number);
    return chunk != HASH_MISSING && (int32_t)(chunk - (uint32_t)uses->oldest_chunk) >= 0;
}

static struct known_thread *thread_of(const struct compaction *compaction, uint32_t number)
{
    uint32_t row = hash_get(&compaction->thread_rows, number);
    return row == HASH_MISSING ? NULL : &compaction->threads.data[row];
}

static struct known_process *process_of(const struct compaction *compaction, uint32_t number)
{
    uint32_t row = hash_get(&compaction->process_rows, number);
    return row == HASH_MISSING ? NULL : &compaction->processes.data[row];
}

/* ---- what there is ---- */

static bool note_event(struct compaction *compaction, const struct spool_event *event)
{
    struct known_thread *thread;
    struct known_process *process;
    switch (event->kind) {
    case SPOOL_PROCESS:
        return hash_set(&compaction->process_rows, event->number, (uint32_t)compaction->processes.length) &&
               array_push(
                   &compaction->processes,
                   ((struct known_process){.number = event->number, .parent = event->parent, .exec = event->exec}));
    case SPOOL_THREAD:
        if ((process = process_of(compaction, event->process)))
            process->had_thread = true;
        return hash_set(&compaction->thread_rows, event->number, (uint32_t)compaction->threads.length) &&
               array_push(&compaction->threads,
                          ((struct known_thread){.number = event->number, .process = event->process}));
    case SPOOL_THREAD_END:
        if ((thread = thread_of(compaction, event->number)))
            thread->has_ended = true;
        return true;
    default:
        return true;
    }
}

static bool note_events(struct compaction *compaction, const unsigned char *bytes, size_t size)
{
    struct cursor in = cursor_of(bytes, size);
    struct spool_event event;
    while (cursor_left(&in))
        if (!spool_event_read(&in, &event) || !note_event(compaction, &event))
            return false;
    return true;
}

/* ---- what stays ---- */

/* A process stays with a thread, and while none has come yet; and its mappings are those of a child that was forked. A
 * program that called exec has none of them. */
static void choose(struct compaction *compaction)
{
    struct spool_uses *uses = compaction->uses;
    for (size_t i = 0; i < compaction->threads.length; i++) {
        struct known_thread *thread = &compaction->threads.data[i];
        struct known_process *process = process_of(compaction, thread->process);
        thread->stays = !thread->has_ended || spool_uses_have(uses, &uses->threads, thread->number);
        if (!thread->stays)
            hash_remove(&uses->threads, thread->number);
        else if (process)
            process->stays = true;
    }
    size_t count = compaction->processes.data ? compaction->processes.length : 0;
    for (size_t i = count; i-- > 0;) { /* children come after their parents */
        struct known_process *process = &compaction->processes.data[i];
        bool has_none_yet = !process->had_thread && i + 1 == count;
        process->stays |= has_none_yet || spool_uses_have(uses, &uses->processes, process->number);
        struct known_process *parent = process->exec ? NULL : process_of(compaction, process->parent);
        if (!process->stays)
            hash_remove(&uses->processes, process->number);
        else if (parent)
            parent->stays = true;
    }
}

static bool thread_stays(const struct compaction *compaction, uint32_t number)
{
    const struct known_thread *thread = thread_of(compaction, number);
    return thread && thread->stays;
}

static bool process_stays(const struct compaction *compaction, uint32_t number)
{
    const struct known_process *process = process_of(compaction, number);
    return process && process->stays;
}

static bool event_stays(const struct compaction *compaction, const struct spool_event *event)
{
    uint64_t end = event->end > event->time ? event->end : event->time;
    switch (event->kind) {
    case SPOOL_PROCESS:
    case SPOOL_COMMAND:
        return process_stays(compaction, event->number);
    case SPOOL_MAP:
        return event->number == SPOOL_NO_NUMBER || process_stays(compaction, event->number);
    case SPOOL_THREAD:
    case SPOOL_NAME:
    case SPOOL_THREAD_END:
    case SPOOL_UNSAMPLED:
        return thread_stays(compaction, event->number);
    case SPOOL_PROGRAM_MARK:
        if (event->mark == SPOOL_MARK_COUNTER)
            end = event->time;
        return end >= compaction->uses->oldest_time;
    case SPOOL_LOST:
    case SPOOL_MARKS_LOST:
    case SPOOL_EXIT:
    case SPOOL_WORK:
    case SPOOL_SIGNAL:
    case SPOOL_OOM_KILL:
        return end >= compaction->uses->oldest_time;
    default:
        return true;
    }
}

static bool copy_events(const struct compaction *compaction, const unsigned char *bytes, size_t size,
                        struct spool_bytes *out)
{
    struct cursor in = cursor_of(bytes, size);
    struct spool_event event;
    while (cursor_left(&in)) {
        const unsigned char *start = in.at;
        if (!spool_event_read(&in, &event))
            return false;
        if (event_stays(compaction, &event) && !array_append(out, start, (size_t)(in.at - start)))
            return false;
    }
    return true;
}

bool spool_compact(const unsigned char *bytes, size_t size, struct spool_uses *uses, struct spool_bytes *out)
{
    struct compaction compaction = {.uses = uses};
    bool done = note_events(&compaction, bytes, size);
    if (done) {
        choose(&compaction);
        done = copy_events(&compaction, bytes, size, out);
    }
    hash_destroy(&compaction.thread_rows);
    hash_destroy(&compaction.process_rows);
    array_free(&compaction.threads);
    array_free(&compaction.processes);
    return done;
}
