#include "assemble/program_marks.h"

#include "assemble/replay_none.h"
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
