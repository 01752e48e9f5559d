#include "base/hash.h"

#include "base/checksum.h"

struct hash_seed hash_seed = {{UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db)}};

void hash_set_seed(uint64_t seed)
{
    hash_seed.words[0] = checksum_mix(seed, 0);
    hash_seed.words[1] = checksum_mix(seed, 1);
}

uint64_t hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t words[2], hash = 0;
    size_t left = length;
    for (; left > sizeof(words); at += sizeof(words), left -= sizeof(words)) {
        memcpy(words, at, sizeof(words));
        hash = hash_mix(words[0], words[1] ^ hash);
    }
    words[0] = words[1] = 0;
    if (left)
        memcpy(words, at, left);
    return hash_mix(hash_mix(words[0], words[1] ^ hash), length);
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

static bool resize_table(struct hash *table, size_t slot_count)
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
        if (!resize_table(table, table->slots ? (table->mask + 1) * 2 : 16))
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
    /* Removes an entry and closes the gap: moves back each following entry whose own slot is at or before the gap. */
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
