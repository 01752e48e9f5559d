#include "record/stack_reader.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum {
    OVERLAP = 1024, /* bytes of the copy that are read again, to see whether they are still the same */
    FIRST_PIECE = 64 * 1024,
    CAPACITY = OVERLAP + STACK_READ_MAX
};

int stack_reader_init(struct stack_reader *reader, struct error *err)
{
    reader->buffer = malloc(CAPACITY);
    return reader->buffer ? 0 : error_no_memory(err);
}

void stack_reader_destroy(struct stack_reader *reader)
{
    free(reader->buffer);
}

void stack_reader_start(struct stack_reader *reader, uint32_t pid, uint64_t time, uint64_t sp,
                        const unsigned char *copy, size_t copy_size)
{
    reader->pid = pid;
    reader->time = time;
    reader->sp = sp;
    reader->copy = copy;
    reader->copy_size = copy_size;
    reader->started = reader->gave_up = reader->was_old = false;
    reader->have = 0;
}

static bool is_young(const struct stack_reader *reader)
{
    return monotonic_ns() < reader->time + STACK_READ_MAX_AGE_NS;
}

/* Reads on until `wanted` bytes are there. A stack ends somewhere, and the kernel then gives what is below its end. */
static bool read_until(struct stack_reader *reader, size_t wanted)
{
    size_t piece = reader->have ? reader->have : FIRST_PIECE;
    if (piece < wanted - reader->have)
        piece = wanted - reader->have;
    if (piece > CAPACITY - reader->have)
        piece = CAPACITY - reader->have;
    struct iovec local = {.iov_base = reader->buffer + reader->have, .iov_len = piece};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)(reader->base + reader->have), .iov_len = piece};
    ssize_t size = process_vm_readv((pid_t)reader->pid, &local, 1, &remote, 1, 0);
    if (size > 0)
        reader->have += (size_t)size;
    return reader->have >= wanted;
}

static bool start_reading(struct stack_reader *reader)
{
    size_t overlap = reader->copy_size < OVERLAP ? reader->copy_size : OVERLAP;
    reader->started = true;
    reader->base = reader->sp + reader->copy_size - overlap;
    if (!is_young(reader)) {
        reader->was_old = true;
        return false;
    }
    return read_until(reader, overlap + 8) &&
           !memcmp(reader->buffer, reader->copy + reader->copy_size - overlap, overlap);
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
    memcpy(out, reader->buffer + offset, size);
    return true;
}
