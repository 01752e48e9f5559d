#include "assemble/replay_records.h"

#include "assemble/replay_libs.h"
#include "assemble/replay_names.h"
#include "assemble/replay_processes.h"
#include "assemble/replay_rows.h"
#include "assemble/replay_samples.h"

/* ---- the queue of events ---- */

static int add_lost(struct replay *replay, const struct spool_lost *lost, struct error *err)
{
    if (replay->spool.keeps_last && !replay->samples.count) /* events before the oldest sample of the spool */
        return 0;
    replay->samples.lost += lost->count;
    return replay_marks_add_lost(&replay->marks, lost, err);
}

static int apply_record(struct replay *replay, const struct spool_record *record, struct error *err)
{
    switch (record->kind) {
    case SPOOL_PROCESS:
        return replay_start_process(replay, &record->process, err);
    case SPOOL_THREAD:
        return replay_start_thread(replay, &record->thread, err);
    case SPOOL_NAME:
        return replay_rename_thread(replay, &record->thread_name, err);
    case SPOOL_MAP:
        return replay_add_mapping(replay, &record->mapping, err);
    case SPOOL_LOST:
        return add_lost(replay, &record->lost, err);
    case SPOOL_THREAD_END:
        replay_end_thread(replay, &record->thread_end);
        return 0;
    case SPOOL_UNSAMPLED_THREAD:
        replay_add_unsampled_rest(replay, &record->unsampled_thread_time);
        return 0;
    case SPOOL_UNSAMPLED_PROCESS:
        replay_add_unsampled_time(replay, &record->unsampled_process_time);
        return 0;
    default: /* replay_handle_record() does not queue such a record */
        return 0;
    }
}

int replay_apply_queue(struct replay *replay, uint64_t time, struct error *err)
{
    struct replay_queue *queue = &replay->queue;
    int code = 0;
    while (!code && queue->done < queue->records.length && queue->records.data[queue->done].time <= time)
        code = apply_record(replay, &queue->records.data[queue->done++].record, err);
    size_t rest = queue->records.length - queue->done;
    if (queue->done >= rest) {
        if (rest)
            memmove(queue->records.data, queue->records.data + queue->done, rest * sizeof(*queue->records.data));
        queue->records.length = rest;
        queue->done = 0;
    }
    return code;
}

/* Limit (ns) of the time that a record waits in the queue. The recorder writes samples about every second. */
static const uint64_t longest_delay_ns = UINT64_C(4) * 1000 * 1000 * 1000;

/* Applies the events before a window at once, without waiting for the window's first sample: the spool may have
 * millions of such events. */
static int apply_before_window(struct replay *replay, uint64_t time, struct error *err)
{
    bool is_before = replay->input.window && !replay->range.first_sample && time > longest_delay_ns;
    return is_before ? replay_apply_queue(replay, time - longest_delay_ns, err) : 0;
}

/* Queues a record before mappings with later times: the mappings that prof reads itself have the time of the reading,
 * and records with earlier times may follow. */
static int queue_record(struct replay *replay, const struct spool_record *record, uint64_t time, struct error *err)
{
    enum { MOST_PASSED = 256 };
    struct queued_record queued = {.time = time, .record = *record};
    replay_extend_range(replay, time);
    if (!array_push(&replay->queue.records, queued))
        return error_no_memory(err);
    struct queued_record *at = &replay->queue.records.data[replay->queue.records.length - 1];
    const struct queued_record *first = replay->queue.records.data + replay->queue.done;
    for (int i = 0; i < MOST_PASSED && at > first && at[-1].record.kind == SPOOL_MAP && at[-1].time > time; i++, at--)
        *at = at[-1];
    *at = queued;
    return apply_before_window(replay, time, err);
}

/* Queues a copy of the record and of its text `name`, because the reader frees texts with their block. */
static int queue_named_record(struct replay *replay, const struct spool_record *record, const char **name,
                              uint64_t time, struct error *err)
{
    uint32_t string = strings_add_z(&replay->strings, *name);
    if (string == STRING_NONE)
        return error_no_memory(err);
    *name = strings_text(&replay->strings, string);
    return queue_record(replay, record, time, err);
}

/* ---- all records ---- */

/* Handles a mapping. The kernel's image and modules are mapped from the start; only mappings of generated kernel code
 * change. */
static int handle_mapping(struct replay *replay, const struct spool_record *record, struct error *err)
{
    const struct spool_mapping *mapping = &record->mapping;
    if (mapping->process != SPOOL_NO_NUMBER || !replay_knows_lib(replay, mapping->library) ||
        replay->libs.items.data[mapping->library].library_kind == SPOOL_LIB_KERNEL_CODE)
        return queue_record(replay, record, mapping->time_ns, err);
    replay_extend_range(replay, mapping->time_ns);
    return replay_add_mapping(replay, mapping, err);
}

