#include "assemble/replay_samples.h"

#include "assemble/replay_events.h"
#include "assemble/replay_processes.h"
#include "assemble/replay_stacks.h"
#include "spool/wait_reasons.h"
#include "spool/chunk.h"

/* Counts the frames that the recorder omitted from the middle of a stack of CHUNK_MAX_FRAMES. */
static void count_omitted(struct replay *replay, const struct spool_list *frames)
{
    enum { LEAST_FRAMES = CHUNK_MAX_FRAMES / 4 };
    for (size_t i = 0; frames->count > LEAST_FRAMES && i < frames->count; i++) {
        uint64_t omitted = unwind_decode_omitted(frames->items[i]);
        if (!omitted)
            continue;
        replay->stacks.omitted_frames += omitted;
        replay->stacks.omitted_stacks++;
        return;
    }
}

static uint32_t convert_to_cpu_units(uint64_t ns)
{
    uint64_t units = ns / SAMPLE_CPU_UNIT;
    return units < SAMPLE_CPU_MAX ? (uint32_t)units : (uint32_t)SAMPLE_CPU_MAX;
}

/* Extends the covered CPU time of a thread: a sample covers the time since the previous sample. */
static void extend_covered_time(struct replay *replay, struct replay_thread *thread, uint32_t cpu_units)
{
    uint64_t covered = thread->cpu_time.ran_to_waits + (uint64_t)cpu_units * SAMPLE_CPU_UNIT;
    thread->cpu_time.ran_to_waits = 0;
    replay->cpu_time.covered += covered;
    thread->cpu_time.covered += covered;
    replay->cpu_time.excess += covered > replay->infos.interval ? covered - replay->infos.interval : 0;
}

/* Returns `time`, or the time of the thread's last sample if later: the clocks of two CPUs may differ by some ns, but a
 * time column must not decrease. */
static uint64_t clamp_time(struct replay_thread *thread, uint64_t time)
{
    if (time > thread->last_time)
        thread->last_time = limit_stored_time(time);
    return thread->last_time;
}

/* Adds the CPU time before a wait as a sample without a stack, which also separates two waits with the same stack. The
 * thread's next sample gets this CPU time. */
static int add_time_before_wait(struct replay *replay, const struct spool_wait *wait, const struct stored_sample *start,
                                struct error *err)
{
    struct replay_thread *thread = &replay->threads.data[wait->thread];
    const struct stored_sample *newest = sample_store_get_newest(replay->samples.store, wait->thread);
    struct stored_sample before = {
        .time = start->time, .stack = REPLAY_NONE, .cpu_time = convert_to_cpu_units(wait->cpu_time_ns)};
    thread->cpu_time.ran_to_waits += (uint64_t)before.cpu_time * SAMPLE_CPU_UNIT;
    bool is_needed = before.cpu_time || (newest && newest->stack == start->stack);
    return is_needed ? sample_store_add(replay->samples.store, wait->thread, &before, err) : 0;
}

/* Returns the number of the waker of a wait, or 0 for none. Takes the stack from the waker's own record. REPLAY_NONE if
 * memory ran out. */
static uint32_t find_waker(struct replay *replay, const struct spool_wait *wait)
{
    struct replay_thread *thread = &replay->threads.data[wait->thread];
    const struct replay_waker waker = {wait->waker, thread->waker_stack - 1};
    uint64_t key = (uint64_t)waker.stack << 32 | waker.object;
    struct replay_wakers *known = &replay->wakers;
    uint32_t number = hash_get(&known->numbers, key);
    thread->waker_stack = 0;
    if (!wait->waker || number != HASH_MISSING)
        return wait->waker ? number : 0;
    number = (uint32_t)known->all.length + 1;
    return array_push(&known->all, waker) && hash_set(&known->numbers, key, number) ? number : REPLAY_NONE;
}

/* Merges the sum of unseen waits into the newest wait of the thread, if the newest wait has no weight. Returns false
 * for another newest wait. */
