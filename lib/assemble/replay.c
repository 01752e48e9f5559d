/*
 * Replays a recording: its samples, among the events that replay_tables.c takes in.
 */
#include "assemble/replay.h"

#include "assemble/mark_threads.h"
#include "assemble/replay_events.h"
#include "assemble/replay_jit.h"
#include "assemble/replay_rows.h"
#include "assemble/replay_stacks.h"
#include "assemble/replay_tables.h"
#include "assemble/unsampled.h"
#include "record/wait_reason.h"
#include "spool/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A stack has one place where frames are missing. It stands in the middle of one that was full. */
static void count_omitted(struct replay *replay, const struct sample *sample)
{
    enum { LEAST_FRAMES = CHUNK_MAX_FRAMES / 4 };
    for (uint32_t i = 0; sample->frame_count > LEAST_FRAMES && i < sample->frame_count; i++) {
        uint64_t omitted = unwind_omitted_frames(sample->frames[i]);
        if (!omitted)
            continue;
        replay->stacks.omitted_frames += omitted;
        replay->stacks.omitted_stacks++;
        return;
    }
}

/* ---- samples ---- */

static uint32_t to_cpu_units(uint64_t ns)
{
    uint64_t units = ns / SAMPLE_CPU_UNIT;
    return units < SAMPLE_CPU_MAX ? (uint32_t)units : (uint32_t)SAMPLE_CPU_MAX;
}

/* A sample covers the time since the one before it. */
static void cover(struct replay *replay, struct replay_thread *thread, uint32_t cpu_units)
{
    uint64_t covered = thread->cpu_time.ran_to_waits + (uint64_t)cpu_units * SAMPLE_CPU_UNIT;
    thread->cpu_time.ran_to_waits = 0;
    replay->cpu_time.covered += covered;
    thread->cpu_time.covered += covered;
    replay->cpu_time.excess += covered > replay->infos.interval ? covered - replay->infos.interval : 0;
}

/* The clocks of two CPUs may differ by some ns; columns must not run backwards. */
static uint64_t next_time(struct replay_thread *thread, uint64_t time)
{
    if (time > thread->last_time)
        thread->last_time = time;
    return thread->last_time;
}

/* A wait has no CPU time: the CPU time before a wait counts for the thread's next sample. It has a row without a stack,
 * which also separates two waits at one place. */
static int add_time_before_wait(struct replay *replay, const struct sample *sample, const struct stored_sample *start,
                                struct error *err)
{
    struct replay_thread *thread = &replay->threads.data[sample->thread];
    const struct stored_sample *newest = sample_store_newest(replay->samples.store, sample->thread);
    struct stored_sample before = {.time = start->time, .stack = REPLAY_NONE, .number = to_cpu_units(sample->cpu_time)};
    thread->cpu_time.ran_to_waits += (uint64_t)before.number * SAMPLE_CPU_UNIT;
    bool is_needed = before.number || (newest && newest->stack == start->stack);
    return is_needed ? sample_store_add(replay->samples.store, sample->thread, &before, err) : 0;
}

/* A wait becomes two samples, at its beginning and at its end. A part that goes on where the part before it ended only
 * moves the end. */
static int add_wait(struct replay *replay, const struct sample *sample, uint32_t stack, struct error *err)
{
    struct replay_thread *thread = &replay->threads.data[sample->thread];
    struct stored_sample *newest = sample_store_newest(replay->samples.store, sample->thread);
    stack = replay_add_wait_stack(replay, stack, sample);
    if (stack == REPLAY_NONE)
        return error_no_memory(err);
    thread->cpu_time.covered_until = sample->time;
    if (sample->flags & SAMPLE_WAIT_GOES_ON && newest && newest->is_end && newest->stack == stack) {
        newest->time = next_time(thread, sample->time);
        newest->number = sample->waker & SAMPLE_CPU_MAX;
        return 0;
    }
    thread->waits += sample->reason != REASON_PREEMPTED;
    replay->processes.data[thread->process].samples += sample->reason != REASON_PREEMPTED;
    replay->samples.waits++;
    struct stored_sample start = {.stack = stack, .is_wait = 1};
    start.time = next_time(thread, sample->time > sample->wait ? sample->time - sample->wait : 0);
    int code = add_time_before_wait(replay, sample, &start, err);
    if (!code)
        code = sample_store_add(replay->samples.store, sample->thread, &start, err);
    struct stored_sample end = {.time = next_time(thread, sample->time),
                                .stack = stack,
                                .number = sample->waker & SAMPLE_CPU_MAX,
                                .is_wait = 1,
                                .is_end = 1};
    if (!code)
        code = sample_store_add(replay->samples.store, sample->thread, &end, err);
    thread->last_wait = sample_store_count(replay->samples.store, sample->thread);
    return code;
}

