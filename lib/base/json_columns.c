/*
 * Reads columns of numbers in a JSON text in bulk, or passes their text to another reader.
 */
#include "base/json.h"
#include "base/json_number.h"

/* ---- columns of numbers ---- */

enum {
    MOST_DIGITS = 19,
    LONGEST_NUMBER = 32 /* bytes of the longest number: sign, digits, point and delimiter, rounded up */
};

/* Counts the digits at the start of eight bytes, and computes their value. Scans all eight bytes at once, as parts of
 * one word: see Lemire, "Number parsing at a gigabyte per second", 2021, for the three multiplications. */
static inline unsigned scan_eight(const char *at, uint64_t *number)
{
    uint64_t word = json_get_eight_bytes(at) ^ UINT64_C(0x3030303030303030);
    /* the top bit of each byte that is not a digit; a carry changes only later bytes */
    uint64_t others = ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
    unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    *number = 0;
    if (count == 0)
        return 0;
    word <<= 64 - 8 * count; /* zeros before it */
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
    *number = (word * 10000 + (word >> 32)) & UINT32_MAX;
    return count;
}

/* Appends the digits at `at` to `digits`, and returns the first byte after them. After eight digits, reads none at
 * or after `limit`. */
static inline const char *scan_digits(const char *at, const char *limit, uint64_t *digits)
{
    static const uint32_t POWERS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t number;
    unsigned count = scan_eight(at, &number);
    *digits = *digits * POWERS[count] + number;
    at += count;
    if (count == 8)
        for (unsigned digit; at < limit && (digit = (unsigned char)(*at - '0')) <= 9; at++)
            *digits = *digits * 10 + digit;
    return at;
}

/* Reads a number of at most 19 digits without an exponent at `at`, where LONGEST_NUMBER bytes are readable. Returns the
 * first byte after the number, or NULL for other text. */
static inline const char *scan_number(const char *at, double *value)
{
    bool negative = *at == '-';
    at += negative;
    const char *first = at, *limit = at + MOST_DIGITS;
    uint64_t digits = 0;
    at = scan_digits(at, limit, &digits);
    if (at == first || at >= limit || (*first == '0' && at - first > 1))
        return NULL;
    double magnitude = (double)digits;
    if (*at == '.') {
        const char *point = at++;
        at = scan_digits(at, limit + 1, &digits);
        if (at == point + 1 || at > limit)
            return NULL;
        if (digits == 0)
            magnitude = 0;
        else if (!number_scale(digits, (int)(point + 1 - at), &magnitude))
            return NULL;
    }
    *value = negative ? -magnitude : magnitude;
    return at;
}

static inline const char *scan_number_or_null(const char *at, double *value)
{
    if (*at != 'n')
        return scan_number(at, value);
    *value = NAN;
    return memcmp(at, "null", 4) == 0 ? at + 4 : NULL;
}

/* Reads an integer below 2^32 - 1, where LONGEST_NUMBER bytes are readable, or null, which becomes `none`. */
static inline const char *scan_index_or_null(const char *at, uint32_t none, uint32_t *value)
{
    if (*at == 'n') {
        *value = none;
        return memcmp(at, "null", 4) == 0 ? at + 4 : NULL;
    }
    uint64_t digits = 0;
    const char *end = scan_digits(at, at + MOST_DIGITS, &digits);
    *value = (uint32_t)digits;
    return end == at || digits >= UINT32_MAX || (*at == '0' && end - at > 1) ? NULL : end;
}

static bool continues_column(const struct json *json)
{
    return !json->problem && !json->unfinished && json->depth && !json_is_in_object(json) &&
           json->expect != EXPECT_COLON;
}

/* Returns the start of the next element of an array, or NULL if none follows, or if fewer bytes are left than a
 * number may have. */
static inline const char *next_element(const char *at, const char *end, bool needs_comma)
{
    while (at < end && json_is_space(*at))
        at++;
    if (needs_comma) {
        if (at == end || *at != ',')
            return NULL;
        at++;
        while (at < end && json_is_space(*at))
            at++;
    }
    return end - at < LONGEST_NUMBER ? NULL : at;
}

static inline bool ends_element(char c)
{
    return c == ',' || c == ']' || json_is_space(c);
}

static inline void advance_past(struct json *json, const char *taken, size_t count)
{
    json->at = taken;
    if (count)
        json->expect = EXPECT_COMMA;
}

/* Reads elements to `numbers`, or to `indexes` if `numbers` is NULL. */
static inline size_t read_column(struct json *json, double *numbers, uint32_t *indexes, uint32_t none, size_t max)
{
    const char *taken = json->at, *end = json->end;
    bool needs_comma = json->expect == EXPECT_COMMA;
    size_t count = 0;
    if (!continues_column(json))
        return 0;
    while (count < max) {
        const char *at = next_element(taken, end, needs_comma);
        if (at)
            at = numbers ? scan_number_or_null(at, &numbers[count]) : scan_index_or_null(at, none, &indexes[count]);
        if (!at || !ends_element(*at))
            break;
        taken = at;
        needs_comma = true;
        count++;
    }
    advance_past(json, taken, count);
    return count;
}

size_t json_read_numbers(struct json *json, double *values, size_t max)
{
    return read_column(json, values, NULL, 0, max);
}

size_t json_read_indexes(struct json *json, uint32_t none, uint32_t *values, size_t max)
{
    return read_column(json, NULL, values, none, max);
}

/* ---- elements for another reader ---- */

static size_t count_bytes(const char *at, const char *end, char byte)
{
    enum { BLOCK = 240 }; /* the counter is one byte, so the compiler counts sixteen bytes at once */
    size_t count = 0;
    while (at < end) {
        size_t size = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
        unsigned char found = 0;
        for (size_t i = 0; i < size; i++)
            found = (unsigned char)(found + (at[i] == byte));
        count += found;
        at += size;
    }
    return count;
}

/* Like memchr(), which in WebAssembly reads only four bytes at once. */
static const char *find_byte(const char *at, const char *end, char byte)
{
    enum { BLOCK = 4096 };
    for (size_t size; at < end; at += size) {
        size = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
        if (count_bytes(at, at + size, byte))
            return memchr(at, byte, size);
    }
    return NULL;
}

size_t json_defer_numbers(struct json *json, size_t least, const char **text, size_t *size)
{
    const char *at = json->at, *end = json->end;
    if (!continues_column(json) || (size_t)(end - at) <= least)
        return 0;
    if (json->expect == EXPECT_COMMA && *at++ != ',')
        return 0;
    const char *close = find_byte(at, end, ']');
    const char *last = close ? close : end;
    while (last > at && last[-1] != ',')
        last--;
    if ((size_t)(last - at) <= least)
        return 0;
    last--;
    *text = at;
    *size = (size_t)(last - at);
    json->at = last;
    json->expect = EXPECT_COMMA;
    return count_bytes(at, last, ',') + 1;
}
