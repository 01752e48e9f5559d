/*
 * Chunks: samples as LEB128 entries, each told as a difference from the one before.
 *
 * Stacks of one thread change little between two samples: most outer frames stay. So an entry says how many outer
 * frames it shares with the thread's previous sample *in this chunk*, and lists the rest from the outside in, each as
 * the distance from its caller's pc, which is short within one library. A sleeping or looping thread costs about 8
 * bytes, a deep C++ stack 15 to 30, against 8 bytes a frame raw.
 *
 * An entry, all numbers LEB128, "change" and "distance" zigzag:
 *
 *     head       bits of enum head
 *     thread     if HEAD_THREAD: the thread's number; else that of the entry before
 *     time       change against the entry before, ns (against 0 in the first)
 *     cpu_time   ns
 *     wait       if HEAD_WAIT: ns, then the reason and the object
 *     waker      if HEAD_WAKER; else 0
 *     event      if HEAD_EVENT: its number, then the period; else 0
 *     cpu        if HEAD_CPU; else that of this thread's previous sample
 *     flags      if HEAD_FLAGS; else 0
 *     shared     unless HEAD_SAME: outer frames taken over from this thread's previous sample
 *     fresh      unless HEAD_SAME: frames that follow
 *     kernel     if HEAD_KERNEL and not HEAD_SAME: how many of the innermost frames are kernel addresses; else 0
 *     distance   `fresh` times, outermost first: from the pc of the frame outside it, or from 0
 *
 * Entries are never split over chunks, and a chunk begins with no thread known, so each chunk reads alone.
 */
#include "spool/chunk.h"

#include "base/cursor.h"
#include "base/hash.h"
#include "base/leb128.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum head {
    HEAD_SAME = 1,
    HEAD_CPU = 2,
    HEAD_FLAGS = 4,
    HEAD_THREAD = 8,
    HEAD_KERNEL = 16,
    HEAD_WAIT = 32,
    HEAD_WAKER = 64,
    HEAD_EVENT = 128,
};

enum { FIELDS_MAX = 14 }; /* numbers of an entry besides its frames */

/* The last sample of a thread in the current chunk. */
struct last_sample {
    uint32_t cpu;
    uint32_t kernel_frame_count;
    ARRAY(uint64_t) frames; /* outermost first, so that the shared part stays in place */
};

/* The threads of the current chunk. Slots, with their frame buffers, are used again in the next one. */
struct thread_slots {
    struct hash index; /* thread number -> slot */
    ARRAY(struct last_sample) slots;
    size_t used;
};

/* The slot of this thread, new ones empty; NULL if memory ran out. */
static struct last_sample *slot_of(struct thread_slots *threads, uint32_t thread)
{
    uint32_t *place = hash_at(&threads->index, thread);
    if (!place)
        return NULL;
    if (*place == HASH_MISSING) {
        if (threads->used == threads->slots.length && !array_push_zero(&threads->slots)) {
            hash_remove(&threads->index, thread);
            return NULL;
        }
        struct last_sample *slot = &threads->slots.data[threads->used];
        slot->cpu = slot->kernel_frame_count = 0;
        slot->frames.length = 0;
        *place = (uint32_t)threads->used++;
    }
    return &threads->slots.data[*place];
}

static void slots_reset(struct thread_slots *threads)
{
    hash_clear(&threads->index);
    threads->used = 0;
}

static void slots_destroy(struct thread_slots *threads)
{
    for (size_t i = 0; i < threads->slots.length; i++)
        array_free(&threads->slots.data[i].frames);
    array_free(&threads->slots);
    hash_destroy(&threads->index);
}

/* ---- writing ---- */

struct chunk_writer {
    struct thread_slots threads;
    uint32_t thread; /* of the last entry */
    uint64_t time;
    size_t size;
    unsigned char bytes[CHUNK_SIZE];
};

struct chunk_writer *chunk_writer_new(void)
{
    return calloc(1, sizeof(struct chunk_writer));
}

void chunk_writer_free(struct chunk_writer *writer)
{
    if (!writer)
        return;
    slots_destroy(&writer->threads);
    free(writer);
}

