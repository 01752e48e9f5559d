#include "unwind/cache.h"

#include <stdlib.h>

struct unwind_cache *unwind_cache_new(void)
{
    struct unwind_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->bits = CACHE_FIRST_BITS;
    cache->generation = 1;
    cache->rules = calloc((size_t)1 << cache->bits, sizeof(*cache->rules));
    if (!cache->rules) {
        free(cache);
        return NULL;
    }
    return cache;
}

void unwind_cache_free(struct unwind_cache *cache)
{
    if (!cache)
        return;
    free(cache->rules);
    free(cache);
}

void unwind_cache_clear(struct unwind_cache *cache)
{
    if (!cache || ++cache->generation != 0)
        return;
    for (size_t i = 0; i >> cache->bits == 0; i++)
        cache->rules[i].generation = 0;
    cache->generation = 1;
}

void unwind_cache_miss(struct unwind_cache *cache)
{
    if (++cache->misses >> cache->bits < 2 || cache->bits >= CACHE_MAX_BITS)
        return;
    cache->misses = 0;
    struct rule *larger = calloc((size_t)1 << (cache->bits + 1), sizeof(*larger));
    if (!larger)
        return;
    free(cache->rules);
    cache->rules = larger;
    cache->bits++;
}
