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

/* Appends several NUL-terminated texts: text_append_all(out, "a", name). */
#define text_append_all(out, ...) text_append_list((out), (const char *const[]){__VA_ARGS__, NULL})
bool text_append_list(struct text_buffer *out, const char *const *texts);

/* A sink that appends to `text`, which must outlive it. */
struct byte_sink text_sink(struct text_buffer *text);
