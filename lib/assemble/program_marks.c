#include "assemble/program_marks.h"

#include "assemble/replay_none.h"
#include "record/mark_writer.h"

static int add_name(struct program_marks *marks, const struct spool_mark_name *record, struct error *err)
{
    if (record->mark_name > MARK_WRITER_NAMES_MAX + 1)
        return 0;
    while (marks->names.length <= record->mark_name)
        if (!array_push(&marks->names, STRING_NONE))
            return error_no_memory(err);
    uint32_t *name = &marks->names.data[record->mark_name];
    *name = strings_add_z(&marks->texts, record->name);
    return *name == STRING_NONE ? error_no_memory(err) : 0;
}

static int add_mark(struct program_marks *marks, const struct spool_program_mark *record, struct error *err)
{
    bool is_known = record->mark_name < marks->names.length && marks->names.data[record->mark_name] != STRING_NONE;
    if (record->mark >= SPOOL_MARK_KINDS || marks->items.length >= MARK_WRITER_MARKS_MAX)
        return 0;
    struct program_mark mark = {.kind = record->mark,
                                .pid = record->pid,
                                .tid = record->tid,
                                .thread = REPLAY_NONE,
                                .time = record->time_ns,
                                .end = record->end_ns,
                                .value = record->value,
                                .name = is_known ? marks->names.data[record->mark_name]
                                                 : strings_add_z(&marks->texts, "(no name)"),
                                .text = record->text[0] ? strings_add_z(&marks->texts, record->text) : STRING_NONE};
    bool ok = mark.name != STRING_NONE && (!record->text[0] || mark.text != STRING_NONE);
    return ok && array_push(&marks->items, mark) ? 0 : error_no_memory(err);
}

static bool add_lost(struct program_marks *marks, const struct spool_marks_lost *record)
{
    struct lost_marks lost = {
        .pid = record->pid, .start = record->start_ns, .end = record->time_ns, .count = record->count};
    return array_push(&marks->lost, lost);
}

static bool add_exit(struct program_marks *marks, const struct spool_process_exit *record)
{
    struct process_exit exit = {.pid = record->pid, .time = record->time_ns, .status = (int)(unsigned)record->status};
    return array_push(&marks->exits, exit);
}

static bool add_command(struct program_marks *marks, const struct spool_command_line *record)
{
    uint32_t text = strings_add_z(&marks->texts, record->command);
    return text != STRING_NONE && hash_set(&marks->commands, record->process, text);
}

static bool add_work(struct program_marks *marks, const struct spool_recorder_work *record)
{
    struct work_time work = {
        .start = record->time_ns, .end = record->end_ns, .name = strings_add_z(&marks->texts, record->name)};
    return work.name != STRING_NONE && array_push(&marks->works, work);
}

static bool add_signal(struct program_marks *marks, const struct spool_signal *record)
{
    struct process_signal signal = {.pid = record->pid,
                                    .tid = record->tid,
                                    .time = record->time_ns,
                                    .number = record->signal,
                                    .sender = strings_add_z(&marks->texts, record->sender),
                                    .thread = REPLAY_NONE};
    return signal.sender != STRING_NONE && array_push(&marks->signals, signal);
}

static bool add_oom_kill(struct program_marks *marks, const struct spool_oom_kill *record)
{
    struct oom_kill kill = {.pid = record->pid, .time = record->time_ns, .count = record->count};
    return array_push(&marks->oom_kills, kill);
}

static int check_memory(bool ok, struct error *err)
{
    return ok ? 0 : error_no_memory(err);
}

int program_marks_add(struct program_marks *marks, const struct spool_record *record, struct error *err)
{
    switch (record->kind) {
    case SPOOL_MARK_NAME:
        return add_name(marks, &record->mark_name, err);
    case SPOOL_PROGRAM_MARK:
        return add_mark(marks, &record->program_mark, err);
    case SPOOL_MARKS_LOST:
        return check_memory(add_lost(marks, &record->marks_lost), err);
    case SPOOL_EXIT:
        return check_memory(add_exit(marks, &record->process_exit), err);
    case SPOOL_COMMAND:
        return check_memory(add_command(marks, &record->command_line), err);
    case SPOOL_WORK:
        return check_memory(add_work(marks, &record->recorder_work), err);
    case SPOOL_SIGNAL:
        return check_memory(add_signal(marks, &record->signal), err);
    case SPOOL_OOM_KILL:
        return check_memory(add_oom_kill(marks, &record->oom_kill), err);
    default:
        return 0;
    }
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