void chunk_writer_reset(struct chunk_writer *writer)
{
    slots_reset(&writer->threads);
    writer->thread = 0;
    writer->time = 0;
    writer->size = 0;
}

const unsigned char *chunk_writer_bytes(const struct chunk_writer *writer, size_t *size)
{
    *size = writer->size;
    return writer->bytes;
}

/* How many outer frames `frames` (leaf first) has in common with the thread's last stack. */
static uint32_t count_shared(const struct last_sample *last, const uint64_t *frames, uint32_t count)
{
    uint32_t most = count < last->frames.length ? count : (uint32_t)last->frames.length;
    uint32_t shared = 0;
    while (shared < most && last->frames.data[shared] == frames[count - 1 - shared])
        shared++;
    return shared;
}

bool chunk_writer_append(struct chunk_writer *writer, const struct sample *sample)
{
    uint32_t count = sample->frame_count;
    const uint64_t *frames = sample->frames;
    uint32_t flags = sample->flags;
    uint32_t kernel = sample->kernel_frame_count;
    if (count > CHUNK_MAX_FRAMES) { /* the innermost ones say the most */
        count = CHUNK_MAX_FRAMES;
        flags |= SAMPLE_TRUNCATED;
        if (kernel > count)
            kernel = count;
    }
    struct last_sample *last = slot_of(&writer->threads, sample->thread);
    if (!last || !array_reserve(&last->frames, count))
        return false;

    uint32_t shared = count_shared(last, frames, count);
    bool same = shared == count && shared == last->frames.length && kernel == last->kernel_frame_count;
    uint32_t fresh = count - shared;
    if ((FIELDS_MAX + (size_t)fresh) * LEB128_MAX > CHUNK_SIZE - writer->size)
        return false;

    unsigned char *out = writer->bytes + writer->size;
    unsigned char *head = out++;
    *head = (unsigned char)(same ? HEAD_SAME : 0);
    if (writer->size == 0 || sample->thread != writer->thread) {
        *head |= HEAD_THREAD;
        out = leb128_put(out, sample->thread);
    }
    out = leb128_put(out, zigzag((int64_t)(sample->time - writer->time)));
    out = leb128_put(out, sample->cpu_time);
    if (sample->wait) {
        *head |= HEAD_WAIT;
        out = leb128_put(out, sample->wait);
        out = leb128_put(out, sample->reason);
        out = leb128_put(out, sample->object);
    }
    if (sample->wait && sample->waker) {
        *head |= HEAD_WAKER;
        out = leb128_put(out, sample->waker);
    }
    if (sample->event) {
        *head |= HEAD_EVENT;
        out = leb128_put(out, sample->event);
        out = leb128_put(out, sample->period);
    }
    if (sample->cpu != last->cpu) {
        *head |= HEAD_CPU;
        out = leb128_put(out, sample->cpu);
    }
    if (flags) {
        *head |= HEAD_FLAGS;
        out = leb128_put(out, flags);
    }
    if (!same) {
        out = leb128_put(out, shared);
        out = leb128_put(out, fresh);
        if (kernel) {
            *head |= HEAD_KERNEL;
            out = leb128_put(out, kernel);
        }
        uint64_t outside = shared ? last->frames.data[shared - 1] : 0;
        for (uint32_t i = fresh; i-- > 0;) {
            out = leb128_put(out, zigzag((int64_t)(frames[i] - outside)));
            outside = frames[i];
            last->frames.data[count - 1 - i] = outside;
        }
        last->frames.length = count;
        last->kernel_frame_count = kernel;
    }
    last->cpu = sample->cpu;
    writer->thread = sample->thread;
    writer->time = sample->time;
    writer->size = (size_t)(out - writer->bytes);
    return true;
}

/* ---- reading ---- */

struct chunk_reader {
    struct thread_slots threads;
    struct cursor at;
    uint32_t thread;
    uint64_t time;
    bool first;
    ARRAY(uint64_t) frames; /* of the last sample given out, leaf first */
};

struct chunk_reader *chunk_reader_new(void)
{
    return calloc(1, sizeof(struct chunk_reader));
}

