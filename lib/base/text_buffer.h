/*
 * A growing text: callers append pieces, or write to it as a byte sink.
 */
#pragma once

#include "base/array.h"
#include "base/sink.h"

ARRAY_TYPE(struct text_buffer, char); /* not NUL-terminated; array_free() frees it */

/* False if memory ran out. */
bool text_append(struct text_buffer *out, const char *text, size_t length);
bool text_append_z(struct text_buffer *out, const char *text);

/* A sink that appends to `text`, which must outlive it. */
struct byte_sink text_sink(struct text_buffer *text);
