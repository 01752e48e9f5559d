#include "unwind/cache.h"

enum { CACHE_LINE = 64 };

static struct rule (*pairs_new(unsigned bits))[2]
{
    size_t size = (sizeof(struct rule[2])) << bits;
    void *pairs = aligned_alloc(CACHE_LINE, size);
    return pairs ? memset(pairs, 0, size) : NULL;
}

struct unwind_cache *unwind_cache_new(void)
{
    struct unwind_cache *cache = malloc(sizeof(*cache));
    if (!cache)
        return NULL;
    *cache = (struct unwind_cache){.pairs = pairs_new(CACHE_FIRST_BITS), .bits = CACHE_FIRST_BITS, .generation = 1};
    if (!cache->pairs) {
        free(cache);
        return NULL;
    }
    return cache;
}

void unwind_cache_free(struct unwind_cache *cache)
{
    if (!cache)
        return;
    free(cache->pairs);
    free(cache);
}

void unwind_cache_clear(struct unwind_cache *cache)
{
    if (!cache || ++cache->generation != 0)
        return;
    memset(cache->pairs, 0, sizeof(*cache->pairs) << cache->bits);
    cache->generation = 1;
}

static struct rule *insert_rule(struct unwind_cache *cache, uint64_t pc)
{
    struct rule *pair = unwind_cache_get_pair(cache, pc);
    pair[1] = pair[0];
    return &pair[0];
}

static void double_table(struct unwind_cache *cache)
{
    struct unwind_cache grown = {.pairs = pairs_new(cache->bits + 1), .bits = cache->bits + 1};
    cache->misses = 0;
    if (!grown.pairs)
        return;
    for (size_t i = 0; i >> cache->bits == 0; i++)
        for (size_t way = 2; way-- > 0;) {
            const struct rule *rule = &cache->pairs[i][way];
            if (rule->generation == cache->generation)
                *insert_rule(&grown, rule->pc) = *rule;
        }
    free(cache->pairs);
    cache->pairs = grown.pairs;
    cache->bits = grown.bits;
}

struct rule *unwind_cache_add(struct unwind_cache *cache, uint64_t pc)
{
    if (++cache->misses >> cache->bits > 0 && cache->bits < CACHE_MAX_BITS)
        double_table(cache);
    struct rule *rule = insert_rule(cache, pc);
    *rule = (struct rule){.pc = pc, .generation = cache->generation};
    return rule;
}