void chunk_reader_free(struct chunk_reader *reader)
{
    if (!reader)
        return;
    slots_destroy(&reader->threads);
    array_free(&reader->frames);
    free(reader);
}

void chunk_reader_start(struct chunk_reader *reader, const void *bytes, size_t size)
{
    slots_reset(&reader->threads);
    reader->at = cursor_of(bytes, size);
    reader->thread = 0;
    reader->time = 0;
    reader->first = true;
}

static uint32_t read_u32(struct cursor *at)
{
    uint64_t value = cursor_uleb(at);
    if (value > UINT32_MAX)
        at->failed = true;
    return (uint32_t)value;
}

/* The frames of an entry into its thread's slot. */
static int read_frames(struct cursor *at, uint8_t head, struct last_sample *last, struct error *err)
{
    uint64_t shared = cursor_uleb(at);
    uint64_t fresh = cursor_uleb(at);
    uint64_t kernel = head & HEAD_KERNEL ? cursor_uleb(at) : 0;
    if (at->failed || shared > last->frames.length || shared > CHUNK_MAX_FRAMES || fresh > CHUNK_MAX_FRAMES - shared ||
        kernel > shared + fresh)
        return error_set(err, EINVAL, "a sample has implausible frame counts");
    last->frames.length = shared;
    if (!array_reserve(&last->frames, fresh))
        return error_no_memory(err);
    uint64_t outside = shared ? last->frames.data[shared - 1] : 0;
    for (uint64_t i = 0; i < fresh; i++) {
        outside += (uint64_t)unzigzag(cursor_uleb(at));
        last->frames.data[last->frames.length++] = outside;
    }
    last->kernel_frame_count = (uint32_t)kernel;
    return 0;
}

int chunk_reader_next(struct chunk_reader *reader, struct sample *sample, struct error *err)
{
    struct cursor *at = &reader->at;
    if (!at->failed && cursor_left(at) == 0)
        return 0;
    uint8_t head = cursor_u8(at);
    if (head & HEAD_THREAD)
        reader->thread = read_u32(at);
    else if (reader->first)
        at->failed = true;
    reader->first = false;
    reader->time += (uint64_t)unzigzag(cursor_uleb(at));
    uint64_t cpu_time = cursor_uleb(at);
    uint64_t wait = head & HEAD_WAIT ? cursor_uleb(at) : 0;
    uint32_t reason = head & HEAD_WAIT ? read_u32(at) : 0;
    uint32_t object = head & HEAD_WAIT ? read_u32(at) : 0;
    uint32_t waker = head & HEAD_WAKER ? read_u32(at) : 0;
    uint32_t event = head & HEAD_EVENT ? read_u32(at) : 0;
    uint64_t period = head & HEAD_EVENT ? cursor_uleb(at) : 0;
    struct last_sample *last = at->failed ? NULL : slot_of(&reader->threads, reader->thread);
    if (!at->failed && !last)
        return error_no_memory(err);
    if (last && head & HEAD_CPU)
        last->cpu = read_u32(at);
    uint32_t flags = head & HEAD_FLAGS ? read_u32(at) : 0;
    if (last && !(head & HEAD_SAME)) {
        int code = read_frames(at, head, last, err);
        if (code) {
            at->failed = true;
            return code;
        }
    }
    if (at->failed || !last)
        return error_set(err, EINVAL, "a chunk ends in the middle of a sample");
    size_t count = last->frames.length;
    reader->frames.length = 0;
    if (!array_reserve(&reader->frames, count))
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        reader->frames.data[i] = last->frames.data[count - 1 - i];
    *sample = (struct sample){
        .thread = reader->thread,
        .cpu = last->cpu,
        .time = reader->time,
        .cpu_time = cpu_time,
        .wait = wait,
        .reason = reason,
        .object = object,
        .waker = waker,
        .flags = flags,
        .event = event,
        .period = period,
        .frame_count = (uint32_t)count,
        .kernel_frame_count = last->kernel_frame_count,
        .frames = reader->frames.data,
    };
    return 1;
}
