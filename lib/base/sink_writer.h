/*
 * Buffers small pieces of text for a byte sink.
 *
 *     sink_put_z(writer, "main;work ");
 *     sink_put_unsigned(writer, 12);
 *     return sink_writer_finish(writer);
 *
 * After a failure of the sink, the writer drops later output; sink_writer_finish() returns the error.
 */
#pragma once

#include "base/sink.h"

enum { SINK_WRITER_BUFFER = 64 * 1024 };

struct sink_writer {
    const struct byte_sink *sink; /* borrowed */
    struct error *err;
    int code; /* 0, or the error code of the sink */
    size_t used;
    char buffer[SINK_WRITER_BUFFER];
};

/* `err` is filled when the sink fails; it must outlive the writer. */
void sink_writer_init(struct sink_writer *writer, const struct byte_sink *sink, struct error *err);

void sink_put(struct sink_writer *writer, const void *bytes, size_t size);
void sink_put_z(struct sink_writer *writer, const char *text);
void sink_put_unsigned(struct sink_writer *writer, uint64_t value);
void sink_put_decimal(struct sink_writer *writer, int64_t value, unsigned decimals); /* value / 10^decimals */

/* Passes the last bytes to the sink. Returns 0, or the failure of the sink. */
int sink_writer_finish(struct sink_writer *writer);
