/*
 * LEB128: integers of seven bits a byte, low bits first, high bit set on all bytes but the last. Signed values use
 * zigzag (0, -1, 1, -2 ... -> 0, 1, 2, 3 ...), so that small magnitudes of either sign are short. (DWARF's
 * signed LEB128 is sign-extended instead: lib/base/cursor.h reads it.)
 */
#pragma once

#include "base/standard.h"

enum { LEB128_MAX = 10 }; /* bytes of the longest 64-bit value */

/* Writes `value` at `out`, which has LEB128_MAX bytes; returns the first byte after the number. */
static inline unsigned char *leb128_put(unsigned char *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *out++ = (unsigned char)value;
    return out;
}

static inline uint64_t encode_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t decode_zigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}
