/*
 * Reads Protocol Buffers messages field by field (https://protobuf.dev/programming-guides/encoding):
 *
 *     struct protobuf_field field;
 *     struct cursor message = cursor_of(bytes, size);
 *     while (protobuf_next(&message, &field)) switch (field.number) ...
 *     if (message.failed) ...
 */
#pragma once

#include "base/cursor.h"

struct protobuf_field {
    uint32_t number;
    uint8_t wire;        /* 0 varint, 1 64 bits, 2 bytes, 5 32 bits */
    uint64_t value;      /* value of wire types 0, 1 and 5 */
    struct cursor bytes; /* bytes of wire type 2 */
};

/* Returns false at the end; also if the message is damaged, with message->failed set. */
static inline bool protobuf_next(struct cursor *message, struct protobuf_field *field)
{
    if (message->failed || message->at == message->end)
        return false;
    uint64_t tag = cursor_uleb(message);
    *field = (struct protobuf_field){.number = (uint32_t)(tag >> 3), .wire = tag & 7};
    switch (field->wire) {
    case 0:
        field->value = cursor_uleb(message);
        break;
    case 1:
        field->value = cursor_u64(message);
        break;
    case 2: {
        uint64_t size = cursor_uleb(message);
        const unsigned char *bytes = cursor_bytes(message, size);
        field->bytes = bytes ? cursor_of(bytes, (size_t)size) : (struct cursor){0};
        break;
    }
    case 5:
        field->value = cursor_u32(message);
        break;
    default:
        message->failed = true;
    }
    if (tag >> 3 == 0 || tag >> 3 > (1U << 29))
        message->failed = true;
    return !message->failed;
}

/* Reads the integers of a message: numbers[i] becomes the last value of field i, for i from 1 to count - 1. Returns
 * false if the message is damaged. */
static inline bool protobuf_read_numbers(struct cursor message, uint64_t *numbers, size_t count)
{
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.number < count)
            numbers[field.number] = field.value;
    return !message.failed;
}

/* Reads the next value of a repeated integer field, which is packed (wire type 2) or has one value. Returns false after
 * the last value. */
static inline bool protobuf_next_value(struct protobuf_field *field, uint64_t *value)
{
    if (field->wire == 0) {
        *value = field->value;
        field->wire = 2; /* an empty message of wire type 2 */
        return true;
    }
    if (field->wire != 2 || field->bytes.failed || field->bytes.at == field->bytes.end)
        return false;
    *value = cursor_uleb(&field->bytes);
    return !field->bytes.failed;
}
