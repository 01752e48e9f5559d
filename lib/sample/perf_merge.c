#include "sample/perf_merge.h"

#include <linux/perf_event.h>

struct source {
    struct perf_ring *ring;
    uint64_t first_head, head;
    uint64_t time; /* of the record at the tail */
    size_t size;   /* size of the record at the tail */
};

struct perf_merge {
    struct perf_layout layout;
    struct source *sources;
    size_t count;
    uint32_t *heap; /* heap of the indexes of sources with a record, earliest first */
    size_t heap_length;
    size_t behind;    /* number of sources that have not reached their first head */
    bool has_current; /* the caller holds the record of heap[0] */
    unsigned char bounce[PERF_RING_RECORD_MAX];
};

struct perf_merge *perf_merge_new(const struct perf_layout *layout, struct perf_ring *const *rings, size_t count)
{
    struct perf_merge *merge = calloc(1, sizeof(*merge));
    if (!merge || !(merge->sources = calloc(count, sizeof(*merge->sources))) ||
        !(merge->heap = calloc(count, sizeof(*merge->heap)))) {
        perf_merge_free(merge);
        return NULL;
    }
    merge->layout = *layout;
    merge->count = count;
    for (size_t i = 0; i < count; i++)
        merge->sources[i].ring = rings[i];
    return merge;
}

void perf_merge_free(struct perf_merge *merge)
{
    if (!merge)
        return;
    free(merge->sources);
    free(merge->heap);
    free(merge);
}

static bool is_earlier(const struct perf_merge *merge, size_t a, size_t b)
{
    return merge->sources[merge->heap[a]].time < merge->sources[merge->heap[b]].time;
}

static void swap_sources(struct perf_merge *merge, size_t a, size_t b)
{
    uint32_t other = merge->heap[a];
    merge->heap[a] = merge->heap[b];
    merge->heap[b] = other;
}

static void move_up(struct perf_merge *merge, size_t at)
{
    for (; at && is_earlier(merge, at, (at - 1) / 2); at = (at - 1) / 2)
        swap_sources(merge, at, (at - 1) / 2);
}

static void move_down(struct perf_merge *merge, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merge->heap_length; child++) {
            if (is_earlier(merge, child, least))
                least = child;
        }
        if (least == at)
            return;
        swap_sources(merge, at, least);
        at = least;
    }
}

/* Loads the header of the record at the tail. A record without a time gets the time of the previous record; the kernel
 * should write no such record. */
static bool source_load(const struct perf_merge *merge, struct source *source)
{
    uint32_t type;
    if (!perf_ring_peek(source->ring, source->head, &type, &source->size))
        return false;
    size_t offset = perf_record_find_time_offset(&merge->layout, type, source->size);
    if (offset != SIZE_MAX)
        source->time = perf_ring_read_u64(source->ring, offset);
    return true;
}

static bool source_is_behind(const struct source *source)
{
    return source->ring->tail < source->first_head;
}

bool perf_merge_begin(struct perf_merge *merge)
{
    bool anything = false;
    for (size_t i = 0; i < merge->count; i++) {
        struct source *source = &merge->sources[i];
        source->first_head = perf_ring_read_head(source->ring);
        anything |= source_is_behind(source);
    }
    merge->heap_length = 0;
    merge->behind = 0;
    merge->has_current = false;
    if (!anything)
        return false;
    for (size_t i = 0; i < merge->count; i++) {
        struct source *source = &merge->sources[i];
        source->head = perf_ring_read_head(source->ring);
        if (!source_load(merge, source))
            continue;
        merge->behind += source_is_behind(source);
        merge->heap[merge->heap_length++] = (uint32_t)i;
        move_up(merge, merge->heap_length - 1);
    }
    return merge->behind > 0;
}

static void release_current(struct perf_merge *merge)
{
    struct source *source = &merge->sources[merge->heap[0]];
    bool was_behind = source_is_behind(source);
    perf_ring_skip(source->ring, source->size);
    bool more = source_load(merge, source); /* source_load() skips damaged records, and so may move the tail */
    merge->behind -= was_behind && !source_is_behind(source);
    if (!more)
        merge->heap[0] = merge->heap[--merge->heap_length];
    move_down(merge, 0);
    merge->has_current = false;
}

bool perf_merge_next(struct perf_merge *merge, struct perf_merge_record *record)
{
    if (merge->has_current)
        release_current(merge);
    if (!merge->behind || !merge->heap_length)
        return false;
    struct source *source = &merge->sources[merge->heap[0]];
    record->bytes = perf_ring_get_record(source->ring, source->size, merge->bounce);
    record->size = source->size;
    record->ring = merge->heap[0];
    merge->has_current = true;
    return true;
}

bool perf_merge_has_not_run_since(const struct perf_merge *merge, uint32_t tid, uint64_t time, uint64_t latest)
{
    enum { SWITCH_MAX = 128 };
    unsigned char bytes[SWITCH_MAX];
    struct perf_record record;
    bool has_left = false;
    for (size_t i = 0; i < merge->count; i++) {
        const struct perf_ring *ring = merge->sources[i].ring;
        uint64_t head = perf_ring_read_head(ring);
        uint32_t type;
        size_t size;
        for (uint64_t at = ring->tail; perf_ring_peek_at(ring, at, head, &type, &size); at += size) {
            if ((type != PERF_RECORD_SWITCH && type != PERF_RECORD_SWITCH_CPU_WIDE) || size > SWITCH_MAX)
                continue;
            perf_ring_copy(ring, at, bytes, size);
            if (perf_record_parse(&merge->layout, bytes, size, &record) || record.tid != tid || record.time < time)
                continue;
            if (!record.context_switch.out)
                return false;
            has_left |= record.time <= latest;
        }
    }
    return has_left;
}
