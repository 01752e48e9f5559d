/*
 * A token that lies whole in the piece is read in place. For a token split between pieces, `raw` collects its bytes
 * until its end arrives, and the token is then read from there: finish_*() always get a whole token.
 */
#include "base/json.h"

#include "base/json_number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_CLOSE,
    EXPECT_KEY,
    EXPECT_KEY_OR_CLOSE,
    EXPECT_COLON,
    EXPECT_COMMA,
    EXPECT_END
};

enum unfinished { UNFINISHED_NONE, UNFINISHED_STRING, UNFINISHED_NUMBER, UNFINISHED_WORD };

void json_init(struct json *json)
{
    *json = (struct json){.expect = EXPECT_VALUE};
}

void json_destroy(struct json *json)
{
    array_free(&json->raw);
    array_free(&json->decoded);
}

uint64_t json_position(const struct json *json)
{
    return json->piece_offset + (uint64_t)(json->at - json->piece);
}

void json_feed(struct json *json, const char *bytes, size_t size)
{
    json->piece_offset = json_position(json);
    json->piece = json->at = bytes;
    json->end = size ? bytes + size : bytes; /* NULL + 0 is undefined */
}

void json_end(struct json *json)
{
    json->ended = true;
}

void json_init_whole(struct json *json, const char *text, size_t length)
{
    json_init(json);
    json_feed(json, text, length);
    json_end(json);
}

static enum json_type fail(struct json *json, const char *problem, uint64_t offset)
{
    if (!json->problem) {
        json->problem = problem;
        json->offset = offset;
    }
    return JSON_FAILED;
}

