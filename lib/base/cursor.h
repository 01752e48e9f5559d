/*
 * Bounds-checked reads of untrusted bytes (ELF, DWARF, perf rings, spool files). A cursor walks from `at` to `end`; a
 * read past the end returns 0 and sets `failed`, and so does every read after it, so that a parser checks once after a
 * group of reads. All values are little-endian.
 */
#pragma once

#include "base/standard.h"

struct cursor {
    const unsigned char *at, *end;
    bool failed;
};

/* `bytes` may be NULL where `size` is 0. */
static inline struct cursor cursor_of(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    return (struct cursor){.at = at, .end = at ? at + size : at}; /* NULL + 0 is undefined */
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* Returns the next `size` bytes, and skips them, or NULL if fewer are left. */
static inline const unsigned char *cursor_bytes(struct cursor *c, uint64_t size)
{
    if (c->failed || size > cursor_left(c)) {
        c->failed = true;
        return NULL;
    }
    const unsigned char *bytes = c->at;
    c->at += size;
    return bytes;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const unsigned char *bytes = cursor_bytes(c, 1);
    return bytes ? *bytes : 0;
}

#define CURSOR_READ(name, type)                                                                                        \
    static inline type name(struct cursor *c)                                                                          \
    {                                                                                                                  \
        type value = 0;                                                                                                \
        const unsigned char *bytes = cursor_bytes(c, sizeof(value));                                                   \
        if (bytes)                                                                                                     \
            memcpy(&value, bytes, sizeof(value));                                                                      \
        return value;                                                                                                  \
    }
CURSOR_READ(cursor_u16, uint16_t)
CURSOR_READ(cursor_u32, uint32_t)
CURSOR_READ(cursor_u64, uint64_t)
#undef CURSOR_READ

/* Reads an unsigned LEB128 number. A number of more than 64 bits fails. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_u8(c);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    c->failed = true;
    return 0;
}

/* Reads an unsigned LEB128 number. A number of more than 32 bits fails. */
static inline uint32_t cursor_uleb32(struct cursor *c)
{
    uint64_t value = cursor_uleb(c);
    c->failed |= value > UINT32_MAX;
    return (uint32_t)value;
}

/* Reads a signed LEB128 in DWARF's form (sign-extended, not zigzag). */
static inline int64_t cursor_sleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        uint8_t byte = cursor_u8(c);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if (shift < 64 && (byte & 0x40))
                value |= ~UINT64_C(0) << shift;
            return (int64_t)value;
        }
    }
    c->failed = true;
    return 0;
}

/* Returns a NUL-terminated string inside the bytes, or NULL (and failed) without a NUL before the end. */
static inline const char *cursor_string(struct cursor *c)
{
    const unsigned char *nul = c->failed ? NULL : memchr(c->at, 0, cursor_left(c));
    if (!nul) {
        c->failed = true;
        return NULL;
    }
    const char *text = (const char *)c->at;
    c->at = nul + 1;
    return text;
}
