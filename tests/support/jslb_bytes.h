/* JSLB containers for tests: any slabs, and tests/data/minimal.json with binary columns. */
#pragma once

#include "support/profile_text.h"

#include <string.h>

static inline void put_u32(struct memory *out, uint32_t value)
{
    const unsigned char bytes[] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                   (unsigned char)(value >> 24)};
    memory_write(out, bytes, sizeof(bytes), NULL);
}

struct slab {
    uint32_t type;
    const void *bytes;
    size_t size;
};

enum { SLAB_I32 = 4, SLAB_F64 = 7, SLAB_JSON = 10 };

static inline void make_container(struct memory *out, const struct slab *slabs, uint32_t count, uint32_t root)
{
    memory_write(out, "\xdc\xdf\x4a\x53\x4c\x42\x01\x00", 8, NULL);
    put_u32(out, 1);
    put_u32(out, count);
    put_u32(out, root);
    size_t offset = (20 + 12 * (size_t)count + 7) / 8 * 8;
    for (uint32_t i = 0; i < count; i++) {
        put_u32(out, slabs[i].type);
        put_u32(out, (uint32_t)offset);
        put_u32(out, (uint32_t)slabs[i].size);
        offset = (offset + slabs[i].size + 7) / 8 * 8;
    }
    for (uint32_t i = 0; i < count; i++) {
        while (out->length % 8)
            memory_write(out, "", 1, NULL);
        memory_write(out, slabs[i].bytes, slabs[i].size, NULL);
    }
}

/* The minimal file with a column of each kind and all threads in slabs of their own. */
static inline void make_minimal_container(struct memory *out)
{
    static const int32_t frames[] = {0, 1, 2}, addresses[] = {4112, 4368, 4640};
    static const double deltas[] = {1, 1, 1, 1};
    char *text = text_replace(text_of_file("minimal.json"), "\"frame\": [0, 1, 2]", "\"frame\": {\"$s\": 0}");
    text = text_replace(text, "\"address\": [4112, 4368, 4640]", "\"address\": {\"$s\":1}");
    text = text_replace(text, "\"timeDeltas\": [1, 1, 1, 1]", "\"timeDeltas\": {\"$s\": 2}");
    char *threads = strstr(text, "\"threads\": ") + strlen("\"threads\": ");
    struct memory thread_slab = {0}, root = {0};
    memory_write(&thread_slab, threads, (size_t)(strrchr(threads, ']') - threads) + 1, NULL);
    memory_write(&root, text, (size_t)(threads - text), NULL);
    memory_write(&root, "{\"$s\": 3}}", 10, NULL);
    const struct slab slabs[] = {{SLAB_I32, frames, sizeof(frames)},
                                 {SLAB_I32, addresses, sizeof(addresses)},
                                 {SLAB_F64, deltas, sizeof(deltas)},
                                 {SLAB_JSON, thread_slab.data, thread_slab.length},
                                 {SLAB_JSON, root.data, root.length}};
    make_container(out, slabs, 5, 4);
    array_free(&thread_slab);
    array_free(&root);
    free(text);
}
