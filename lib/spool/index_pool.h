/*
 * Things that come and go, each at an index of its own while it lives; the indexes of the dead are used again.
 */
#pragma once

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts zeroed. */
struct index_pool {
    ARRAY(void *) items; /* NULL where the index is free */
    ARRAY(uint32_t) free;
};

/* Gives `item`, which stays the caller's, an index. Returns false if memory ran out; it has none then. */
bool index_pool_add(struct index_pool *pool, void *item, uint32_t *index);

/* Frees an index that is in use. Returns false if memory ran out; it is not used again then. */
bool index_pool_remove(struct index_pool *pool, uint32_t index);

void index_pool_destroy(struct index_pool *pool);
