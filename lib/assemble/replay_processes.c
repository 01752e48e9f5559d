#include "assemble/replay_processes.h"

#include "assemble/replay_jit.h"
#include "assemble/replay_libs.h"
#include "assemble/replay_rows.h"

static struct replay_process *process_at(struct replay *replay, uint32_t number)
{
    return number < replay->processes.length && replay->processes.data[number].known ? &replay->processes.data[number]
                                                                                     : NULL;
}

bool replay_knows_thread(const struct replay *replay, uint32_t number)
{
    return number < replay->threads.length && replay->threads.data[number].known;
}

int replay_map(struct replay *replay, const struct spool_event *event, struct error *err)
{
    struct mapping mapping = {.start = event->start,
                              .end = event->end,
                              .rva = event->rva,
                              .lib = event->lib_number == SPOOL_NO_NUMBER ? MAPPING_NO_LIB : event->lib_number};
    if (event->number == SPOOL_NO_NUMBER)
        return replay_map_kernel(replay, &mapping, err);
    struct replay_process *process = process_at(replay, event->number);
    if (!process)
        return 0;
    process->map_generation++;
    replay_jit_mapped(replay, event->number, event->lib_number);
    if (mapping.start < mapping.end && !address_space_map(&process->space, &mapping))
        return error_no_memory(err);
    return replay_note_load(replay, event, err);
}

void replay_end_thread(struct replay *replay, const struct spool_event *event)
{
    if (!replay_knows_thread(replay, event->number))
        return;
    struct replay_thread *thread = &replay->threads.data[event->number];
    thread->end = event->time;
    array_free(&thread->last_stack.pcs);
    array_free(&thread->last_stack.stacks);
    struct replay_process *process = process_at(replay, thread->process);
    if (process && process->live_threads && --process->live_threads == 0) {
        process->end = event->time;
        address_space_destroy(&process->space);
        process->space = (struct address_space){0};
        process->map_generation++;
    }
}

void replay_note_rest(struct replay *replay, const struct spool_event *event)
{
    if (!replay_knows_thread(replay, event->number))
        return;
    struct replay_thread *thread = &replay->threads.data[event->number];
    replay->cpu_time.has_rests = true;
    thread->cpu_time.rest += event->count;
}

int replay_start_process(struct replay *replay, const struct spool_event *event, struct error *err)
{
    int is_there = REPLAY_ENSURE_ROW(replay, &replay->processes, event->number, err);
    if (is_there <= 0)
        return is_there;
    struct replay_process *process = &replay->processes.data[event->number];
    if (process->known)
        return 0;
    *process = (struct replay_process){
        .known = true,
        .parent = event->parent,
        .pid = event->pid,
        .start = event->time,
        .main_thread = REPLAY_NONE,
        .name = strings_add_z(&replay->strings, event->name),
    };
    if (process->name == STRING_NONE)
        return error_no_memory(err);
    const struct replay_process *parent = process_at(replay, event->parent);
    if (parent && event->exec)
        process->instance = parent->instance + 1;
    else if (parent && !address_space_copy(&process->space, &parent->space))
        return error_no_memory(err);
    return 0;
}

/* The counters of a thread continue over exec. */
static void start_main_thread(struct replay *replay, struct replay_process *process, uint32_t number)
{
    const struct replay_process *before = process_at(replay, process->parent);
    process->main_thread = number;
    if (!before || before->pid != process->pid || before->main_thread == REPLAY_NONE)
        return;
    struct replay_thread *caller = &replay->threads.data[before->main_thread];
    caller->cpu_time.goes_on = true;
    replay->threads.data[number].cpu_time.covered_until = caller->cpu_time.covered_until;
}

int replay_start_thread(struct replay *replay, const struct spool_event *event, struct error *err)
{
    int is_there = REPLAY_ENSURE_ROW(replay, &replay->threads, event->number, err);
    if (is_there <= 0)
        return is_there;
    struct replay_thread *thread = &replay->threads.data[event->number];
    struct replay_process *process = process_at(replay, event->process);
    if (thread->known || !process)
        return 0;
    *thread = (struct replay_thread){
        .known = true,
        .process = event->process,
        .tid = event->tid,
        .start = event->time,
        .cpu_time.covered_until = event->time,
        .name = strings_add_z(&replay->strings, event->name),
    };
    if (event->tid == process->pid)
        start_main_thread(replay, process, event->number);
    process->live_threads++;
    return thread->name == STRING_NONE ? error_no_memory(err) : 0;
}

int replay_rename_thread(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (!replay_knows_thread(replay, event->number))
        return 0;
    struct replay_thread *thread = &replay->threads.data[event->number];
    uint32_t name = strings_add_z(&replay->strings, event->name);
    if (name == STRING_NONE)
        return error_no_memory(err);
    thread->name = name;
    struct replay_process *process = process_at(replay, thread->process);
    if (process && process->pid == thread->tid)
        process->name = name;
    return 0;
}

void replay_note_unseen(struct replay *replay, const struct spool_event *event)
{
    struct replay_process *process = process_at(replay, event->number);
    if (process)
        process->unseen += event->count;
}

void replay_processes_destroy(struct replay *replay)
{
    for (size_t i = 0; i < replay->processes.length; i++) {
        address_space_destroy(&replay->processes.data[i].space);
        replay_jit_destroy(&replay->processes.data[i]);
    }
    for (size_t i = 0; i < replay->threads.length; i++) {
        array_free(&replay->threads.data[i].last_stack.pcs);
        array_free(&replay->threads.data[i].last_stack.stacks);
    }
    array_free(&replay->processes);
    array_free(&replay->threads);
}
