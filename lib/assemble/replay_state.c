#include "assemble/replay_state.h"

#include "spool/info.h"

const char *replay_get_info(const struct replay *replay, const char *name)
{
    uint32_t wanted = strings_find(&replay->strings, name, strlen(name));
    for (size_t i = 0; wanted != STRING_NONE && i < replay->infos.items.length; i++)
        if (replay->infos.items.data[i].name == wanted)
            return strings_text(&replay->strings, replay->infos.items.data[i].value);
    return NULL;
}

uint64_t replay_get_info_number(const struct replay *replay, const char *name, uint64_t missing)
{
    const char *value = replay_get_info(replay, name);
    char *end;
    errno = 0;
    uint64_t number = value ? strtoull(value, &end, 10) : 0;
    return value && end != value && !*end && !errno ? number : missing;
}

uint32_t replay_find_fork_parent(const struct replay *replay, uint32_t number)
{
    const struct replay_process *process = &replay->processes.data[number];
    bool forked = process->parent < replay->processes.length && replay->processes.data[process->parent].known &&
                  replay->processes.data[process->parent].pid != process->pid;
    return forked ? process->parent : REPLAY_NONE;
}

bool replay_is_main_thread(const struct replay *replay, const struct replay_thread *thread)
{
    return thread->tid == replay->processes.data[thread->process].pid;
}

bool replay_is_shown(const struct replay *replay, const struct replay_thread *thread)
{
    bool has_rows = replay->input.window &&
                    sample_store_count(replay->samples.store, (uint32_t)(thread - replay->threads.data)) != 0;
    return thread->known &&
           (has_rows || thread->samples || thread->cpu_time.unsampled || thread->waits || thread->event_samples ||
            thread->has_marks ||
            (replay_is_main_thread(replay, thread) && replay->processes.data[thread->process].samples));
}

int replay_add_info(struct replay *replay, const struct spool_metadata *record, struct error *err)
{
    if (strcmp(record->name, INFO_INTERVAL) == 0)
        replay->infos.interval = strtoull(record->value, NULL, 10);
    struct replay_info info = {
        .name = strings_add_z(&replay->strings, record->name),
        .value = strings_add_z(&replay->strings, record->value),
    };
    if (info.name == STRING_NONE || info.value == STRING_NONE)
        return error_no_memory(err);
    for (size_t i = 0; i < replay->infos.items.length; i++)
        if (replay->infos.items.data[i].name == info.name) {
            replay->infos.items.data[i].value = info.value;
            return 0;
        }
    return array_push(&replay->infos.items, info) ? 0 : error_no_memory(err);
}

void replay_extend_range(struct replay *replay, uint64_t time)
{
    if (!time)
        return;
    if (!replay->range.first || time < replay->range.first)
        replay->range.first = time;
    if (time > replay->range.last)
        replay->range.last = time;
}

uint64_t replay_get_wall_time(const struct replay *replay)
{
    uint64_t start = replay_get_info_number(replay, INFO_START_MONOTONIC, 0);
    uint64_t end = replay_get_info_number(replay, INFO_END_MONOTONIC, 0);
    return start && end > start ? end - start : 0;
}

uint64_t replay_get_stop(const struct replay *replay)
{
    return replay_get_info_number(replay, INFO_END_MONOTONIC, replay->range.last);
}

uint64_t replay_convert_to_realtime(const struct replay *replay, uint64_t time)
{
    uint64_t monotonic = replay_get_info_number(replay, INFO_START_MONOTONIC, 0);
    uint64_t realtime = replay_get_info_number(replay, INFO_START_REALTIME, 0);
    return monotonic && realtime ? realtime + (time - monotonic) : 0;
}
