#include "assemble/replay_samples.h"

#include "assemble/replay_events.h"
#include "assemble/replay_processes.h"
#include "assemble/replay_records.h"
#include "assemble/replay_rows.h"
#include "assemble/replay_stacks.h"
#include "record/wait_reason.h"

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

int replay_add_sample(struct replay *replay, const struct sample *sample, struct error *err)
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
