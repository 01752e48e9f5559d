/*
 * Chunks: samples as LEB128 entries, each stored as the difference from the previous entry.
 *
 * Stacks of one thread change little between two samples: most outer frames stay. So an entry has the number of outer
 * frames that it shares with the thread's previous sample *in this chunk*, and the other frames, outermost first, each
 * as the distance from its caller's pc, which is short within one library. A sample of a sleeping or looping thread
 * costs about 8 bytes, a deep C++ stack 15 to 30; a raw frame has 8 bytes.
 *
 * An entry, all numbers LEB128, "change" and "distance" zigzag:
 *
 *     head       the kind in three bits, then bits of enum head
 *     thread     if HEAD_THREAD: the thread's number; else the previous entry's thread
 *     time       change from the previous entry, ns (from 0 in the first entry)
 *     fields     the fields that only this kind has: write_kind_fields()
 *     cpu        if HEAD_CPU; else the CPU of this thread's previous sample
 *     flags      if HEAD_FLAGS; else 0
 *     shared     unless HEAD_SAME: number of outer frames shared with this thread's previous sample
 *     fresh      unless HEAD_SAME: number of frames that follow
 *     kernel     if HEAD_KERNEL and not HEAD_SAME: number of the innermost frames that are kernel addresses; else 0
 *     distance   `fresh` times, outermost first: from the pc of the caller's frame, or from 0
 *
 * An entry of a slice has no flags and no frames. An entry of counters belongs to a process, to all CPUs or to the
 * machine's power instead of a thread, and has no CPU and no flags. Such an entry stores values as other entries store
 * frames: unchanged values before the first changed one cost nothing, so values that change often come last.
 *
 * An entry never spans two chunks, and each chunk starts without known threads, so a reader needs no other chunk.
 */
#include "spool/chunk.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/leb128.h"

enum head {
    HEAD_KIND = 7, /* mask of the kind, from which SPOOL_SAMPLES is subtracted */
    HEAD_SAME = 8,
    HEAD_CPU = 16,
    HEAD_FLAGS = 32,
    HEAD_THREAD = 64,
    HEAD_KERNEL = 128,
};

enum { FIELDS_MAX = 15 }; /* limit of numbers in an entry, except its frames */

/* The fields of an entry that several kinds have. */
struct entry {
    enum spool_record_kind kind;
    uint32_t thread; /* for counters, spool_counters.of */
    uint32_t cpu, flags, kernel_frames;
    uint64_t time;
    struct spool_list list;
};

/* The last entry of a thread in the current chunk. */
struct last_sample {
    uint32_t cpu;
    uint32_t kernel_frame_count;
    ARRAY(uint64_t) frames; /* outermost first, so that shared frames keep their index */
};

/* The threads of the current chunk. The next chunk reuses the slots with their frame buffers. */
struct thread_slots {
    struct hash index; /* make_slot_key() -> slot */
    ARRAY(struct last_sample) slots;
    size_t used;
};

/* Bits of a key that numbers of threads and processes do not use. Slices have slots of their own, because the CPU of a
 * slice is older than the CPU of the thread's last sample. */
#define KEY_OF_COUNTERS (UINT32_C(1) << 31)
#define KEY_OF_SLICES   (UINT32_C(1) << 30)

static uint32_t make_slot_key(const struct entry *entry)
{
    return entry->thread | (entry->kind == SPOOL_COUNTERS ? KEY_OF_COUNTERS
                            : entry->kind == SPOOL_SLICE  ? KEY_OF_SLICES
                                                          : 0);
}

