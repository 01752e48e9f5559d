/*
 * Memory that is freed all at once: blocks of 64 KiB, filled from the front. An arena is for strings and small records
 * that live as long as their table. Zero a `struct arena` to start; arena_destroy() frees everything.
 */
#pragma once

#include "base/standard.h"

struct arena_block;

struct arena {
    struct arena_block *blocks;
};

/* Returns `size` uninitialized bytes, aligned for any type, or NULL if memory ran out. */
void *arena_alloc(struct arena *arena, size_t size);

/* Returns a NUL-terminated copy of `length` bytes, or NULL if memory ran out. */
char *arena_copy(struct arena *arena, const char *text, size_t length);

/* Moves the blocks of `from` to `arena`, at unchanged addresses; `from` is empty then. */
void arena_join(struct arena *arena, struct arena *from);

void arena_destroy(struct arena *arena);