static bool add_to_unseen_wait(struct replay *replay, const struct spool_wait *wait, uint32_t stack)
{
    struct stored_sample *newest = sample_store_get_newest_wait(replay->samples.store, wait->thread);
    if (!newest || newest[1].kind != STORED_UNSEEN_END)
        return false;
    uint64_t length = newest[1].time - newest[0].time, total = wait->wait_ns + wait->unseen_ns;
    if (total < length)
        newest[0].time = newest[1].time - total;
    newest[0].unseen = total > length ? convert_to_cpu_units(total - length) : 0;
    newest[0].stack = newest[1].stack = stack;
    newest[1].kind = STORED_WAIT_END;
    replay->threads.data[wait->thread].cpu_time.unseen += (uint64_t)newest[0].unseen * SAMPLE_CPU_UNIT;
    return true;
}

/* Adds a wait as two samples, at its start and at its end. A continued part of the previous wait only moves the end. */
static int add_wait(struct replay *replay, const struct spool_wait *wait, uint32_t stack, struct error *err)
{
    struct replay_thread *thread = &replay->threads.data[wait->thread];
    struct stored_sample *newest = sample_store_get_newest(replay->samples.store, wait->thread);
    stack = replay_add_wait_stack(replay, thread->process, stack, wait);
    uint32_t waker = find_waker(replay, wait);
    if (stack == REPLAY_NONE || waker == REPLAY_NONE)
        return error_no_memory(err);
    thread->cpu_time.covered_until = wait->time_ns;
    if (wait->goes_on && newest && newest->kind == STORED_WAIT_END && newest->stack == stack) {
        newest->time = clamp_time(thread, wait->time_ns);
        newest->waker = waker;
        return 0;
    }
    bool has_weight = !(wait->flags & SAMPLE_WITHOUT_WEIGHT);
    bool is_seen = has_weight && wait->reason != REASON_RUNNABLE && wait->reason != REASON_UNSEEN;
    thread->waits += is_seen;
    replay->processes.data[thread->process].samples += is_seen;
    replay->samples.waits++;
    struct stored_sample start = {
        .kind = STORED_WAIT_BEGIN, .stack = stack, .unseen = convert_to_cpu_units(wait->unseen_ns)};
    start.time = clamp_time(thread, wait->time_ns > wait->wait_ns ? wait->time_ns - wait->wait_ns : 0);
    uint64_t left = wait->time_ns > start.time ? wait->time_ns - start.time : 0;
    if (wait->unseen_ns && left < wait->wait_ns) { /* a sum of several waits, whose mean length does not fit */
        if (add_to_unseen_wait(replay, wait, stack))
            return 0;
        start.time = clamp_time(thread, wait->time_ns);
        start.unseen = convert_to_cpu_units(wait->unseen_ns + wait->wait_ns);
    }
    thread->cpu_time.unseen += (uint64_t)start.unseen * SAMPLE_CPU_UNIT;
    int code = add_time_before_wait(replay, wait, &start, err);
    if (!code)
        code = sample_store_add(replay->samples.store, wait->thread, &start, err);
    struct stored_sample end = {.time = clamp_time(thread, wait->time_ns), .stack = stack, .waker = waker};
    end.kind = has_weight ? STORED_WAIT_END : STORED_UNSEEN_END;
    if (!code)
        code = sample_store_add(replay->samples.store, wait->thread, &end, err);
    return code;
}

static int add_cpu_sample(struct replay *replay, const struct spool_sample *sample, uint32_t stack, struct error *err)
{
    struct replay_thread *thread = &replay->threads.data[sample->thread];
    thread->samples++;
    thread->cpu_time.covered_until = sample->time_ns;
    thread->truncated += (sample->flags & SAMPLE_TRUNCATED) != 0;
    thread->completed_live += (sample->flags & SAMPLE_COMPLETED_LIVE) != 0;
    thread->without_cfi += (sample->flags & SAMPLE_WITHOUT_CFI) != 0;
    if (stack != REPLAY_NONE)
        replay->stacks.frames.data[replay->stacks.items.data[stack].frame].samples++;
    replay->processes.data[thread->process].samples++;
    replay->samples.count++;
    struct stored_sample stored = {.time = clamp_time(thread, sample->time_ns),
                                   .stack = stack,
                                   .cpu_time = convert_to_cpu_units(sample->cpu_time_ns)};
    extend_covered_time(replay, thread, stored.cpu_time);
    return sample_store_add(replay->samples.store, sample->thread, &stored, err);
}