/* Handles an event of a program, which may set a mark with a time before the recording. */
static int handle_program_record(struct replay *replay, const struct spool_record *record, uint64_t time,
                                 struct error *err)
{
    if (replay->range.first && time > replay->range.first)
        replay_extend_range(replay, time);
    return replay->input.window ? 0 : program_marks_add(&replay->program_marks, record, err);
}

static int handle_sample(struct replay *replay, const struct spool_record *record, uint64_t time, struct error *err)
{
    replay->spool.keeps_last = spool_reader_is_flight_recorder(replay->spool.reader);
    int code = replay_apply_queue(replay, time, err);
    return code ? code : replay_add_sample(replay, record, err);
}

/* The profile of a flight recorder starts at its first sample. */
static int handle_counters(struct replay *replay, const struct spool_counters *counters, struct error *err)
{
    bool is_before = spool_reader_is_flight_recorder(replay->spool.reader) && !replay->range.first_sample;
    bool is_possible = counters->of >= COUNTERS_OF_POWER || replay_is_possible(replay, counters->of);
    return replay->input.window || is_before || !is_possible ? 0
                                                             : replay_counters_add(&replay->counters, counters, err);
}

/* The recorder's own events have the recorder's time, not the time of their neighbors, so prof does not queue these
 * events. The switch has no default, so that the compiler reports a missing kind. */
int replay_handle_record(struct replay *replay, struct spool_record *record, struct error *err)
{
    int code;
    switch (record->kind) {
    case SPOOL_INFO:
        return replay_add_info(replay, &record->metadata, err);
    case SPOOL_LIB:
        return replay_add_lib(replay, &record->library, err);
    case SPOOL_OBJECT:
        return replay_add_object(replay, &record->object, err);
    case SPOOL_PYTHON_FUNCTION:
        return replay_add_python_function(replay, &record->python_function, err);

    case SPOOL_PROCESS:
        return queue_named_record(replay, record, &record->process.name, record->process.time_ns, err);
    case SPOOL_THREAD:
        return queue_named_record(replay, record, &record->thread.name, record->thread.time_ns, err);
    case SPOOL_NAME:
        return queue_named_record(replay, record, &record->thread_name.name, record->thread_name.time_ns, err);
    case SPOOL_THREAD_END:
        return queue_record(replay, record, record->thread_end.time_ns, err);
    case SPOOL_MAP:
        return handle_mapping(replay, record, err);
    case SPOOL_LOST:
        return queue_record(replay, record, record->lost.time_ns, err);
    case SPOOL_UNSAMPLED_THREAD:
        return queue_record(replay, record, record->unsampled_thread_time.time_ns, err);
    case SPOOL_UNSAMPLED_PROCESS:
        return queue_record(replay, record, record->unsampled_process_time.time_ns, err);

    case SPOOL_PAUSED:
        replay_extend_range(replay, record->paused.time_ns);
        return replay_marks_start_pause(&replay->marks, &record->paused, err);
    case SPOOL_RESUMED:
        replay_extend_range(replay, record->resumed.time_ns);
        replay_marks_end_pause(&replay->marks, &record->resumed);
        return 0;
    case SPOOL_MARK:
        replay_extend_range(replay, record->user_mark.time_ns);
        return replay_marks_add_user_mark(&replay->marks, &record->user_mark, err);
    case SPOOL_RUN:
        replay_extend_range(replay, record->run.time_ns);
        return replay_marks_add_run(&replay->marks, &record->run, err);

    case SPOOL_MARK_NAME:
    case SPOOL_COMMAND:
        return handle_program_record(replay, record, 0, err);
    case SPOOL_PROGRAM_MARK:
        return handle_program_record(replay, record, record->program_mark.time_ns, err);
    case SPOOL_MARKS_LOST:
        return handle_program_record(replay, record, record->marks_lost.time_ns, err);
    case SPOOL_EXIT:
        return handle_program_record(replay, record, record->process_exit.time_ns, err);
    case SPOOL_WORK:
        return handle_program_record(replay, record, record->recorder_work.time_ns, err);
    case SPOOL_SIGNAL:
        return handle_program_record(replay, record, record->signal.time_ns, err);
    case SPOOL_OOM_KILL:
        return handle_program_record(replay, record, record->oom_kill.time_ns, err);

    case SPOOL_SAMPLE:
        return handle_sample(replay, record, record->sample.time_ns, err);
    case SPOOL_WAIT:
        return handle_sample(replay, record, record->wait.time_ns, err);
    case SPOOL_EVENT_SAMPLE:
        return handle_sample(replay, record, record->event_sample.time_ns, err);
    case SPOOL_SLICE:
        code = replay_apply_queue(replay, record->slice.time_ns, err);
        return code ? code : replay_add_slice(replay, &record->slice, err);
    case SPOOL_WAKER_STACK:
        return handle_sample(replay, record, record->waker_stack.time_ns, err);
    case SPOOL_COUNTERS:
        return handle_counters(replay, &record->counters, err);
    }
    return 0;
}
