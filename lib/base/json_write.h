/*
 * Writes JSON, compact, to a byte sink. The writer adds commas and colons:
 *
 *     json_open(w, '{');
 *     json_member_unsigned(w, "version", 70);
 *     json_member_open(w, "names", '[');  json_text(w, "a", 1);  json_close(w, ']');
 *     json_close(w, '}');
 *     return json_writer_finish(w);
 *
 * After a failure of the sink, the writer drops later output; json_writer_finish() returns the error.
 */
#pragma once

#include "base/json.h"
#include "base/json_number.h"
#include "base/sink.h"

enum { JSON_WRITE_BUFFER = 32 * 1024 };

struct json_writer {
    const struct byte_sink *sink; /* borrowed */
    struct error *err;
    int status;     /* 0, or the error code of the sink */
    bool separator; /* a value has ended: the next one needs a comma */
    bool rounds;    /* json_double() writes at most six decimals, because a sum of times has errors in later digits */
    size_t used;
    char buffer[JSON_WRITE_BUFFER];
};

/* `err` is filled when the sink fails; it must outlive the writer. */
void json_writer_init(struct json_writer *writer, const struct byte_sink *sink, struct error *err);

/* Passes the last bytes to the sink. Returns 0, or the failure of the sink. */
int json_writer_finish(struct json_writer *writer);

/* Open or close an object or array. `bracket`: '{' or '[' to open, '}' or ']' to close. */
void json_open(struct json_writer *writer, char bracket);
void json_close(struct json_writer *writer, char bracket);

void json_key(struct json_writer *writer, const char *key);

/* Writes any bytes: invisible characters (utf8_is_visible()) are escaped; invalid UTF-8 (overlong forms and
 * surrogates too) becomes U+FFFD. */
void json_text(struct json_writer *writer, const char *text, size_t length);
void json_text_z(struct json_writer *writer, const char *text);

void json_bool(struct json_writer *writer, bool value);
void json_null(struct json_writer *writer);
void json_double(struct json_writer *writer, double value); /* the shortest decimal; null for NaN and infinities */
void json_decimal(struct json_writer *writer, int64_t value, unsigned decimals); /* value / 10^decimals */

/* The text "0x1f". */
void json_hex(struct json_writer *writer, uint64_t value);

/* Writes the token that json_next() just returned, unchanged: to copy values from one text to another. */
void json_token(struct json_writer *writer, const struct json *json, enum json_type type);

/* Writes a value that is already JSON. */
void json_raw(struct json_writer *writer, const char *json, size_t length);

void json_writer_flush(struct json_writer *writer);

/* Reserves memory for one more value with its comma; the functions below write numbers in place. */
static inline char *json_begin_number(struct json_writer *writer)
{
    if (writer->used > JSON_WRITE_BUFFER - NUMBER_MAX - 1)
        json_writer_flush(writer);
    char *at = writer->buffer + writer->used;
    *at = ',';
    return at + writer->separator;
}

static inline void json_end_number(struct json_writer *writer, const char *end)
{
    writer->used = (size_t)(end - writer->buffer);
    writer->separator = true;
}

static inline void json_unsigned(struct json_writer *writer, uint64_t value)
{
    char *at = json_begin_number(writer);
    json_end_number(writer, number_put_unsigned(at, value));
}

static inline void json_signed(struct json_writer *writer, int64_t value)
{
    char *at = json_begin_number(writer);
    json_end_number(writer, number_put_signed(at, value));
}

/* Write a member of an object: a key and its value. */
void json_member_open(struct json_writer *writer, const char *key, char bracket);
void json_member_text(struct json_writer *writer, const char *key, const char *text); /* null for NULL */
void json_member_bool(struct json_writer *writer, const char *key, bool value);
void json_member_double(struct json_writer *writer, const char *key, double value);
void json_member_unsigned(struct json_writer *writer, const char *key, uint64_t value);
void json_member_hex(struct json_writer *writer, const char *key, uint64_t value);
