/*
 * UTF-8, as RFC 3629 allows it: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#pragma once

#include "base/standard.h"

/* Returns the length (1 to 4) of the valid character at `at`, or 0 without a valid character before `end`. */
static inline size_t utf8_measure_character(const char *at, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    if (left == 0)
        return 0;
    if (bytes[0] < 0x80)
        return 1;
    size_t length = bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : bytes[0] < 0xf5 ? 4 : 0;
    if (length == 0 || left < length)
        return 0;
    unsigned char lowest = bytes[0] == 0xe0 ? 0xa0 : bytes[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char highest = bytes[0] == 0xed ? 0x9f : bytes[0] == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < lowest || bytes[1] > highest)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* Returns the length of the whole characters in the first `most` bytes of a text, as the precision of "%.*s". */
static inline int utf8_cut(const char *text, int most)
{
    int length = (int)strnlen(text, (size_t)most);
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

/* Returns the character at `at`, for a `length` from utf8_measure_character(). */
static inline uint32_t utf8_decode(const char *at, size_t length)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)at[0] & first_bits[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    return code;
}

/* Whether a character is visible, with an effect only at its own position. Invisible characters are Unicode's controls
 * (Cc), format characters (Cf: zero-width characters, direction marks) and line separators (Zl, Zp), as in plain.ts of
 * the page, and also variation selectors and the grapheme joiner, which have neither width nor shape. */
bool utf8_is_visible(uint32_t code);

/* Writes `code` (a Unicode scalar value) at `out`, which has 4 bytes; returns its length. */
static inline size_t utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, which replaces bytes that are not UTF-8 */
