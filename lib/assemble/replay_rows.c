#include "assemble/replay_rows.h"

#include "spool/counter_reading.h"
#include "record/counters.h"

static bool replace(const struct hash *rows, uint32_t *number)
{
    *number = hash_get(rows, *number);
    return *number != HASH_MISSING;
}

static int add_process(struct replay_rows *rows, struct spool_event *event, struct error *err)
{
    uint32_t row = (uint32_t)rows->of_processes.length;
    if (!replace(&rows->processes, &event->parent))
        event->parent = SPOOL_NO_NUMBER;
    if (hash_get(&rows->processes, event->number) != HASH_MISSING)
        return 0;
    if (!hash_set(&rows->processes, event->number, row) || !array_push(&rows->of_processes, event->number))
        return error_no_memory(err);
    event->number = row;
    return 1;
}

static int add_thread(struct replay_rows *rows, struct spool_event *event, struct error *err)
{
    uint32_t row = (uint32_t)rows->threads.length;
    if (!replace(&rows->processes, &event->process) || hash_get(&rows->threads, event->number) != HASH_MISSING)
        return 0;
    if (!hash_set(&rows->threads, event->number, row))
        return error_no_memory(err);
    event->number = row;
    return 1;
}

int replay_renumber_event(struct replay *replay, struct spool_event *event, struct error *err)
{
    struct replay_rows *rows = &replay->rows;
    switch (event->kind) {
    case SPOOL_PROCESS:
        return add_process(rows, event, err);
    case SPOOL_THREAD:
        return add_thread(rows, event, err);
    case SPOOL_NAME:
    case SPOOL_THREAD_END:
    case SPOOL_UNSAMPLED:
        return replace(&rows->threads, &event->number);
    case SPOOL_MAP:
        return event->number == SPOOL_NO_NUMBER || replace(&rows->processes, &event->number);
    case SPOOL_COMMAND:
        return replace(&rows->processes, &event->number);
    default:
        return 1;
    }
}

int replay_renumber_sample(struct replay *replay, struct sample *sample)
{
    if (!(sample->flags & SAMPLE_COUNTERS)) {
        bool has_thread = replace(&replay->rows.threads, &sample->thread);
        replay->samples.without_thread += !has_thread;
        return has_thread;
    }
    uint32_t whose = counter_reading_whose(sample);
    if (whose >= COUNTERS_OF_POWER)
        return 1;
    sample->thread -= whose;
    bool is_known = replace(&replay->rows.processes, &whose);
    sample->thread += whose;
    return is_known;
}

uint32_t replay_process_number(const struct replay *replay, uint32_t row)
{
    return row < replay->rows.of_processes.length ? replay->rows.of_processes.data[row] : row;
}

void replay_rows_destroy(struct replay_rows *rows)
{
    hash_destroy(&rows->processes);
    hash_destroy(&rows->threads);
    array_free(&rows->of_processes);
}

bool replay_is_possible(const struct replay *replay, uint32_t number)
{
    enum { MOST_OF_WINDOWS = 1 << 20 };
    if (replay->input.window && spool_reader_keeps_last(replay->spool.reader)) /* most of its events were dropped */
        return number < MOST_OF_WINDOWS;
    return number <= spool_reader_bytes(replay->spool.reader) / SPOOL_EVENT_MIN;
}

int replay_ensure_row(struct replay *replay, uint32_t number, void **rows, size_t *length, size_t *capacity,
                      size_t row_size, struct error *err)
{
    size_t more = number < *length ? 0 : number + 1 - *length;
    if (!replay_is_possible(replay, number)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    if (!array_grow(rows, *length, capacity, more, row_size))
        return error_no_memory(err);
    if (more)
        memset((char *)*rows + *length * row_size, 0, more * row_size);
    *length += more;
    return 1;
}
