/*
 * A hash table from 64-bit keys to 32-bit values: open addressing, linear probing, at most three quarters full. Keys of
 * more than 64 bits (a name with its library, a prefix with its frame) are hashed with hash_mix() or hash_bytes() by
 * the caller, who chains or compares; see base/strings.c for the pattern.
 */
#ifndef PROF_BASE_HASH_H
#define PROF_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_MISSING UINT32_MAX

struct hash_slot {
    uint64_t key;
    uint32_t value; /* HASH_MISSING marks an empty slot */
};

struct hash {
    struct hash_slot *slots;
    size_t mask; /* slot count - 1, a power of two minus one */
    size_t length;
};

/* A well spread 64-bit value of two; the finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a + UINT64_C(0x9e3779b97f4a7c15) * (b + 1);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t hash_bytes(const void *bytes, size_t length);

/* The value of `key`, or HASH_MISSING. A zeroed table is empty. */
uint32_t hash_get(const struct hash *table, uint64_t key);

/* The place of the value of `key`, added as HASH_MISSING if it was not there: the caller must then store a value.
 * NULL if memory ran out. Valid until the next call. */
uint32_t *hash_at(struct hash *table, uint64_t key);

/* Sets `key`; false if memory ran out. `value` must not be HASH_MISSING. */
bool hash_set(struct hash *table, uint64_t key, uint32_t value);

/* Removes `key` if it is there. */
void hash_remove(struct hash *table, uint64_t key);

void hash_clear(struct hash *table);
void hash_destroy(struct hash *table);

#endif
