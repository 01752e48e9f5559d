#include "export/protobuf_write.h"

#include "base/leb128.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

static void append_bytes(struct protobuf_writer *writer, const void *bytes, size_t size)
{
    if (!writer->failed && !text_append(&writer->bytes, bytes, size))
        writer->failed = true;
}

void protobuf_write_element(struct protobuf_writer *writer, uint64_t value)
{
    unsigned char bytes[LEB128_MAX];
    append_bytes(writer, bytes, (size_t)(leb128_put(bytes, value) - bytes));
}

void protobuf_write_element_fixed64(struct protobuf_writer *writer, uint64_t value)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    append_bytes(writer, bytes, sizeof(bytes));
}

static void write_tag(struct protobuf_writer *writer, uint32_t field, enum wire_type type)
{
    protobuf_write_element(writer, (uint64_t)field << 3 | type);
}

void protobuf_write_unsigned(struct protobuf_writer *writer, uint32_t field, uint64_t value)
{
    write_tag(writer, field, WIRE_VARINT);
    protobuf_write_element(writer, value);
}

void protobuf_write_signed(struct protobuf_writer *writer, uint32_t field, int64_t value)
{
    protobuf_write_unsigned(writer, field, (uint64_t)value);
}

void protobuf_write_fixed64(struct protobuf_writer *writer, uint32_t field, uint64_t value)
{
    write_tag(writer, field, WIRE_FIXED64);
    protobuf_write_element_fixed64(writer, value);
}

void protobuf_write_bytes(struct protobuf_writer *writer, uint32_t field, const void *bytes, size_t size)
{
    write_tag(writer, field, WIRE_LENGTH);
    protobuf_write_element(writer, size);
    append_bytes(writer, bytes, size);
}

void protobuf_write_text(struct protobuf_writer *writer, uint32_t field, const char *text)
{
    protobuf_write_bytes(writer, field, text, strlen(text));
}

size_t protobuf_open(struct protobuf_writer *writer, uint32_t field)
{
    write_tag(writer, field, WIRE_LENGTH);
    protobuf_write_element(writer, 0); /* one byte, enough for lengths below 128 */
    return writer->bytes.length;
}

void protobuf_close(struct protobuf_writer *writer, size_t opened)
{
    if (writer->failed)
        return;
    unsigned char length[LEB128_MAX];
    size_t size = writer->bytes.length - opened, taken = (size_t)(leb128_put(length, size) - length);
    append_bytes(writer, length, taken - 1); /* reserves the bytes by which the message moves */
    if (writer->failed)
        return;
    char *at = writer->bytes.data + opened;
    memmove(at - 1 + taken, at, size);
    memcpy(at - 1, length, taken);
}
