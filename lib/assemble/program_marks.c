#include "assemble/program_marks.h"

#include "assemble/replay.h"
#include "base/search.h"
#include "record/mark_writer.h"

#include <stdlib.h>

bool program_marks_is_event(const struct spool_event *event)
{
    return (event->kind >= SPOOL_MARK_NAME && event->kind <= SPOOL_WORK) || event->kind == SPOOL_SIGNAL ||
           event->kind == SPOOL_OOM_KILL;
}

static int add_name(struct program_marks *marks, const struct spool_event *event, struct error *err)
{
    if (event->number > MARK_WRITER_NAMES + 1)
        return 0;
    while (marks->names.length <= event->number)
        if (!array_push(&marks->names, STRING_NONE))
            return error_no_memory(err);
    uint32_t *name = &marks->names.data[event->number];
    *name = strings_add_z(&marks->texts, event->name);
    return *name == STRING_NONE ? error_no_memory(err) : 0;
}

static int add_mark(struct program_marks *marks, const struct spool_event *event, struct error *err)
{
    bool is_known = event->number < marks->names.length && marks->names.data[event->number] != STRING_NONE;
    if (event->mark >= SPOOL_MARK_KINDS || marks->items.length >= MARK_WRITER_MARKS)
        return 0;
    struct program_mark mark = {.kind = event->mark,
                                .pid = event->pid,
                                .tid = event->tid,
                                .thread = REPLAY_NONE,
                                .time = event->time,
                                .end = event->end,
                                .name = is_known ? marks->names.data[event->number]
                                                 : strings_add_z(&marks->texts, "(no name)"),
                                .text = event->value[0] ? strings_add_z(&marks->texts, event->value) : STRING_NONE};
    bool ok = mark.name != STRING_NONE && (!event->value[0] || mark.text != STRING_NONE);
    return ok && array_push(&marks->items, mark) ? 0 : error_no_memory(err);
}

int program_marks_event(struct program_marks *marks, const struct spool_event *event, struct error *err)
{
    bool ok = true;
    uint32_t text = STRING_NONE;
    switch (event->kind) {
    case SPOOL_MARK_NAME:
        return add_name(marks, event, err);
    case SPOOL_PROGRAM_MARK:
        return add_mark(marks, event, err);
    case SPOOL_MARKS_LOST:
        ok = array_push(
            &marks->lost,
            (struct lost_marks){.pid = event->pid, .start = event->start, .end = event->time, .count = event->count});
        break;
    case SPOOL_EXIT:
        ok = array_push(
            &marks->exits,
            (struct process_exit){.pid = event->pid, .time = event->time, .status = (int)(unsigned)event->count});
        break;
    case SPOOL_COMMAND:
        text = strings_add_z(&marks->texts, event->value);
        ok = text != STRING_NONE && hash_set(&marks->commands, event->number, text);
        break;
    case SPOOL_WORK:
        text = strings_add_z(&marks->texts, event->name);
        ok = text != STRING_NONE &&
             array_push(&marks->works, (struct recorder_work){.start = event->time, .end = event->end, .name = text});
        break;
    case SPOOL_SIGNAL:
        text = strings_add_z(&marks->texts, event->name);
        ok = text != STRING_NONE && array_push(&marks->signals, (struct process_signal){.pid = event->pid,
                                                                                        .tid = event->tid,
                                                                                        .time = event->time,
                                                                                        .number = event->number,
                                                                                        .sender = text,
                                                                                        .thread = REPLAY_NONE});
        break;
    case SPOOL_OOM_KILL:
        ok = array_push(&marks->oom_kills,
                        (struct oom_kill){.pid = event->pid, .time = event->time, .count = event->count});
        break;
    default:
        break;
    }
    return ok ? 0 : error_no_memory(err);
}

/* ---- whose they are ---- */

/* A thread under its number. */
struct known_thread {
    uint32_t tid, thread;
    uint64_t start;
};