static enum json_type fail_here(struct json *json, const char *problem)
{
    return fail(json, problem, json_position(json));
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool in_object(const struct json *json)
{
    unsigned level = json->depth - 1;
    return json->depth && (json->nesting[level / 8] >> level % 8 & 1);
}

static void value_ended(struct json *json)
{
    json->expect = json->depth ? EXPECT_COMMA : EXPECT_END;
}

static enum json_type open_level(struct json *json, bool object)
{
    if (json->depth == JSON_MAX_DEPTH)
        return fail_here(json, "arrays and objects are nested too deeply");
    unsigned level = json->depth++;
    unsigned char bit = (unsigned char)(1u << level % 8);
    json->nesting[level / 8] =
        (unsigned char)(object ? json->nesting[level / 8] | bit : json->nesting[level / 8] & ~bit);
    json->expect = object ? EXPECT_KEY_OR_CLOSE : EXPECT_VALUE_OR_CLOSE;
    json->at++;
    return object ? JSON_OBJECT_OPEN : JSON_ARRAY_OPEN;
}

static enum json_type close_level(struct json *json, bool object)
{
    json->depth--;
    json->at++;
    value_ended(json);
    return object ? JSON_OBJECT_CLOSE : JSON_ARRAY_CLOSE;
}

/* ---- strings ---- */

/* The first byte is the lowest. */
static inline uint64_t get_eight(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

/* The number of printable ASCII bytes without quote and backslash that the eight bytes at `at` begin with. The sums
 * and differences set the top bit of a byte below 0x20, or equal to the character (it is zero after the exclusive
 * or). A borrow sets wrong top bits only after a right one. */
static inline unsigned count_plain(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t bytes = get_eight(at), quote = bytes ^ ones * '"', backslash = bytes ^ ones * '\\';
    uint64_t others = (bytes | (bytes - ones * 0x20) | (quote - ones) | (backslash - ones)) & tops;
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Moves to the closing quote; false at the end of the piece or at a control character. */
static bool find_quote(struct json *json)
{
    const char *at = json->at, *end = json->end;
    bool found = false;
    for (;;) {
        while (!json->escaped && end - at >= 8) {
            unsigned plain = count_plain(at);
            at += plain;
            if (plain < 8)
                break;
        }
        if (at == end)
            break;
        unsigned char c = (unsigned char)*at;
        if (c < 0x20)
            break;
        if (c >= 0x80)
            json->special = true;
        if (json->escaped) {
            json->escaped = false;
        } else if (c == '\\') {
            json->escaped = json->special = true;
        } else if (c == '"') {
            found = true;
            break;
        }
        at++;
    }
    json->at = at;
    return found;
}

static int hex_value(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four hex digits at `at`, or -1. */
static int32_t hex4(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* Decodes the escape after the backslash at `*at`, writes it at `out` and moves `*at` past it. Returns the number of
 * bytes written, or 0 for an invalid escape. Half of a surrogate pair becomes U+FFFD. */
static size_t decode_escape(const char **at, const char *end, char *out)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char name = (*at)[1];
    const char *simple = name ? strchr(names, name) : NULL;
    if (simple) {
        *at += 2;
        *out = meanings[simple - names];
        return 1;
    }
    int32_t code = name == 'u' ? hex4(*at + 2, end) : -1;
    if (code < 0)
        return 0;
    *at += 6;
    if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        int32_t low = hex4(*at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return utf8_put(out, 0x10000 + ((uint32_t)(code - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
        }
    }
    return utf8_put(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : (uint32_t)code);
}

/* Decodes escapes and replaces invalid UTF-8; false for an invalid escape, or if memory ran out. */
static bool decode_string(struct json *json, const char *at, size_t length)
{
    enum { MOST_GROWTH = 3 }; /* one wrong byte becomes the three of U+FFFD */
    const char *end = at + length;
    json->decoded.length = 0;
    if (length > SIZE_MAX / MOST_GROWTH || !array_reserve(&json->decoded, length * MOST_GROWTH + 1)) {
        fail(json, "out of memory", json->offset);
        return false;
    }
    char *out = json->decoded.data;
    while (at < end) {
        if (*at == '\\') {
            size_t size = decode_escape(&at, end, out);
            if (size == 0) {
                fail(json, "a string has an unknown escape sequence", json->offset);
                return false;
            }
            out += size;
            continue;
        }
        size_t size = utf8_length(at, end);
        memcpy(out, size ? at : UTF8_REPLACEMENT, size ? size : 3);
        out += size ? size : 3;
        at += size ? size : 1;
    }
    json->text = json->decoded.data;
    json->length = (size_t)(out - json->decoded.data);
    return true;
}

static enum json_type finish_string(struct json *json, const char *text, size_t length)
{
    json->text = text;
    json->length = length;
    if (json->special && !decode_string(json, text, length))
        return JSON_FAILED;
    if (json->expect == EXPECT_KEY || json->expect == EXPECT_KEY_OR_CLOSE) {
        json->expect = EXPECT_COLON;
        return JSON_KEY;
    }
    value_ended(json);
    return JSON_STRING;
}

/* ---- numbers, true, false, null ---- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

static bool is_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    const char *digits = at;
    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return false;
    if (at < end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        digits = at;
        at = skip_digits(at, end);
        if (at == digits)
            return false;
    }
    return at == end;
}

static enum json_type finish_number(struct json *json, const char *text, size_t length)
{
    if (!is_number(text, text + length))
        return fail(json, "a malformed number", json->offset);
    json->text = text;
    json->length = length;
    json->number = number_parse(text, length);
    value_ended(json);
    return JSON_NUMBER;
}

static enum json_type finish_word(struct json *json, const char *text, size_t length)
{
    enum json_type type = length == 4 && memcmp(text, "null", 4) == 0    ? JSON_NULL
                          : length == 4 && memcmp(text, "true", 4) == 0  ? JSON_TRUE
                          : length == 5 && memcmp(text, "false", 5) == 0 ? JSON_FALSE
                                                                         : JSON_FAILED;
    if (type == JSON_FAILED)
        return fail(json, "an unknown word instead of true, false or null", json->offset);
    json->text = text;
    json->length = length;
    value_ended(json);
    return type;
}

static bool is_number_byte(char c)
{
    return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* ---- tokens that may be split ---- */

/* Moves to the end of the unfinished token; false if the piece ended first. */
static bool find_token_end(struct json *json)
{
    if (json->unfinished == UNFINISHED_STRING)
        return find_quote(json);
    bool (*belongs)(char) = json->unfinished == UNFINISHED_NUMBER ? is_number_byte : is_word_byte;
    while (json->at < json->end && belongs(*json->at))
        json->at++;
    return json->at < json->end || json->ended;
}

static enum json_type finish_token(struct json *json, const char *text, size_t length)
{
    unsigned char kind = json->unfinished;
    json->unfinished = UNFINISHED_NONE;
    if (kind == UNFINISHED_STRING) {
        json->at++; /* the quote */
        return finish_string(json, text, length);
    }
    return kind == UNFINISHED_NUMBER ? finish_number(json, text, length) : finish_word(json, text, length);
}

static bool collect(struct json *json, const char *from)
{
    size_t length = (size_t)(json->at - from);
    if (!array_reserve(&json->raw, length + 1))
        return false;
    if (length)
        memcpy(json->raw.data + json->raw.length, from, length);
    json->raw.length += length;
    return true;
}

static enum json_type continue_token(struct json *json)
{
    const char *from = json->at;
    bool whole = find_token_end(json);
    bool cut = !whole && json->at == json->end;
    if (!whole && !cut)
        return fail_here(json, "a control character inside a string");
    if (whole && json->raw.length == 0)
        return finish_token(json, from, (size_t)(json->at - from));
    if ((size_t)(json->at - from) > JSON_MAX_CUT_TOKEN - json->raw.length)
        return fail_here(json, "a text or number of more than 64 MiB");
    if (!collect(json, from))
        return fail_here(json, "out of memory");
    if (whole)
        return finish_token(json, json->raw.data, json->raw.length);
    return json->ended ? fail_here(json, "the text ends inside a string") : JSON_MORE;
}

static enum json_type begin_token(struct json *json, enum unfinished kind)
{
    json->unfinished = (unsigned char)kind;
    json->raw.length = 0;
    json->escaped = json->special = false;
    if (kind == UNFINISHED_STRING)
        json->at++;
    return continue_token(json);
}

/* ---- the grammar ---- */

static enum json_type begin_value(struct json *json, char c)
{
    if (c == '"')
        return begin_token(json, UNFINISHED_STRING);
    if (c == '{' || c == '[')
        return open_level(json, c == '{');
    bool may_close = json->expect == EXPECT_VALUE_OR_CLOSE || (json->allows_last_comma && json->depth);
    if (c == ']' && may_close && !in_object(json))
        return close_level(json, false);
    if (is_digit(c) || c == '-')
        return begin_token(json, UNFINISHED_NUMBER);
    if (is_word_byte(c))
        return begin_token(json, UNFINISHED_WORD);
    return fail_here(json, "a value was expected");
}

static enum json_type begin_key(struct json *json, char c)
{
    if (c == '"')
        return begin_token(json, UNFINISHED_STRING);
    if (c == '}' && (json->expect == EXPECT_KEY_OR_CLOSE || json->allows_last_comma))
        return close_level(json, true);
    return fail_here(json, "a key in quotes was expected");
}

static enum json_type out_of_bytes(struct json *json)
{
    if (!json->ended)
        return JSON_MORE;
    return json->expect == EXPECT_END ? JSON_END : fail_here(json, "the text ends early");
}

enum json_type json_next(struct json *json)
{
    if (json->problem)
        return JSON_FAILED;
    if (json->unfinished)
        return continue_token(json);
    for (;;) {
        while (json->at < json->end && is_space(*json->at))
            json->at++;
        json->offset = json_position(json);
        if (json->at == json->end)
            return out_of_bytes(json);
        char c = *json->at;
        switch (json->expect) {
        case EXPECT_VALUE:
        case EXPECT_VALUE_OR_CLOSE:
            return begin_value(json, c);
        case EXPECT_KEY:
        case EXPECT_KEY_OR_CLOSE:
            return begin_key(json, c);
        case EXPECT_COLON:
            if (c != ':')
                return fail_here(json, "a colon was expected");
            json->expect = EXPECT_VALUE;
            break;
        case EXPECT_COMMA:
            if (c == (in_object(json) ? '}' : ']'))
                return close_level(json, c == '}');
            if (c != ',')
                return fail_here(json, "a comma or a closing bracket was expected");
            json->expect = in_object(json) ? EXPECT_KEY : EXPECT_VALUE;
            break;
        default:
            return fail_here(json, "something follows the end of the JSON text");
        }
        json->at++;
    }
}

bool json_skip(struct json *json, enum json_type type)
{
    if (type != JSON_OBJECT_OPEN && type != JSON_ARRAY_OPEN)
        return type > JSON_END;
    for (unsigned depth = json->depth; json->depth >= depth;)
        if (json_next(json) <= JSON_END)
            return false;
    return true;
}

/* ---- columns of numbers ---- */

enum { MOST_DIGITS = 19, LONGEST_NUMBER = 32 /* sign, digits, point, delimiter, and room to spare */ };

/* The digits that eight bytes begin with: their number and their value. All eight are processed at once, as parts of
 * one word: see Lemire, "Number parsing at a gigabyte per second", 2021, for the three multiplications. */
static inline unsigned scan_eight(const char *at, uint64_t *number)
{
    uint64_t word = get_eight(at) ^ UINT64_C(0x3030303030303030);
    /* The top bit of each byte that is no digit; a carry spoils only later bytes. */
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

/* Reads a number of at most 19 digits without an exponent at `at`, where LONGEST_NUMBER bytes are readable. Returns
 * the first byte after it, or NULL for other text. */
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

/* Reads a whole number below 2^32 - 1 under the same conditions, or null, which becomes `none`. */
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

static bool in_column(const struct json *json)
{
    return !json->problem && !json->unfinished && json->depth && !in_object(json) && json->expect != EXPECT_COLON;
}

/* The start of the next element of an array; NULL if none follows, or if fewer bytes are left than a number may
 * have. */
static inline const char *next_element(const char *at, const char *end, bool needs_comma)
{
    while (at < end && is_space(*at))
        at++;
    if (needs_comma) {
        if (at == end || *at != ',')
            return NULL;
        at++;
        while (at < end && is_space(*at))
            at++;
    }
    return end - at < LONGEST_NUMBER ? NULL : at;
}

static inline bool ends_element(char c)
{
    return c == ',' || c == ']' || is_space(c);
}

static inline void take_elements(struct json *json, const char *taken, size_t count)
{
    json->at = taken;
    if (count)
        json->expect = EXPECT_COMMA;
}

/* Reads into `numbers`, or if that is NULL, into `indexes`. */
static inline size_t read_column(struct json *json, double *numbers, uint32_t *indexes, uint32_t none, size_t max)
{
    const char *taken = json->at, *end = json->end;
    bool needs_comma = json->expect == EXPECT_COMMA;
    size_t count = 0;
    if (!in_column(json))
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
    take_elements(json, taken, count);
    return count;
}

size_t json_numbers(struct json *json, double *values, size_t max)
{
    return read_column(json, values, NULL, 0, max);
}

size_t json_indexes(struct json *json, uint32_t none, uint32_t *values, size_t max)
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

/* As memchr(), which reads four bytes at once in WebAssembly. */
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
    if (!in_column(json) || (size_t)(end - at) <= least)
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
