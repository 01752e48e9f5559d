#include "assemble/replay_processes.h"

#include "assemble/replay_jit.h"
#include "assemble/replay_libs.h"
#include "assemble/replay_rows.h"

static struct replay_process *get_process_at(struct replay *replay, uint32_t number)
{
    return number < replay->processes.length && replay->processes.data[number].known ? &replay->processes.data[number]
                                                                                     : NULL;
}

bool replay_knows_thread(const struct replay *replay, uint32_t number)
{
    return number < replay->threads.length && replay->threads.data[number].known;
}

int replay_add_mapping(struct replay *replay, const struct spool_mapping *record, struct error *err)
{
    struct mapping mapping = {.start = record->start,
                              .end = record->end,
                              .rva = record->rva,
                              .lib = record->library == SPOOL_NO_NUMBER ? MAPPING_NO_LIB : record->library};
    if (record->process == SPOOL_NO_NUMBER)
        return replay_map_kernel(replay, &mapping, err);
    struct replay_process *process = get_process_at(replay, record->process);
    if (!process)
        return 0;
    process->map_generation++;
    replay_handle_jit_mapping(replay, record->process, record->library);
    if (mapping.start < mapping.end && !address_space_map(&process->space, &mapping))
        return error_no_memory(err);
    return replay_add_load(replay, record, err);
}

void replay_end_thread(struct replay *replay, const struct spool_thread_end *record)
{
    if (!replay_knows_thread(replay, record->thread))
        return;
    struct replay_thread *thread = &replay->threads.data[record->thread];
    thread->end = record->time_ns;
    array_free(&thread->last_stack.pcs);
    array_free(&thread->last_stack.stacks);
    struct replay_process *process = get_process_at(replay, thread->process);
    if (process && process->live_threads && --process->live_threads == 0) {
        process->end = record->time_ns;
        address_space_destroy(&process->space);
        process->space = (struct address_space){0};
        process->map_generation++;
    }
}

void replay_add_unsampled_rest(struct replay *replay, const struct spool_unsampled_thread_time *record)
{
    if (!replay_knows_thread(replay, record->thread))
        return;
    struct replay_thread *thread = &replay->threads.data[record->thread];
    replay->cpu_time.has_rests = true;
    thread->cpu_time.rest += record->cpu_time_ns;
}

int replay_start_process(struct replay *replay, const struct spool_process *record, struct error *err)
{
    int is_there = REPLAY_ENSURE_ROW(replay, &replay->processes, record->process, err);
    if (is_there <= 0)
        return is_there;
    struct replay_process *process = &replay->processes.data[record->process];
    if (process->known)
        return 0;
    *process = (struct replay_process){
        .known = true,
        .parent = record->parent,
        .pid = record->pid,
        .start = record->time_ns,
        .main_thread = REPLAY_NONE,
        .name = strings_add_z(&replay->strings, record->name),
    };
    if (process->name == STRING_NONE)
        return error_no_memory(err);
    const struct replay_process *parent = get_process_at(replay, record->parent);
    if (parent && record->exec)
        process->instance = parent->instance + 1;
    else if (parent && !address_space_copy(&process->space, &parent->space))
        return error_no_memory(err);
    return 0;
}

/* The counters of a thread continue over exec. */
static void start_main_thread(struct replay *replay, struct replay_process *process, uint32_t number)
{
    const struct replay_process *before = get_process_at(replay, process->parent);
    process->main_thread = number;
    if (!before || before->pid != process->pid || before->main_thread == REPLAY_NONE)
        return;
    struct replay_thread *caller = &replay->threads.data[before->main_thread];
    caller->cpu_time.goes_on = true;
    replay->threads.data[number].cpu_time.covered_until = caller->cpu_time.covered_until;
}

int replay_start_thread(struct replay *replay, const struct spool_thread *record, struct error *err)
{
    int is_there = REPLAY_ENSURE_ROW(replay, &replay->threads, record->thread, err);
    if (is_there <= 0)
        return is_there;
    struct replay_thread *thread = &replay->threads.data[record->thread];
    struct replay_process *process = get_process_at(replay, record->process);
    if (thread->known || !process)
        return 0;
    *thread = (struct replay_thread){
        .known = true,
        .process = record->process,
        .tid = record->tid,
        .start = record->time_ns,
        .cpu_time.covered_until = record->time_ns,
        .name = strings_add_z(&replay->strings, record->name),
    };
    if (record->tid == process->pid)
        start_main_thread(replay, process, record->thread);
    process->live_threads++;
    return thread->name == STRING_NONE ? error_no_memory(err) : 0;
}

int replay_rename_thread(struct replay *replay, const struct spool_thread_name *record, struct error *err)
{
    if (!replay_knows_thread(replay, record->thread))
        return 0;
    struct replay_thread *thread = &replay->threads.data[record->thread];
    uint32_t name = strings_add_z(&replay->strings, record->name);
    if (name == STRING_NONE)
        return error_no_memory(err);
    thread->name = name;
    struct replay_process *process = get_process_at(replay, thread->process);
    if (process && process->pid == thread->tid)
        process->name = name;
    return 0;
}

void replay_add_unsampled_time(struct replay *replay, const struct spool_unsampled_process_time *record)
{
    struct replay_process *process = get_process_at(replay, record->process);
    if (process)
        process->unseen += record->cpu_time_ns;
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
