/*
 * A table of items with reused indexes: each item keeps one index until its removal.
 */
#pragma once

#include "base/array.h"

/* Starts zeroed. */
struct index_pool {
    ARRAY(void *) items; /* NULL where the index is free */
    ARRAY(uint32_t) free;
};

/* Adds `item`, which the caller owns, and returns its index. Returns false if memory ran out; the pool is
 * unchanged. */
bool index_pool_add(struct index_pool *pool, void *item, uint32_t *index);

/* Frees a used index. Returns false if memory ran out; the pool then never reuses this index. */
bool index_pool_remove(struct index_pool *pool, uint32_t index);

void index_pool_destroy(struct index_pool *pool);