/* Returns the slot of the entry's thread, empty if new, or NULL if memory ran out. */
static struct last_sample *find_slot(struct thread_slots *threads, uint32_t key)
{
    uint32_t *place = hash_at(&threads->index, key);
    if (!place)
        return NULL;
    if (*place == HASH_MISSING) {
        if (threads->used == threads->slots.length && !array_push_zero(&threads->slots)) {
            hash_remove(&threads->index, key);
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
    uint32_t key; /* of the last entry */
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
    writer->key = 0;
    writer->time = 0;
    writer->size = 0;
}

const unsigned char *chunk_writer_get_bytes(const struct chunk_writer *writer, size_t *size)
{
    *size = writer->size;
    return writer->bytes;
}

/* Returns item `i` of a list, counted from the outermost. */
static uint64_t get_item_from_outermost(const struct entry *entry, uint32_t i)
{
    return entry->list.items[entry->kind == SPOOL_COUNTERS ? i : entry->list.count - 1 - i];
}

/* Returns the number of outer frames that the entry shares with the thread's previous entry. */
static uint32_t count_shared(const struct last_sample *last, const struct entry *entry)
{
    size_t most = entry->list.count < last->frames.length ? entry->list.count : last->frames.length;
    uint32_t shared = 0;
    while (shared < most && last->frames.data[shared] == get_item_from_outermost(entry, shared))
        shared++;
    return shared;
}

/* Writes the fields that only this kind has. */

static unsigned char *write_wait_fields(unsigned char *out, const struct spool_wait *wait)
{
    out = leb128_put(out, wait->cpu_time_ns);
    out = leb128_put(out, wait->wait_ns);
    out = leb128_put(out, (uint64_t)wait->reason << 3 | (uint64_t)(wait->unseen_ns != 0) << 2 |
                              (uint64_t)wait->goes_on << 1 | (wait->waker != 0));
    out = leb128_put(out, wait->object);
    if (wait->unseen_ns)
        out = leb128_put(out, wait->unseen_ns);
    return wait->waker ? leb128_put(out, wait->waker) : out;
}

static unsigned char *write_event_fields(unsigned char *out, const struct spool_event_sample *sample)
{
    out = leb128_put(out, sample->event);
    return leb128_put(out, sample->period);
}

static unsigned char *write_counter_fields(unsigned char *out, const struct spool_counters *counters)
{
    bool has_since = counters->since_ns && counters->since_ns < counters->time_ns;
    return leb128_put(out, (has_since ? counters->time_ns - counters->since_ns : 0) << 1 | counters->is_base);
}

static unsigned char *write_slice_fields(unsigned char *out, const struct spool_slice *slice)
{
    out = leb128_put(out, slice->length_ns);
    return leb128_put(out, slice->off_cpu_ns);
}

static unsigned char *write_kind_fields(unsigned char *out, enum spool_record_kind kind, const void *record)
{
    switch (kind) {
    case SPOOL_WAIT:
        return write_wait_fields(out, record);
    case SPOOL_EVENT_SAMPLE:
        return write_event_fields(out, record);
    case SPOOL_COUNTERS:
        return write_counter_fields(out, record);
    case SPOOL_SLICE:
        return write_slice_fields(out, record);
    case SPOOL_WAKER_STACK:
        return leb128_put(out, ((const struct spool_waker_stack *)record)->woken);
    default:
        return leb128_put(out, ((const struct spool_sample *)record)->cpu_time_ns);
    }
}

#define ENTRY_OF(number, record)                                                                                       \
    (struct entry)                                                                                                     \
    {                                                                                                                  \
        .kind = (number), .thread = (record)->thread, .cpu = (record)->cpu, .flags = (record)->flags,                  \
        .kernel_frames = (record)->kernel_frames, .time = (record)->time_ns, .list = (record)->frames                  \
    }

static struct entry make_entry(enum spool_record_kind kind, const void *record)
{
    const struct spool_counters *counters = record;
    const struct spool_slice *slice = record;
    switch (kind) {
    case SPOOL_WAIT:
        return ENTRY_OF(kind, (const struct spool_wait *)record);
    case SPOOL_EVENT_SAMPLE:
        return ENTRY_OF(kind, (const struct spool_event_sample *)record);
    case SPOOL_WAKER_STACK:
        return ENTRY_OF(kind, (const struct spool_waker_stack *)record);
    case SPOOL_COUNTERS:
        return (struct entry){
            .kind = kind, .thread = counters->of, .time = counters->time_ns, .list = counters->values};
    case SPOOL_SLICE:
        return (struct entry){.kind = kind, .thread = slice->thread, .cpu = slice->cpu, .time = slice->time_ns};
    default:
        return ENTRY_OF(kind, (const struct spool_sample *)record);
    }
}

bool chunk_writer_append(struct chunk_writer *writer, enum spool_record_kind kind, const void *record)
{
    struct entry entry = make_entry(kind, record);
    if (entry.list.count > CHUNK_MAX_FRAMES) { /* keep the innermost frames, and drop outer ones */
        entry.list.count = CHUNK_MAX_FRAMES;
        entry.flags |= kind == SPOOL_COUNTERS ? 0 : SAMPLE_TRUNCATED;
        if (entry.kernel_frames > CHUNK_MAX_FRAMES)
            entry.kernel_frames = CHUNK_MAX_FRAMES;
    }
    uint32_t key = make_slot_key(&entry), count = (uint32_t)entry.list.count;
    struct last_sample *last = find_slot(&writer->threads, key);
    if (!last || !array_reserve(&last->frames, count))
        return false;

    uint32_t shared = count_shared(last, &entry);
    bool same = shared == count && shared == last->frames.length && entry.kernel_frames == last->kernel_frame_count;
    uint32_t fresh = count - shared;
    if ((FIELDS_MAX + (size_t)fresh) * LEB128_MAX > CHUNK_SIZE - writer->size)
        return false;

    unsigned char *out = writer->bytes + writer->size;
    unsigned char *head = out++;
    *head = (unsigned char)((kind - SPOOL_SAMPLES) | (same ? HEAD_SAME : 0));
    if (writer->size == 0 || key != writer->key) {
        *head |= HEAD_THREAD;
        out = leb128_put(out, entry.thread);
    }
    out = leb128_put(out, encode_zigzag((int64_t)(entry.time - writer->time)));
    out = write_kind_fields(out, kind, record);
    if (entry.cpu != last->cpu) {
        *head |= HEAD_CPU;
        out = leb128_put(out, entry.cpu);
    }
    if (entry.flags) {
        *head |= HEAD_FLAGS;
        out = leb128_put(out, entry.flags);
    }
    if (!same) {
        out = leb128_put(out, shared);
        out = leb128_put(out, fresh);
        if (entry.kernel_frames) {
            *head |= HEAD_KERNEL;
            out = leb128_put(out, entry.kernel_frames);
        }
        uint64_t outside = shared ? last->frames.data[shared - 1] : 0;
        for (uint32_t i = shared; i < count; i++) {
            uint64_t frame = get_item_from_outermost(&entry, i);
            out = leb128_put(out, encode_zigzag((int64_t)(frame - outside)));
            outside = last->frames.data[i] = frame;
        }
        last->frames.length = count;
        last->kernel_frame_count = entry.kernel_frames;
    }
    last->cpu = entry.cpu;
    writer->key = key;
    writer->time = entry.time;
    writer->size = (size_t)(out - writer->bytes);
    return true;
}

/* ---- reading ---- */

struct chunk_reader {
    struct thread_slots threads;
    struct cursor at;
    uint32_t thread, key; /* of the last entry */
    uint64_t time;
    bool first;
    ARRAY(uint64_t) frames; /* frames of the last record, leaf first */
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

/* Reads the frames of an entry into its thread's slot. */
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
        outside += (uint64_t)decode_zigzag(cursor_uleb(at));
        last->frames.data[last->frames.length++] = outside;
    }
    last->kernel_frame_count = (uint32_t)kernel;
    return 0;
}

/* Reads the fields that only this kind has. */
static void read_kind_fields(struct cursor *at, struct spool_record *record)
{
    uint64_t bits;
    switch (record->kind) {
    case SPOOL_SAMPLE:
        record->sample.cpu_time_ns = cursor_uleb(at);
        break;
    case SPOOL_WAIT:
        record->wait.cpu_time_ns = cursor_uleb(at);
        record->wait.wait_ns = cursor_uleb(at);
        bits = cursor_uleb(at);
        record->wait.reason = (uint32_t)(bits >> 3);
        record->wait.goes_on = bits & 2;
        record->wait.object = cursor_uleb32(at);
        record->wait.unseen_ns = bits & 4 ? cursor_uleb(at) : 0;
        record->wait.waker = bits & 1 ? cursor_uleb32(at) : 0;
        at->failed |= bits >> 3 > UINT32_MAX;
        break;
    case SPOOL_EVENT_SAMPLE:
        record->event_sample.event = cursor_uleb32(at);
        record->event_sample.period = cursor_uleb(at);
        break;
    case SPOOL_COUNTERS:
        bits = cursor_uleb(at);
        record->counters.is_base = bits & 1;
        record->counters.since_ns = bits >> 1;
        break;
    case SPOOL_SLICE:
        record->slice.length_ns = cursor_uleb(at);
        record->slice.off_cpu_ns = cursor_uleb(at);
        break;
    case SPOOL_WAKER_STACK:
        record->waker_stack.woken = cursor_uleb32(at);
        break;
    default:
        at->failed = true;
    }
}

static struct spool_list reverse_frames(struct chunk_reader *reader, const struct last_sample *last)
{
    size_t count = last->frames.length;
    for (size_t i = 0; i < count; i++)
        reader->frames.data[i] = last->frames.data[count - 1 - i];
    return (struct spool_list){.items = reader->frames.data, .count = count};
}

#define SET_ENTRY(record, entry)                                                                                       \
    ((record)->thread = (entry)->thread, (record)->time_ns = (entry)->time, (record)->cpu = (entry)->cpu,              \
     (record)->flags = (entry)->flags, (record)->kernel_frames = (entry)->kernel_frames,                               \
     (record)->frames = (entry)->list)

static void fill_record(struct spool_record *record, const struct entry *entry)
{
    struct spool_counters *counters = &record->counters;
    struct spool_slice *slice = &record->slice;
    switch (record->kind) {
    case SPOOL_WAIT:
        SET_ENTRY(&record->wait, entry);
        break;
    case SPOOL_EVENT_SAMPLE:
        SET_ENTRY(&record->event_sample, entry);
        break;
    case SPOOL_WAKER_STACK:
        SET_ENTRY(&record->waker_stack, entry);
        break;
    case SPOOL_COUNTERS:
        counters->of = entry->thread;
        counters->time_ns = entry->time;
        counters->values = entry->list;
        bool has_since = counters->since_ns && counters->since_ns < entry->time;
        counters->since_ns = has_since ? entry->time - counters->since_ns : 0;
        break;
    case SPOOL_SLICE:
        slice->thread = entry->thread;
        slice->time_ns = entry->time;
        slice->cpu = entry->cpu;
        break;
    default:
        SET_ENTRY(&record->sample, entry);
    }
}

int chunk_reader_next(struct chunk_reader *reader, struct spool_record *record, struct error *err)
{
    struct cursor *at = &reader->at;
    if (!at->failed && cursor_left(at) == 0)
        return 0;
    uint8_t head = cursor_u8(at);
    struct entry entry = {.kind = SPOOL_SAMPLES + (head & HEAD_KIND)};
    *record = (struct spool_record){.kind = entry.kind};
    entry.thread = head & HEAD_THREAD ? cursor_uleb32(at) : reader->thread;
    uint32_t key = make_slot_key(&entry);
    bool is_unknown = !(head & HEAD_THREAD) && (reader->first || key != reader->key);
    at->failed |= is_unknown;
    reader->thread = entry.thread;
    reader->key = key;
    reader->first = false;
    entry.time = reader->time += (uint64_t)decode_zigzag(cursor_uleb(at));
    read_kind_fields(at, record);
    struct last_sample *last = at->failed ? NULL : find_slot(&reader->threads, key);
    if (!at->failed && !last)
        return error_no_memory(err);
    if (last && head & HEAD_CPU)
        last->cpu = cursor_uleb32(at);
    entry.flags = head & HEAD_FLAGS ? cursor_uleb32(at) : 0;
    if (last && !(head & HEAD_SAME)) {
        int code = read_frames(at, head, last, err);
        if (code) {
            at->failed = true;
            return code;
        }
    }
    if (at->failed || !last)
        return error_set(err, EINVAL, "a chunk has a damaged entry, or ends in the middle of one");
    reader->frames.length = 0;
    if (!array_reserve(&reader->frames, last->frames.length))
        return error_no_memory(err);
    entry.cpu = last->cpu;
    entry.kernel_frames = last->kernel_frame_count;
    entry.list = entry.kind == SPOOL_COUNTERS
                     ? (struct spool_list){.items = last->frames.data, .count = last->frames.length}
                     : reverse_frames(reader, last);
    fill_record(record, &entry);
    return 1;
}
