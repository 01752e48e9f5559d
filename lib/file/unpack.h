/*
 * Decompresses a file of gzip, xz or (where prof is built with it) zstd. The caller feeds it in pieces of any size:
 *
 *     unpacker = unpacker_new(unpacker_format(bytes, size));
 *     unpacker_feed(unpacker, bytes, size);
 *     while ((code = unpacker_next(unpacker, out, room, &size, err)) == 0 && size) use out and size
 *     ...                                        after the last piece:
 *     code = unpacker_end(unpacker, err);
 *
 * An unpacker takes at most 256 MiB of memory for any file.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum unpacker_format { UNPACKER_NONE, UNPACKER_GZIP, UNPACKER_XZ, UNPACKER_ZSTD };

struct unpacker;

/* Detects the format by the first bytes of a file (6 are enough); UNPACKER_NONE for another format. */
enum unpacker_format unpacker_format(const unsigned char *bytes, size_t size);

/* NULL if memory ran out. */
struct unpacker *unpacker_new(enum unpacker_format format);
void unpacker_free(struct unpacker *unpacker);

/* Feeds the next packed bytes; they remain the caller's, and must stay in place until unpacker_next() returns none. */
void unpacker_feed(struct unpacker *unpacker, const unsigned char *bytes, size_t size);

/* Unpacks at most `room` bytes; *size is 0 when all fed bytes are used up. */
int unpacker_next(struct unpacker *unpacker, unsigned char *out, size_t room, size_t *size, struct error *err);

/* Call this at the end of the file. Returns -EINVAL if the packed data ends early. */
int unpacker_end(const struct unpacker *unpacker, struct error *err);
