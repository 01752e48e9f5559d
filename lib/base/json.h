/*
 * Reads JSON as it arrives. The caller feeds the text in pieces of any size, split anywhere, and reads tokens until the
 * end of the piece:
 *
 *     json_feed(&json, bytes, size);            json_end_input(&json) after the last piece
 *     while ((type = json_next(&json)) > JSON_END) ...
 *     type is now JSON_MORE (feed the next piece), JSON_END (the text is complete) or JSON_FAILED
 *
 * Strict JSON (RFC 8259) unless `allows_last_comma` is set, checked as it is read, nested at most JSON_MAX_DEPTH deep.
 * The reader buffers a split token until it is whole, up to JSON_MAX_SPLIT_TOKEN bytes, so that a small compressed file
 * cannot use all memory. json_read_numbers() reads columns of numbers, nearly the whole of a profile, faster than token
 * by token.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

enum { JSON_MAX_DEPTH = 512, JSON_MAX_SPLIT_TOKEN = 64 << 20 };

enum json_type {
    JSON_FAILED,
    JSON_MORE,
    JSON_END,
    JSON_OBJECT_OPEN, /* tokens from here */
    JSON_OBJECT_CLOSE,
    JSON_ARRAY_OPEN,
    JSON_ARRAY_CLOSE,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

struct json {
    /* The token that json_next() returned, valid until the next call. */
    const char *text; /* key or string: decoded, may contain NULs; number: its text. Not NUL-terminated */
    size_t length;
    double number;
    uint64_t offset;        /* offset of the token's first byte, or of the wrong byte */
    const char *problem;    /* after JSON_FAILED: the problem, without its position */
    bool allows_last_comma; /* set by the caller: a comma may precede a closing bracket */
    unsigned depth;         /* number of open arrays and objects */

    /* The members below are private to json.c and json_columns.c. */
    const char *at, *end, *piece; /* the current piece */
    uint64_t piece_offset;
    bool ended;
    unsigned char expect;                      /* the token kinds that may come next */
    unsigned char unfinished;                  /* kind of the unfinished token at the end of the last piece */
    bool escaped;                              /* the last byte of the unfinished string is a backslash */
    bool special;                              /* the unfinished string has characters to decode */
    unsigned char nesting[JSON_MAX_DEPTH / 8]; /* a bit for each open level: 1 for an object */
    ARRAY(char) raw;                           /* bytes of the unfinished token so far */
    ARRAY(char) decoded;                       /* decoded text of a string with escapes or invalid UTF-8 */
};

void json_init(struct json *json);
void json_destroy(struct json *json);

/* Starts to read a complete text, which must stay in place. */
void json_init_whole(struct json *json, const char *text, size_t length);

/* Feeds the next piece, which must stay in place until json_next() returns JSON_MORE. Only then may the caller feed
 * another piece. */
void json_feed(struct json *json, const char *bytes, size_t size);

/* Ends the text: an unfinished token ends, or is an error. */
void json_end_input(struct json *json);

enum json_type json_next(struct json *json);

/* Skips to the end of the value that began with a token of this type. False if it does not end. */
bool json_skip(struct json *json, enum json_type type);

/* Whether the text of the token equals `text`. */
static inline bool json_is(const struct json *json, const char *text)
{
    return json->length == strlen(text) && memcmp(json->text, text, json->length) == 0;
}

/* Inside an array: reads up to `max` numbers or nulls (stored as NAN) that are whole in this piece; returns their
 * number. After 0, the caller reads the next element, if any, with json_next(). */
size_t json_read_numbers(struct json *json, double *values, size_t max);

/* Inside an array: reads integers below 2^32 - 1, and null as `none`. Stops before any other element, which the caller
 * reads. */
size_t json_read_indexes(struct json *json, uint32_t none, uint32_t *values, size_t max);

/* Inside an array: skips the elements that are whole in this piece, if they have at least `least` bytes (1 or more).
 * Returns the number of elements, 0 if they have fewer bytes. Counts commas without checking the elements. `text`
 * receives the text of the elements, with the commas. */
size_t json_defer_numbers(struct json *json, size_t least, const char **text, size_t *size);

/* A position before elements that json_read_numbers() has read, for a return to it. A position is valid until the next
 * json_next() or json_feed(). */
struct json_mark {
    const char *at;
    unsigned char expect;
};

static inline struct json_mark json_save_position(const struct json *json)
{
    return (struct json_mark){json->at, json->expect};
}

static inline void json_restore_position(struct json *json, struct json_mark mark)
{
    json->at = mark.at;
    json->expect = mark.expect;
}

/* Returns the number of bytes of the text read so far. */
uint64_t json_count_read_bytes(const struct json *json);

/* ---- private to json.c and json_columns.c ---- */

enum json_expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_CLOSE,
    EXPECT_KEY,
    EXPECT_KEY_OR_CLOSE,
    EXPECT_COLON,
    EXPECT_COMMA,
    EXPECT_END
};

enum json_unfinished { UNFINISHED_NONE, UNFINISHED_STRING, UNFINISHED_NUMBER, UNFINISHED_WORD };

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool json_is_in_object(const struct json *json)
{
    unsigned level = json->depth - 1;
    return json->depth && (json->nesting[level / 8] >> level % 8 & 1);
}

/* Loads eight bytes as a number, the first byte lowest. */
static inline uint64_t json_get_eight_bytes(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}