/* The profile of a flight recorder starts at its first sample. */
static int add_reading(struct replay *replay, const struct sample *sample, struct error *err)
{
    struct counter_reading reading;
    if (replay->input.window || (spool_reader_keeps_last(replay->spool.reader) && !replay->range.first_sample))
        return 0;
    if (!array_reserve(&replay->counters.buffer, CHUNK_MAX_FRAMES))
        return error_no_memory(err);
    if (!counter_reading_of(sample, replay->counters.buffer.data, &reading))
        return 0; /* damaged */
    if (reading.whose < COUNTERS_OF_POWER && !replay_is_possible(replay, reading.whose))
        return 0;
    return replay_counters_add(&replay->counters, &reading, err);
}

static int add_sample(struct replay *replay, const struct sample *sample, struct error *err)
{
    if (sample->flags & SAMPLE_COUNTERS)
        return add_reading(replay, sample, err);
    replay->spool.keeps_last = spool_reader_keeps_last(replay->spool.reader);
    int code = replay_apply_pending(replay, sample->time, err);
    if (!replay->range.first_sample)
        replay->range.first_sample = sample->time;
    if (!code)
        code = replay_marks_sample(&replay->marks, sample, err);
    if (code)
        return code;
    if (!replay_knows_thread(replay, sample->thread)) {
        replay->samples.without_thread++;
        return 0;
    }
    replay_note_time(replay, sample->time);
    struct replay_thread *thread = &replay->threads.data[sample->thread];
    if (replay->input.window && !thread->last_time)
        thread->last_time = recording_window_thread(replay->input.window, sample->thread).time;
    uint32_t stack = REPLAY_NONE;
    count_omitted(replay, sample);
    code = replay_stack_of(replay, thread, sample, &stack, err);
    if (code)
        return code;
    if (sample->event)
        return replay_add_event(replay, sample, stack, err);
    if (sample->wait)
        return add_wait(replay, sample, stack, err);
    thread->samples++;
    thread->cpu_time.covered_until = sample->time;
    thread->truncated += (sample->flags & SAMPLE_TRUNCATED) != 0;
    thread->completed_live += (sample->flags & SAMPLE_COMPLETED_LIVE) != 0;
    thread->without_cfi += (sample->flags & SAMPLE_WITHOUT_CFI) != 0;
    if (stack != REPLAY_NONE)
        replay->stacks.frames.data[replay->stacks.items.data[stack].frame].samples++;
    replay->processes.data[thread->process].samples++;
    replay->samples.count++;
    struct stored_sample stored = {
        .time = next_time(thread, sample->time), .stack = stack, .number = to_cpu_units(sample->cpu_time)};
    cover(replay, thread, stored.number);
    return sample_store_add(replay->samples.store, sample->thread, &stored, err);
}

static int read_items(struct replay *replay, struct error *err)
{
    struct spool_event event;
    struct sample sample;
    for (;;) {
        int code = spool_reader_next(replay->spool.reader, &event, &sample, err);
        if (code <= 0)
            return code;
        if (spool_reader_keeps_last(replay->spool.reader) && !replay->input.window) {
            int is_known = code == SPOOL_ITEM_EVENT ? replay_renumber_event(replay, &event, err)
                                                    : replay_renumber_sample(replay, &sample);
            if (is_known < 0)
                return is_known;
            if (!is_known)
                continue;
        }
        code = code == SPOOL_ITEM_EVENT ? replay_take_event(replay, &event, err) : add_sample(replay, &sample, err);
        if (code)
            return code;
    }
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
    return replay->samples.store ? 0 : error_no_memory(err);
}

