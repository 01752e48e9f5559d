#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = hash_mix(length, 0);
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = hash_mix(hash ^ word, 1);
    }
    uint64_t tail = 0;
    if (length) /* `bytes` may be NULL then */
        memcpy(&tail, at, length);
    return hash_mix(hash ^ tail, 2);
}

static size_t find_slot(const struct hash *table, uint64_t key)
{
    size_t i = hash_mix(key, 0) & table->mask;
    while (table->slots[i].value != HASH_MISSING && table->slots[i].key != key)
        i = (i + 1) & table->mask;
    return i;
}

uint32_t hash_get(const struct hash *table, uint64_t key)
{
    return table->slots ? table->slots[find_slot(table, key)].value : HASH_MISSING;
}

static bool resize(struct hash *table, size_t slot_count)
{
    struct hash_slot *slots = malloc(slot_count * sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < slot_count; i++)
        slots[i].value = HASH_MISSING;
    struct hash grown = {.slots = slots, .mask = slot_count - 1, .length = table->length};
    for (size_t i = 0; table->slots && i <= table->mask; i++)
        if (table->slots[i].value != HASH_MISSING)
            slots[find_slot(&grown, table->slots[i].key)] = table->slots[i];
    free(table->slots);
    *table = grown;
    return true;
}

uint32_t *hash_at(struct hash *table, uint64_t key)
{
    if (!table->slots || (table->length + 1) * 4 > (table->mask + 1) * 3)
        if (!resize(table, table->slots ? (table->mask + 1) * 2 : 16))
            return NULL;
    size_t i = find_slot(table, key);
    if (table->slots[i].value == HASH_MISSING) {
        table->slots[i].key = key;
        table->length++;
    }
    return &table->slots[i].value;
}

bool hash_set(struct hash *table, uint64_t key, uint32_t value)
{
    uint32_t *place = hash_at(table, key);
    if (place)
        *place = value;
    return place != NULL;
}

void hash_remove(struct hash *table, uint64_t key)
{
    if (!table->slots)
        return;
    size_t hole = find_slot(table, key);
    if (table->slots[hole].value == HASH_MISSING)
        return;
    /* Close the gap: move back each following entry whose own place lies at or before the hole. */
    for (size_t i = (hole + 1) & table->mask; table->slots[i].value != HASH_MISSING; i = (i + 1) & table->mask) {
        size_t home = hash_mix(table->slots[i].key, 0) & table->mask;
        if (((i - home) & table->mask) >= ((i - hole) & table->mask)) {
            table->slots[hole] = table->slots[i];
            hole = i;
        }
    }
    table->slots[hole].value = HASH_MISSING;
    table->length--;
}

void hash_clear(struct hash *table)
{
    for (size_t i = 0; table->slots && i <= table->mask; i++)
        table->slots[i].value = HASH_MISSING;
    table->length = 0;
}

void hash_destroy(struct hash *table)
{
    free(table->slots);
    *table = (struct hash){0};
}
