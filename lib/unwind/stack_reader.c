/*
 * Decides whether the memory above a copy still belongs to the sampled stack. The thread may have returned beyond the
 * end of its copy and called another function. Then the callers in the copy do not match the callers in memory,
 * although each part looks valid. But the memory around the end of the copy has mostly changed, too. So the reader
 * reads the last KiB of the copy again: if three quarters of its words are unchanged, the frames at the end still
 * exist, and so do the older frames above. (Not all words: callers write to their locals, and a program that calls the
 * same functions again leaves the same stack with a few new values.)
 *
 * A program that returns from and re-enters its whole stack in this time leaves the old frames in memory, and passes
 * the test. So the sample must be young, too.
 *
 * Another stack (read_off_copied_stack) has no copy to compare with. This other stack does not change while its thread
 * runs on the copied stack, so only the age of the sample counts.
 *
 * docs/decisions.md, "The recorder completes deep stacks from the live process", has measurements.
 */
#include "unwind/stack_reader.h"

#include "arch/dwarf_registers.h"
#include "os/clock.h"
#include "os/target_memory.h"

enum {
    OVERLAP = 1024,          /* bytes of the copy that the reader compares */
    FIRST_PIECE = 32 * 1024, /* bytes to read beyond the size of the previous stack */
    CAPACITY = OVERLAP + STACK_READ_MAX
};

int stack_reader_init(struct stack_reader *reader, struct error *err)
{
    reader->usual = FIRST_PIECE;
    reader->buffer = malloc(CAPACITY);
    return reader->buffer ? 0 : error_no_memory(err);
}

void stack_reader_destroy(struct stack_reader *reader)
{
    free(reader->buffer);
}

static bool is_young(const struct stack_reader *reader)
{
    return monotonic_ns() < reader->time + STACK_READ_MAX_AGE_NS;
}

/* Reads until the buffer has `wanted` bytes. At the end of the stack, the kernel returns a partial read. */
static bool read_until(struct stack_reader *reader, size_t wanted)
{
    size_t piece = reader->have ? reader->have : reader->usual;
    if (piece < wanted - reader->have)
        piece = wanted - reader->have;
    if (piece > CAPACITY - reader->have)
        piece = CAPACITY - reader->have;
    reader->have +=
        target_memory_read(reader->thread, reader->base + reader->have, reader->buffer + reader->have, piece);
    return reader->have >= wanted;
}

static bool is_mostly_equal(const unsigned char *a, const unsigned char *b, size_t size)
{
    size_t words = size / sizeof(uint64_t), equal = 0;
    for (size_t i = 0; i < words; i++)
        equal += !memcmp(a + i * sizeof(uint64_t), b + i * sizeof(uint64_t), sizeof(uint64_t));
    return equal * 4 >= words * 3;
}

static bool start_reading(struct stack_reader *reader)
{
    size_t overlap = reader->copy_size < OVERLAP ? reader->copy_size : OVERLAP;
    reader->started = true;
    reader->base = reader->sp + reader->copy_size - overlap;
    reader->was_late = true;
    if (!is_young(reader) || !read_until(reader, overlap + sizeof(uint64_t)))
        return false;
    reader->was_late = !is_mostly_equal(reader->buffer, reader->copy + reader->copy_size - overlap, overlap);
    return !reader->was_late;
}

/* The next stack is probably as deep as the last one, so the reader reads that size before the slow walk. */
void stack_reader_start(struct stack_reader *reader, struct target_thread thread, uint64_t time, uint64_t sp,
                        const unsigned char *copy, size_t copy_size, bool may_be_deeper)
{
    reader->thread = thread;
    reader->time = time;
    reader->sp = arch_strip_tag(sp);
    reader->copy = copy;
    reader->copy_size = copy_size;
    reader->started = reader->gave_up = reader->was_late = reader->went_off_copied_stack = false;
    reader->off_stack_have = 0;
    bool was_needed = reader->needed > 0;
    if (was_needed)
        reader->usual = reader->needed + FIRST_PIECE;
    reader->have = reader->needed = 0;
    if (was_needed && may_be_deeper)
        reader->gave_up = !start_reading(reader);
}

bool stack_reader_read(void *context, uint64_t address, void *out, size_t size)
{
    struct stack_reader *reader = context;
    if (reader->gave_up || size > CAPACITY)
        return false;
    if (!reader->started && !start_reading(reader)) {
        reader->gave_up = true;
        return false;
    }
    uint64_t offset = address - reader->base;
    if (address < reader->base || offset > CAPACITY - size)
        return false;
    if (offset + size > reader->have && !read_until(reader, (size_t)offset + size)) {
        reader->gave_up = true;
        return false;
    }
    reader->needed = (size_t)offset;
    memcpy(out, reader->buffer + offset, size);
    return true;
}

bool stack_reader_read_off_copied_stack(void *context, uint64_t address, void *out, size_t size)
{
    struct stack_reader *reader = context;
    reader->went_off_copied_stack = true;
    if (size > STACK_READ_OFF_COPIED_STACK)
        return false;
    uint64_t offset = address - reader->off_stack_base;
    if (offset >= reader->off_stack_have || size > reader->off_stack_have - offset) {
        reader->was_late = !is_young(reader);
        if (reader->was_late)
            return false;
        reader->off_stack_have =
            target_memory_read(reader->thread, address, reader->off_stack, STACK_READ_OFF_COPIED_STACK);
        reader->off_stack_base = address;
        offset = 0;
    }
    if (size > reader->off_stack_have)
        return false;
    memcpy(out, reader->off_stack + offset, size);
    return true;
}

bool stack_reader_read_code(void *context, uint64_t address, void *out, size_t size)
{
    const struct stack_reader *reader = context;
    return target_memory_read(reader->thread, address, out, size) == size;
}
