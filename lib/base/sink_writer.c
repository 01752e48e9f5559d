#include "base/sink_writer.h"

#include "base/json_number.h"

void sink_writer_init(struct sink_writer *writer, const struct byte_sink *sink, struct error *err)
{
    writer->sink = sink;
    writer->err = err;
    writer->code = 0;
    writer->used = 0;
}

static void flush(struct sink_writer *writer)
{
    if (!writer->code && writer->used)
        writer->code = writer->sink->write(writer->sink->context, writer->buffer, writer->used, writer->err);
    writer->used = 0;
}

void sink_put(struct sink_writer *writer, const void *bytes, size_t size)
{
    if (size > SINK_WRITER_BUFFER - writer->used) {
        flush(writer);
        if (size > SINK_WRITER_BUFFER) {
            if (!writer->code)
                writer->code = writer->sink->write(writer->sink->context, bytes, size, writer->err);
            return;
        }
    }
    if (size)
        memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
}

void sink_put_z(struct sink_writer *writer, const char *text)
{
    sink_put(writer, text, strlen(text));
}

void sink_put_unsigned(struct sink_writer *writer, uint64_t value)
{
    char text[NUMBER_MAX];
    sink_put(writer, text, (size_t)(number_put_unsigned(text, value) - text));
}

void sink_put_decimal(struct sink_writer *writer, int64_t value, unsigned decimals)
{
    char text[NUMBER_MAX];
    sink_put(writer, text, (size_t)(number_put_decimal(text, value, decimals) - text));
}

int sink_writer_finish(struct sink_writer *writer)
{
    flush(writer);
    return writer->code;
}
