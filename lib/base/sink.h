/*
 * The destination of produced bytes: a file, a compressor, a growing buffer, a socket. A producer knows only the sink.
 */
#pragma once

#include "base/error.h"

/* write() takes all `size` bytes and returns 0, or a negative errno value with `err` filled; the producer then stops.
 */
struct byte_sink {
    int (*write)(void *context, const void *bytes, size_t size, struct error *err);
    void *context;
};