static int compare_threads(const void *a, const void *b)
{
    const struct known_thread *left = a, *right = b;
    if (left->tid != right->tid)
        return ORDER(left->tid, right->tid);
    return left->start != right->start ? ORDER(left->start, right->start) : ORDER(left->thread, right->thread);
}

static bool is_before_wanted(const void *element, const void *wanted)
{
    const struct known_thread *known = element, *limit = wanted;
    return known->tid < limit->tid || (known->tid == limit->tid && known->start <= limit->start);
}

/* The thread of this process that had the number at that time; before the first one, that. */
static uint32_t find_thread(const struct replay *replay, const struct known_thread *known, size_t count, uint32_t pid,
                            uint32_t tid, uint64_t time)
{
    const struct known_thread wanted = {.tid = tid, .start = time};
    size_t at = search_count_before(known, count, sizeof(*known), is_before_wanted, &wanted);
    if (at && known[at - 1].tid == tid)
        at--;
    if (at == count || known[at].tid != tid)
        return REPLAY_NONE;
    const struct replay_thread *thread = &replay->threads.data[known[at].thread];
    return replay->processes.data[thread->process].pid == pid ? known[at].thread : REPLAY_NONE;
}

static uint64_t last_moment(const struct program_mark *mark)
{
    return mark->kind == SPOOL_MARK_SPAN ? mark->end : mark->time;
}

/* Threads that were never sampled have a row if they have marks, but for where they are very many. */
static void note_owner(struct replay *replay, uint32_t number, size_t *rows)
{
    enum { MOST_ROWS = 1000 };
    struct replay_thread *thread = &replay->threads.data[number];
    const struct replay_process *process = &replay->processes.data[thread->process];
    if (thread->has_marks || (!replay_is_shown(replay, thread) && ++*rows > MOST_ROWS))
        return;
    thread->has_marks = true;
    if (process->main_thread != REPLAY_NONE)
        replay->threads.data[process->main_thread].has_marks = true;
}

static void find_all(struct replay *replay, const struct known_thread *known, size_t count, uint64_t first_time)
{
    struct program_marks *marks = &replay->program_marks;
    size_t kept = 0, rows = 0;
    for (size_t i = 0; i < marks->items.length; i++) {
        struct program_mark mark = marks->items.data[i];
        if (last_moment(&mark) < first_time)
            continue;
        mark.thread = find_thread(replay, known, count, mark.pid, mark.tid, mark.time);
        if (mark.thread == REPLAY_NONE)
            mark.thread = find_thread(replay, known, count, mark.pid, mark.pid, mark.time);
        if (mark.thread == REPLAY_NONE) {
            marks->homeless++;
            continue;
        }
        note_owner(replay, mark.thread, &rows);
        marks->items.data[kept++] = mark;
    }
    marks->items.length = kept;
}

int program_marks_find_threads(struct replay *replay, uint64_t first_time, struct error *err)
{
    size_t count = 0;
    if (!replay->program_marks.items.length && !replay->program_marks.signals.length)
        return 0;
    struct known_thread *known = malloc((replay->threads.length + 1) * sizeof(*known));
    if (!known)
        return error_no_memory(err);
    for (size_t i = 0; i < replay->threads.length; i++)
        if (replay->threads.data[i].known)
            known[count++] = (struct known_thread){
                .tid = replay->threads.data[i].tid, .thread = (uint32_t)i, .start = replay->threads.data[i].start};
    qsort(known, count, sizeof(*known), compare_threads);
    find_all(replay, known, count, first_time);
    for (size_t i = 0; i < replay->program_marks.signals.length; i++) {
        struct process_signal *signal = &replay->program_marks.signals.data[i];
        signal->thread = find_thread(replay, known, count, signal->pid, signal->tid, signal->time);
    }
    free(known);
    return 0;
}

void program_marks_destroy(struct program_marks *marks)
{
    strings_destroy(&marks->texts);
    array_free(&marks->names);
    array_free(&marks->items);
    array_free(&marks->lost);
    array_free(&marks->exits);
    array_free(&marks->works);
    array_free(&marks->signals);
    array_free(&marks->oom_kills);
    hash_destroy(&marks->commands);
}
