/*
 * A hash table from 64-bit keys to 32-bit values, with open addressing and linear probing, at most three quarters full.
 * For keys of more than 64 bits (a name with its library, a prefix with its frame) the caller uses a hash_mix() or
 * hash_bytes() of the key, and chains or compares; see base/strings.c for the pattern.
 *
 * The names and numbers of a profile are untrusted. With a known hash function, an attacker could choose keys that all
 * map to one slot, and a file of 30 MB would keep the page busy for hours. So the function depends on a random seed,
 * which each program sets once. No output depends on the seed: no code iterates over slots, and stored data uses
 * checksums (checksum.h).
 */
#pragma once

#include "base/standard.h"

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

/* The only global state in lib/: a key, the same for all tables. */
extern struct hash_seed {
    uint64_t words[2];
} hash_seed;

/* Sets the seed, before the program has a table or a second thread. Without this call, the seed is the same in every
 * run. */
void hash_set_seed(uint64_t seed);

/* Folds the 128 bits of a product to 64 by exclusive or. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
#ifdef __wasm__ /* has no product of 128 bits. Two products of halves mix well enough, as in foldhash */
    uint64_t x = (a & UINT32_MAX) * (b >> 32), y = (a >> 32) * (b & UINT32_MAX);
    return x ^ (y << 32 | y >> 32);
#else
    __extension__ typedef unsigned __int128 uint128;
    uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#endif
}

/* Mixes two values like wyhash (https://github.com/wangyi-fudan/wyhash). */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    return hash_fold(a ^ hash_seed.words[0], b ^ hash_seed.words[1]);
}

/* `bytes` may be NULL if `length` is 0. */
uint64_t hash_bytes(const void *bytes, size_t length);

/* Returns the value of `key`, or HASH_MISSING. A zeroed table is empty. */
uint32_t hash_get(const struct hash *table, uint64_t key);

/* Returns the address of the value of `key`. Adds a missing key with HASH_MISSING: the caller must then store a value.
 * NULL if memory ran out. The address is valid until the next call. */
uint32_t *hash_at(struct hash *table, uint64_t key);

/* Sets `key`. Returns false if memory ran out. `value` must not be HASH_MISSING. */
bool hash_set(struct hash *table, uint64_t key, uint32_t value);

/* Removes `key`, if present. */
void hash_remove(struct hash *table, uint64_t key);

void hash_clear(struct hash *table);
void hash_destroy(struct hash *table);
