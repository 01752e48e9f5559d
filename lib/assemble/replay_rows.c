#include "assemble/replay_rows.h"

#include "spool/counter_kinds.h"

static bool replace_number(const struct hash *rows, uint32_t *number)
{
    *number = hash_get(rows, *number);
    return *number != HASH_MISSING;
}

static int add_process(struct replay_rows *rows, struct spool_process *process, struct error *err)
{
    uint32_t row = (uint32_t)rows->of_processes.length;
    if (!replace_number(&rows->processes, &process->parent))
        process->parent = SPOOL_NO_NUMBER;
    if (hash_get(&rows->processes, process->process) != HASH_MISSING)
        return 0;
    if (!hash_set(&rows->processes, process->process, row) || !array_push(&rows->of_processes, process->process))
        return error_no_memory(err);
    process->process = row;
    return 1;
}

static int add_thread(struct replay_rows *rows, struct spool_thread *thread, struct error *err)
{
    uint32_t row = (uint32_t)rows->threads.length;
    if (!replace_number(&rows->processes, &thread->process) || hash_get(&rows->threads, thread->thread) != HASH_MISSING)
        return 0;
    if (!hash_set(&rows->threads, thread->thread, row))
        return error_no_memory(err);
    thread->thread = row;
    return 1;
}

static int replace_thread_of_sample(struct replay *replay, uint32_t *thread)
{
    bool is_known = replace_number(&replay->rows.threads, thread);
    replay->samples.without_thread += !is_known;
    return is_known;
}

int replay_renumber_rows(struct replay *replay, struct spool_record *record, struct error *err)
{
    struct replay_rows *rows = &replay->rows;
    switch (record->kind) {
    case SPOOL_PROCESS:
        return add_process(rows, &record->process, err);
    case SPOOL_THREAD:
        return add_thread(rows, &record->thread, err);
    case SPOOL_NAME:
        return replace_number(&rows->threads, &record->thread_name.thread);
    case SPOOL_THREAD_END:
        return replace_number(&rows->threads, &record->thread_end.thread);
    case SPOOL_UNSAMPLED_THREAD:
        return replace_number(&rows->threads, &record->unsampled_thread_time.thread);
    case SPOOL_UNSAMPLED_PROCESS:
        return replace_number(&rows->processes, &record->unsampled_process_time.process);
    case SPOOL_MAP:
        return record->mapping.process == SPOOL_NO_NUMBER || replace_number(&rows->processes, &record->mapping.process);
    case SPOOL_COMMAND:
        return replace_number(&rows->processes, &record->command_line.process);
    case SPOOL_SAMPLE:
        return replace_thread_of_sample(replay, &record->sample.thread);
    case SPOOL_WAIT:
        return replace_thread_of_sample(replay, &record->wait.thread);
    case SPOOL_EVENT_SAMPLE:
        return replace_thread_of_sample(replay, &record->event_sample.thread);
    case SPOOL_SLICE:
        return replace_number(&replay->rows.threads, &record->slice.thread);
    case SPOOL_WAKER_STACK:
        return replace_number(&rows->threads, &record->waker_stack.woken) &&
               replace_thread_of_sample(replay, &record->waker_stack.thread);
    case SPOOL_COUNTERS:
        return record->counters.of >= COUNTERS_OF_POWER || replace_number(&rows->processes, &record->counters.of);
    case SPOOL_INFO:
    case SPOOL_LIB:
    case SPOOL_OBJECT:
    case SPOOL_PYTHON_FUNCTION:
    case SPOOL_LOST:
    case SPOOL_PAUSED:
    case SPOOL_RESUMED:
    case SPOOL_MARK:
    case SPOOL_RUN:
    case SPOOL_MARK_NAME:
    case SPOOL_PROGRAM_MARK:
    case SPOOL_MARKS_LOST:
    case SPOOL_EXIT:
    case SPOOL_WORK:
    case SPOOL_SIGNAL:
    case SPOOL_OOM_KILL:
        break; /* records without the number of a process or thread */
    }
    return 1;
}

uint32_t replay_get_process_number(const struct replay *replay, uint32_t row)
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
    if (replay->input.window &&
        spool_reader_is_flight_recorder(replay->spool.reader)) /* a flight recorder has dropped most events */
        return number < MOST_OF_WINDOWS;
    return number <= spool_reader_count_read_bytes(replay->spool.reader) / SPOOL_NUMBERING_EVENT_MIN_BYTES;
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