/* The fields of all kinds of samples. */
struct sample_head {
    uint32_t thread, cpu;
    struct sampled_stack stack;
};

#define HEAD_OF(sample)                                                                                                \
    ((struct sample_head){.thread = (sample)->thread,                                                                  \
                          .cpu = (sample)->cpu,                                                                        \
                          .stack = {.time = (sample)->time_ns,                                                         \
                                    .is_truncated = (sample)->flags & SAMPLE_TRUNCATED,                                \
                                    .frames = (sample)->frames}})

static struct sample_head get_sample_head(const struct spool_record *record)
{
    switch (record->kind) {
    case SPOOL_WAIT:
        return HEAD_OF(&record->wait);
    case SPOOL_EVENT_SAMPLE:
        return HEAD_OF(&record->event_sample);
    case SPOOL_WAKER_STACK:
        return HEAD_OF(&record->waker_stack);
    default:
        return HEAD_OF(&record->sample);
    }
}

/* Stores the time and the CPU of the sample. Returns 1, or 0 for an unknown thread; or -ENOMEM. */
static int store_sample_head(struct replay *replay, const struct sample_head *head, struct error *err)
{
    if (!replay->range.first_sample)
        replay->range.first_sample = head->stack.time;
    int code = replay_marks_store_sample(&replay->marks, head->cpu, head->stack.time, err);
    if (code)
        return code;
    if (!replay_knows_thread(replay, head->thread)) {
        replay->samples.without_thread++;
        return 0;
    }
    replay_extend_range(replay, head->stack.time);
    struct replay_thread *thread = &replay->threads.data[head->thread];
    if (replay->input.window && !thread->last_time)
        thread->last_time = recording_window_get_thread(replay->input.window, head->thread).time;
    count_omitted(replay, &head->stack.frames);
    return 1;
}

int replay_add_sample(struct replay *replay, const struct spool_record *record, struct error *err)
{
    const struct sample_head head = get_sample_head(record);
    uint32_t stack = REPLAY_NONE;
    int code = store_sample_head(replay, &head, err);
    if (code <= 0)
        return code;
    code = replay_find_stack(replay, &replay->threads.data[head.thread], &head.stack, &stack, err);
    if (code)
        return code;
    switch (record->kind) {
    case SPOOL_WAIT:
        return add_wait(replay, &record->wait, stack, err);
    case SPOOL_EVENT_SAMPLE:
        return replay_add_event(replay, &record->event_sample, stack, err);
    case SPOOL_WAKER_STACK:
        if (replay_knows_thread(replay, record->waker_stack.woken))
            replay->threads.data[record->waker_stack.woken].waker_stack = stack + 1;
        return 0;
    default:
        return add_cpu_sample(replay, &record->sample, stack, err);
    }
}

int replay_add_slice(struct replay *replay, const struct spool_slice *slice, struct error *err)
{
    struct sample_store *store = replay->samples.slices;
    uint64_t end = limit_stored_time(slice->time_ns), first = replay->range.first_sample;
    uint64_t start = end > slice->length_ns ? end - slice->length_ns : 0;
    bool is_before = spool_reader_is_flight_recorder(replay->spool.reader) && (!first || end <= first);
    if (!replay_knows_thread(replay, slice->thread) || replay->input.window || is_before)
        return 0;
    const struct stored_sample *newest = sample_store_get_newest(store, slice->thread);
    struct stored_sample begin = {.time = newest && newest->time > start ? newest->time : start};
    begin.kind = STORED_SLICE;
    begin.cpu = slice->cpu;
    struct stored_sample stop = begin;
    stop.time = end > begin.time ? end : begin.time;
    stop.off_cpu = convert_to_cpu_units(slice->off_cpu_ns);
    int code = sample_store_add(store, slice->thread, &begin, err);
    return code ? code : sample_store_add(store, slice->thread, &stop, err);
}
