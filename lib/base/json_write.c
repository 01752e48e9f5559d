#include "base/json_write.h"

#include "base/utf8.h"

void json_writer_init(struct json_writer *writer, const struct byte_sink *sink, struct error *err)
{
    writer->sink = sink;
    writer->err = err;
    writer->status = 0;
    writer->separator = false;
    writer->rounds = false;
    writer->used = 0;
}

void json_writer_flush(struct json_writer *writer)
{
    if (!writer->status && writer->used)
        writer->status = writer->sink->write(writer->sink->context, writer->buffer, writer->used, writer->err);
    writer->used = 0;
}

int json_writer_finish(struct json_writer *writer)
{
    json_writer_flush(writer);
    return writer->status;
}

static void write_bytes(struct json_writer *writer, const char *bytes, size_t length)
{
    if (length > JSON_WRITE_BUFFER - writer->used)
        json_writer_flush(writer);
    while (length > JSON_WRITE_BUFFER) {
        memcpy(writer->buffer, bytes, JSON_WRITE_BUFFER);
        writer->used = JSON_WRITE_BUFFER;
        json_writer_flush(writer);
        bytes += JSON_WRITE_BUFFER;
        length -= JSON_WRITE_BUFFER;
    }
    if (length)
        memcpy(writer->buffer + writer->used, bytes, length);
    writer->used += length;
}

static void write_separator(struct json_writer *writer)
{
    if (writer->separator)
        write_bytes(writer, ",", 1);
    writer->separator = true;
}

void json_open(struct json_writer *writer, char bracket)
{
    write_separator(writer);
    write_bytes(writer, &bracket, 1);
    writer->separator = false;
}

void json_close(struct json_writer *writer, char bracket)
{
    write_bytes(writer, &bracket, 1);
    writer->separator = true;
}

static void write_unit(struct json_writer *writer, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    write_bytes(writer,
                (const char[]){'\\', 'u', hex[unit >> 12], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]},
                6);
}

/* Writes the code point as \uXXXX escapes, in UTF-16 (RFC 8259, section 7). */
static void write_invisible(struct json_writer *writer, uint32_t code)
{
    if (code >= 0x10000) {
        write_unit(writer, 0xd800 + ((code - 0x10000) >> 10));
        code = 0xdc00 + (code & 0x3ff);
    }
    write_unit(writer, code);
}

static void write_escape(struct json_writer *writer, unsigned char c)
{
    static const char letters[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};
    if (c < sizeof(letters) && letters[c])
        write_bytes(writer, (const char[]){'\\', letters[c]}, 2);
    else
        write_unit(writer, c);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void write_string(struct json_writer *writer, const char *text, size_t length)
{
    const char *end = length ? text + length : text;
    write_bytes(writer, "\"", 1);
    while (text < end) {
        const char *plain = text;
        while (text < end && is_plain((unsigned char)*text))
            text++;
        write_bytes(writer, plain, (size_t)(text - plain));
        if (text == end)
            break;
        size_t character = utf8_measure_character(text, end);
        if (character == 0)
            write_bytes(writer, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
        else if (character == 1)
            write_escape(writer, (unsigned char)*text);
        else if (utf8_is_visible(utf8_decode(text, character)))
            write_bytes(writer, text, character);
        else
            write_invisible(writer, utf8_decode(text, character));
        text += character ? character : 1;
    }
    write_bytes(writer, "\"", 1);
}

static void write_key(struct json_writer *writer, const char *key, size_t length)
{
    write_separator(writer);
    write_string(writer, key, length);
    write_bytes(writer, ":", 1);
    writer->separator = false;
}

void json_key(struct json_writer *writer, const char *key)
{
    write_key(writer, key, strlen(key));
}

void json_text(struct json_writer *writer, const char *text, size_t length)
{
    write_separator(writer);
    write_string(writer, text, length);
}

void json_text_z(struct json_writer *writer, const char *text)
{
    json_text(writer, text, strlen(text));
}

void json_raw(struct json_writer *writer, const char *json, size_t length)
{
    write_separator(writer);
    write_bytes(writer, json, length);
}

void json_bool(struct json_writer *writer, bool value)
{
    json_raw(writer, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json_writer *writer)
{
    json_raw(writer, "null", 4);
}

void json_double(struct json_writer *writer, double value)
{
    double millionths = writer->rounds ? value * 1e6 : NAN;
    char *at = json_begin_number(writer);
    json_end_number(writer, fabs(millionths) < 1e15 ? number_put_decimal(at, llround(millionths), 6)
                                                    : number_put_double(at, value));
}

void json_decimal(struct json_writer *writer, int64_t value, unsigned decimals)
{
    char *at = json_begin_number(writer);
    json_end_number(writer, number_put_decimal(at, value, decimals));
}

void json_hex(struct json_writer *writer, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    char text[1 + 2 + 16 + 1];
    size_t at = sizeof(text);
    text[--at] = '"';
    do {
        text[--at] = digits[value & 15];
        value >>= 4;
    } while (value);
    text[--at] = 'x';
    text[--at] = '0';
    text[--at] = '"';
    json_raw(writer, text + at, sizeof(text) - at);
}

void json_token(struct json_writer *writer, const struct json *json, enum json_type type)
{
    switch (type) {
    case JSON_OBJECT_OPEN:
    case JSON_ARRAY_OPEN:
        json_open(writer, type == JSON_OBJECT_OPEN ? '{' : '[');
        break;
    case JSON_OBJECT_CLOSE:
    case JSON_ARRAY_CLOSE:
        json_close(writer, type == JSON_OBJECT_CLOSE ? '}' : ']');
        break;
    case JSON_KEY:
        write_key(writer, json->text, json->length);
        break;
    case JSON_STRING:
        json_text(writer, json->text, json->length);
        break;
    default:
        json_raw(writer, json->text, json->length);
    }
}

/* ---- members ---- */

void json_member_open(struct json_writer *writer, const char *key, char bracket)
{
    json_key(writer, key);
    json_open(writer, bracket);
}

void json_member_text(struct json_writer *writer, const char *key, const char *text)
{
    json_key(writer, key);
    if (text)
        json_text_z(writer, text);
    else
        json_null(writer);
}

void json_member_bool(struct json_writer *writer, const char *key, bool value)
{
    json_key(writer, key);
    json_bool(writer, value);
}

void json_member_double(struct json_writer *writer, const char *key, double value)
{
    json_key(writer, key);
    json_double(writer, value);
}

void json_member_unsigned(struct json_writer *writer, const char *key, uint64_t value)
{
    json_key(writer, key);
    json_unsigned(writer, value);
}

void json_member_hex(struct json_writer *writer, const char *key, uint64_t value)
{
    json_key(writer, key);
    json_hex(writer, value);
}
