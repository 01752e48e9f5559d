/*
 * Encodes Protocol Buffers messages (https://protobuf.dev/programming-guides/encoding) into a buffer. Nested messages
 * and packed arrays are written in place:
 *
 *     protobuf_write_unsigned(w, 1, 150);
 *     size_t nested = protobuf_open(w, 3);
 *     protobuf_write_text(w, 1, "name");
 *     protobuf_close(w, nested);
 *
 * Fields with their default value (0, "") are also written; callers may omit them. After memory ran out, writes are
 * dropped, and `failed` is set.
 */
#pragma once

#include "base/text_buffer.h"

struct protobuf_writer {
    struct text_buffer bytes; /* output; zeroed by the caller, who frees it with array_free() */
    bool failed;
};

/* Writes a varint: for uint32, uint64, bool and enum fields, and for int32 and int64 fields, whose negative values take
 * ten bytes. */
void protobuf_write_unsigned(struct protobuf_writer *writer, uint32_t field, uint64_t value);
void protobuf_write_signed(struct protobuf_writer *writer, uint32_t field, int64_t value);

void protobuf_write_fixed64(struct protobuf_writer *writer, uint32_t field, uint64_t value);

void protobuf_write_bytes(struct protobuf_writer *writer, uint32_t field, const void *bytes, size_t size);
void protobuf_write_text(struct protobuf_writer *writer, uint32_t field, const char *text); /* must be UTF-8 */

/* Begins a nested message or a packed array; pass the result to protobuf_close(). */
size_t protobuf_open(struct protobuf_writer *writer, uint32_t field);
void protobuf_close(struct protobuf_writer *writer, size_t opened);

/* Write elements of a packed array. */
void protobuf_write_element(struct protobuf_writer *writer, uint64_t value);
void protobuf_write_element_fixed64(struct protobuf_writer *writer, uint64_t value);
