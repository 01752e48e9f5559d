/*
 * A byte sink into memory, for tests and fuzzers of writers.
 */
#pragma once

#include "base/array.h"
#include "base/sink.h"

#include <stdlib.h>
#include <string.h>

ARRAY_TYPE(struct memory, char);

static inline int memory_write(void *context, const void *bytes, size_t size, struct error *err)
{
    struct memory *memory = context;
    (void)err;
    if (!array_reserve(memory, size + 1))
        abort();
    if (size)
        memcpy(memory->data + memory->length, bytes, size);
    memory->length += size;
    memory->data[memory->length] = '\0';
    return 0;
}

static inline struct byte_sink memory_sink(struct memory *memory)
{
    return (struct byte_sink){.write = memory_write, .context = memory};
}
