/*
 * Replays a recording: reads the records of its spool, and passes each to the file that handles its kind.
 */
#include "assemble/replay.h"

#include "assemble/mark_threads.h"
#include "assemble/replay_events.h"
#include "assemble/replay_libs.h"
#include "assemble/replay_processes.h"
#include "assemble/replay_records.h"
#include "assemble/replay_rows.h"
#include "assemble/replay_stacks.h"
#include "assemble/unsampled.h"
#include "spool/info.h"

static int read_records(struct replay *replay, struct error *err)
{
    struct spool_record record;
    int code;
    while ((code = spool_reader_read(replay->spool.reader, &record, err)) > 0) {
        bool has_rows = spool_reader_is_flight_recorder(replay->spool.reader) && !replay->input.window;
        int is_known = has_rows ? replay_renumber_rows(replay, &record, err) : 1;
        code = is_known > 0 ? replay_handle_record(replay, &record, err) : is_known;
        if (code)
            return code;
    }
    return code;
}

static int open_spool(struct replay *replay, const char *spool_path, struct error *err)
{
    int code = spool_reader_open(&replay->spool.reader, spool_path, err);
    if (!code && replay->input.rest_path)
        code = spool_reader_append(replay->spool.reader, replay->input.rest_path, err);
    if (code)
        return code;
    if (replay->input.window)
        spool_reader_skip(replay->spool.reader, replay->input.window->place);
    replay->spool.is_running = spool_is_being_written(spool_path);
    replay->spool.path = spool_path;
    replay->samples.store = sample_store_new(spool_path);
    replay->samples.slices = sample_store_new(spool_path);
    return replay->samples.store && replay->samples.slices ? 0 : error_no_memory(err);
}

int replay_continue(struct replay *replay, const char *spool_path, uint64_t complete_until, struct error *err)
{
    int code = replay->spool.reader ? 0 : open_spool(replay, spool_path, err);
    if (!code)
        code = read_records(replay, err);
    if (!code)
        code = replay_apply_queue(replay, complete_until, err);
    if (!code)
        code = replay_end_events(replay, err);
    replay->spool.keeps_last |= replay->spool.reader && spool_reader_is_flight_recorder(replay->spool.reader);
    return code ? code : find_threads_of_marks(replay, 0, err);
}

int replay_spool(struct replay *replay, const char *spool_path, struct error *err)
{
    int code = open_spool(replay, spool_path, err);
    if (!code)
        code = read_records(replay, err);
    if (!code)
        code = replay_apply_queue(replay, UINT64_MAX, err);
    if (!code)
        code = replay_end_events(replay, err);
    if (code)
        return code;
    replay->spool.damaged_blocks += spool_reader_count_damaged_parts(replay->spool.reader);
    replay->spool.damaged_bytes = spool_reader_count_damaged_bytes(replay->spool.reader);
    replay->spool.rest = spool_reader_count_bytes_left(replay->spool.reader);
    replay->spool.window_end = spool_reader_get_place(replay->spool.reader);
    replay->spool.window_missed = spool_reader_count_missed_chunks(replay->spool.reader);
    /* The kernel's count at the end includes samples lost after the last LOST record. */
    uint64_t counted = replay_get_info_number(replay, INFO_SAMPLES_LOST, 0);
    if (counted > replay->samples.lost && !replay->spool.keeps_last)
        replay->samples.lost = counted;
    spool_reader_close(replay->spool.reader);
    replay->spool.reader = NULL;
    if (replay->spool.keeps_last)
        replay_marks_drop_before(&replay->marks, replay->range.first_sample);
    code = replay_marks_end(&replay->marks, replay->samples.lost, replay->range.last, err);
    for (size_t i = 0; i < replay->events.length; i++) {
        uint64_t lost = replay_get_event_number(replay, INFO_EVENT_LOST, i);
        replay->samples.lost -= lost < replay->samples.lost ? lost : replay->samples.lost;
    }
    if (!code)
        code = find_threads_of_marks(replay, replay->spool.keeps_last ? replay->range.first_sample : 0, err);
    return code || replay->input.window ? code : unsampled_add(replay, err);
}

void replay_destroy(struct replay *replay)
{
    replay_processes_destroy(replay);
    replay_libs_destroy(&replay->libs);
    replay_rows_destroy(&replay->rows);
    replay_stacks_destroy(&replay->stacks);
    replay_events_destroy(replay);
    replay_marks_destroy(&replay->marks);
    program_marks_destroy(&replay->program_marks);
    replay_counters_destroy(&replay->counters);
    sample_store_free(replay->samples.store);
    sample_store_free(replay->samples.slices);
    spool_reader_close(replay->spool.reader);
    array_free(&replay->queue.records);
    array_free(&replay->infos.items);
    array_free(&replay->objects);
    array_free(&replay->wakers.all);
    hash_destroy(&replay->wakers.numbers);
    array_free(&replay->python_functions);
    strings_destroy(&replay->strings);
}