int replay_go_on(struct replay *replay, const char *spool_path, uint64_t settled, struct error *err)
{
    int code = replay->spool.reader ? 0 : open_spool(replay, spool_path, err);
    if (!code)
        code = read_items(replay, err);
    if (!code)
        code = replay_apply_pending(replay, settled, err);
    if (!code)
        code = replay_end_events(replay, err);
    replay->spool.keeps_last |= replay->spool.reader && spool_reader_keeps_last(replay->spool.reader);
    return code ? code : mark_threads_find(replay, 0, err);
}

int replay_spool(struct replay *replay, const char *spool_path, struct error *err)
{
    int code = open_spool(replay, spool_path, err);
    if (!code)
        code = read_items(replay, err);
    if (!code)
        code = replay_apply_pending(replay, UINT64_MAX, err);
    if (!code)
        code = replay_end_events(replay, err);
    if (code)
        return code;
    replay->spool.damaged_blocks += spool_reader_damaged(replay->spool.reader);
    replay->spool.damaged_bytes = spool_reader_damaged_bytes(replay->spool.reader);
    replay->spool.rest = spool_reader_rest(replay->spool.reader);
    replay->spool.window_end = spool_reader_place(replay->spool.reader);
    replay->spool.window_missed = spool_reader_missed(replay->spool.reader);
    /* The kernel's own count includes samples lost after the last LOST record. */
    uint64_t counted = replay_info_number(replay, INFO_SAMPLES_LOST, 0);
    if (counted > replay->samples.lost && !replay->spool.keeps_last)
        replay->samples.lost = counted;
    spool_reader_close(replay->spool.reader);
    replay->spool.reader = NULL;
    if (replay->spool.keeps_last)
        replay_marks_drop_before(&replay->marks, replay->range.first_sample);
    code = replay_marks_end(&replay->marks, replay->samples.lost, replay->range.last, err);
    for (size_t i = 0; i < replay->events.length; i++) {
        uint64_t lost = replay_event_number(replay, INFO_EVENT_LOST, i);
        replay->samples.lost -= lost < replay->samples.lost ? lost : replay->samples.lost;
    }
    if (!code)
        code = mark_threads_find(replay, replay->spool.keeps_last ? replay->range.first_sample : 0, err);
    return code || replay->input.window ? code : unsampled_add(replay, err);
}

void replay_destroy(struct replay *replay)
{
    replay_rows_destroy(&replay->rows);
    for (size_t i = 0; i < replay->processes.length; i++) {
        address_space_destroy(&replay->processes.data[i].space);
        replay_jit_destroy(&replay->processes.data[i]);
    }
    for (size_t i = 0; i < replay->threads.length; i++) {
        array_free(&replay->threads.data[i].last_stack.pcs);
        array_free(&replay->threads.data[i].last_stack.stacks);
    }
    address_space_destroy(&replay->libs.kernel);
    array_free(&replay->infos.items);
    array_free(&replay->processes);
    array_free(&replay->threads);
    array_free(&replay->libs.items);
    array_free(&replay->objects);
    array_free(&replay->python_functions);
    array_free(&replay->stacks.frames);
    array_free(&replay->stacks.items);
    array_free(&replay->queue.events);
    hash_destroy(&replay->stacks.lib_frames);
    hash_destroy(&replay->stacks.pc_frames);
    hash_destroy(&replay->stacks.unmapped_frames);
    hash_destroy(&replay->stacks.wait_frames);
    hash_destroy(&replay->stacks.index);
    replay_events_destroy(replay);
    sample_store_free(replay->samples.store);
    replay_marks_destroy(&replay->marks);
    program_marks_destroy(&replay->program_marks);
    array_free(&replay->libs.loads);
    hash_destroy(&replay->libs.loaded);
    replay_counters_destroy(&replay->counters);
    array_free(&replay->counters.buffer);
    spool_reader_close(replay->spool.reader);
    strings_destroy(&replay->strings);
    arena_destroy(&replay->libs.arena);
}
