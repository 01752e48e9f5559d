/*
 * Any bytes as the kernel's output in two perf rings, read as the recorder reads them: merged by time, each record
 * parsed. The first four bytes choose the layout, the start in each ring, and the split between the rings.
 */
#include "sample/perf_merge.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { RING_SIZE = 4096, RINGS = 2, HEAD = 4 };

struct ring_memory {
    struct perf_event_mmap_page page;
    unsigned char *data; /* an allocation of its own, so that a read behind it is seen */
    struct perf_ring ring;
};

static void fill(struct ring_memory *memory, const uint8_t *bytes, size_t size, uint64_t start)
{
    *memory = (struct ring_memory){.data = calloc(1, RING_SIZE)};
    if (!memory->data)
        abort();
    for (size_t i = 0; i < size; i++)
        memory->data[(start + i) % RING_SIZE] = bytes[i];
    memory->page.data_tail = start;
    memory->page.data_head = start + size;
    memory->ring = (struct perf_ring){.page = &memory->page, .data = memory->data, .size = RING_SIZE, .tail = start};
}

static void must_be_inside(const struct perf_merge_record *record, const void *bytes, size_t size)
{
    const unsigned char *start = bytes;
    if (size && (start < record->bytes || size > record->size || start + size > record->bytes + record->size))
        abort();
}

static void must_end_inside(const struct perf_merge_record *record, const char *text)
{
    must_be_inside(record, text, 1);
    must_be_inside(record, text, strlen(text) + 1);
}

static void check(const struct perf_merge_record *record, const struct perf_record *parsed)
{
    switch (parsed->type) {
    case PERF_RECORD_SAMPLE:
        if (parsed->sample.callchain_length > record->size / 8)
            abort();
        must_be_inside(record, parsed->sample.callchain, 8 * parsed->sample.callchain_length);
        must_be_inside(record, parsed->sample.stack, parsed->sample.stack_size);
        break;
    case PERF_RECORD_MMAP2:
        must_end_inside(record, parsed->mapping.path);
        if (parsed->mapping.build_id_size > sizeof(parsed->mapping.build_id))
            abort();
        break;
    case PERF_RECORD_KSYMBOL:
        must_end_inside(record, parsed->kernel_symbol.name);
        break;
    case PERF_RECORD_COMM:
        must_end_inside(record, parsed->comm.name);
        break;
    default:
        break;
    }
}

static struct perf_layout layout_of(uint8_t choice)
{
    struct perf_layout layout = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU};
    if (choice & 1)
        layout.sample_type |= PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
    if (choice & 2)
        layout.sample_type |= PERF_SAMPLE_CALLCHAIN;
    if (choice & 4)
        layout.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    if (choice & 8)
        layout.sample_type |= PERF_SAMPLE_IDENTIFIER;
    if (choice & 16)
        layout.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    if (choice & 32)
        layout.read_format |= PERF_FORMAT_ID | PERF_FORMAT_LOST;
    return layout;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < HEAD || size > HEAD + RINGS * RING_SIZE)
        return 0;
    struct perf_layout layout = layout_of(bytes[0]);
    uint64_t start = 8 * (uint64_t)bytes[1];
    size_t rest = size - HEAD, first = 8 * (((size_t)bytes[2] << 8 | bytes[3]) % (rest / 8 + 1));
    if (first > RING_SIZE || rest - first > RING_SIZE)
        return 0;
    struct ring_memory memory[RINGS];
    fill(&memory[0], bytes + HEAD, first, start);
    fill(&memory[1], bytes + HEAD + first, rest - first, start);
    struct perf_ring *rings[RINGS] = {&memory[0].ring, &memory[1].ring};
    struct perf_merge *merge = perf_merge_new(&layout, rings, RINGS);
    struct perf_merge_record record;
    struct perf_record parsed;
    if (!merge)
        abort();
    while (perf_merge_begin(merge))
        while (perf_merge_next(merge, &record))
            if (perf_record_parse(&layout, record.bytes, record.size, &parsed) == 0)
                check(&record, &parsed);
    for (int i = 0; i < RINGS; i++) {
        if (memory[i].ring.tail != memory[i].page.data_head)
            abort(); /* what is not read is never given back to the kernel */
        free(memory[i].data);
    }
    perf_merge_free(merge);
    return 0;
}
