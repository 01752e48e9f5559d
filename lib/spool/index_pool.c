#include "spool/index_pool.h"

bool index_pool_add(struct index_pool *pool, void *item, uint32_t *index)
{
    if (pool->free.length) {
        *index = pool->free.data[--pool->free.length];
        pool->items.data[*index] = item;
        return true;
    }
    *index = (uint32_t)pool->items.length;
    return array_push(&pool->items, item);
}

bool index_pool_remove(struct index_pool *pool, uint32_t index)
{
    pool->items.data[index] = NULL;
    return array_push(&pool->free, index);
}

void index_pool_destroy(struct index_pool *pool)
{
    array_free(&pool->items);
    array_free(&pool->free);
}
