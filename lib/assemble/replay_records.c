#include "assemble/replay_records.h"

#include "assemble/replay_libs.h"
#include "assemble/replay_names.h"
#include "assemble/replay_processes.h"

#include <string.h>

static int add_lost(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (replay->spool.keeps_last && !replay->samples.count) /* before the samples that are there */
        return 0;
    replay->samples.lost += event->count;
    return replay_marks_event(&replay->marks, event, err);
}

/* Applies an event at its time. */
static int apply_event(struct replay *replay, const struct spool_event *event, struct error *err)
{
    switch (event->kind) {
    case SPOOL_PROCESS:
        return replay_start_process(replay, event, err);
    case SPOOL_THREAD:
        return replay_start_thread(replay, event, err);
    case SPOOL_NAME:
        return replay_rename_thread(replay, event, err);
    case SPOOL_MAP:
        return replay_map(replay, event, err);
    case SPOOL_THREAD_END:
        replay_end_thread(replay, event);
        return 0;
    case SPOOL_LOST:
        return add_lost(replay, event, err);
    case SPOOL_UNSAMPLED:
        replay_note_rest(replay, event);
        return 0;
    case SPOOL_UNSEEN:
        replay_note_unseen(replay, event);
        return 0;
    default:
        return 0;
    }
}

int replay_apply_pending(struct replay *replay, uint64_t time, struct error *err)
{
    int code = 0;
    while (!code && replay->queue.done < replay->queue.events.length &&
           replay->queue.events.data[replay->queue.done].time <= time)
        code = apply_event(replay, &replay->queue.events.data[replay->queue.done++], err);
    size_t rest = replay->queue.events.length - replay->queue.done;
    if (replay->queue.done >= rest) {
        if (rest)
            memmove(replay->queue.events.data, replay->queue.events.data + replay->queue.done,
                    rest * sizeof(*replay->queue.events.data));
        replay->queue.events.length = rest;
        replay->queue.done = 0;
    }
    return code;
}

/* The recorder writes samples about every second. */
static const uint64_t longest_delay_ns = UINT64_C(4) * 1000 * 1000 * 1000;

/* The events before a window, whose samples are passed over, do not wait for its first sample: there may be millions.
 */
static int apply_before_window(struct replay *replay, uint64_t time, struct error *err)
{
    bool is_before = replay->input.window && !replay->range.first_sample && time > longest_delay_ns;
    return is_before ? replay_apply_pending(replay, time - longest_delay_ns, err) : 0;
}

static int queue_event(struct replay *replay, const struct spool_event *event, struct error *err)
{
    struct spool_event copy = *event;
    uint32_t name = strings_add_z(&replay->strings, event->name ? event->name : "");
    if (name == STRING_NONE)
        return error_no_memory(err);
    copy.name = strings_text(&replay->strings, name); /* the event's own text was freed with its block */
    return array_push(&replay->queue.events, copy) ? apply_before_window(replay, event->time, err)
                                                   : error_no_memory(err);
}

/* The kernel's image and modules are mapped from the start; only code that the kernel generates comes and goes. */
static bool is_timed(const struct replay *replay, const struct spool_event *kernel_map)
{
    return !replay_knows_lib(replay, kernel_map->lib_number) ||
           replay->libs.items.data[kernel_map->lib_number].kind == SPOOL_LIB_KERNEL_CODE;
}

int replay_take_event(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (program_marks_is_event(event)) {
        if (replay->range.first && event->time > replay->range.first) /* programs may tell of what was before */
            replay_note_time(replay, event->time);
        return replay->input.window ? 0 : program_marks_event(&replay->program_marks, event, err);
    }
    replay_note_time(replay, event->time);
    switch (event->kind) {
    case SPOOL_INFO:
        return replay_add_info(replay, event, err);
    case SPOOL_LIB:
        return replay_add_lib(replay, event, err);
    case SPOOL_PAUSED:
    case SPOOL_RESUMED:
    case SPOOL_MARK:
    case SPOOL_RUN: /* these come from the recorder, whose time is not that of the records around them */
        return replay_marks_event(&replay->marks, event, err);
    case SPOOL_OBJECT:
        return replay_add_object(replay, event, err);
    case SPOOL_PYTHON_FUNCTION:
        return replay_add_python_function(replay, event, err);
    default:
        if (event->kind == SPOOL_MAP && event->number == SPOOL_NO_NUMBER && !is_timed(replay, event))
            return replay_map(replay, event, err);
        return queue_event(replay, event, err);
    }
}
