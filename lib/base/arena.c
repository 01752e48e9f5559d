#include "base/arena.h"

#include <stdalign.h>

enum { BLOCK_SIZE = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        struct arena_block *fresh = malloc(sizeof(*fresh) + capacity);
        if (!fresh)
            return NULL;
        fresh->used = 0;
        fresh->size = capacity;
        if (block && size > BLOCK_SIZE) { /* keep filling the current block after an oversized one */
            fresh->next = block->next;
            block->next = fresh;
        } else {
            fresh->next = block;
            arena->blocks = fresh;
        }
        block = fresh;
    }
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
    char *copy = length == SIZE_MAX ? NULL : arena_alloc(arena, length + 1);
    if (copy) {
        if (length)
            memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

void arena_join(struct arena *arena, struct arena *from)
{
    struct arena_block **end = &arena->blocks;
    while (*end)
        end = &(*end)->next;
    *end = from->blocks;
    from->blocks = NULL;
}

void arena_destroy(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena->blocks = NULL;
}
