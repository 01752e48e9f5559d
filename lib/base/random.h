/*
 * Random numbers for sampling: xorshift64*. They are not for secrets.
 */
#pragma once

#include "base/standard.h"

/* Returns 64 random bits. `*state` must not be 0. The function replaces it by the next state. */
static inline uint64_t draw_random_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}
