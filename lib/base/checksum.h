/*
 * Checksums of stored data: the same in every run and on every machine. An attacker can make two inputs with one
 * checksum; tables in memory use hash.h.
 */
#pragma once

#include "base/standard.h"

/* Mixes two values with the finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t checksum_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a + UINT64_C(0x9e3779b97f4a7c15) * (b + 1);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* `bytes` may be NULL if `length` is 0. */
uint64_t checksum_bytes(const void *bytes, size_t length);
