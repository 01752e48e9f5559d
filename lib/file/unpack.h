/*
 * Decompresses a file of gzip, xz or (where prof is built with it) zstd. The caller passes the file in pieces of any
 * size:
 *
 *     unpacker = unpacker_new(unpacker_format(bytes, size));
 *     unpacker_feed(unpacker, bytes, size);
 *     while ((code = unpacker_read(unpacker, out, room, &size, err)) == 0 && size) use out and size
 *     ...                                        after the last piece:
 *     code = unpacker_end_input(unpacker, err);
 *
 * An unpacker takes at most 256 MiB of memory for any file.
 */
#pragma once

#include "base/error.h"

enum unpacker_format { UNPACKER_NONE, UNPACKER_GZIP, UNPACKER_XZ, UNPACKER_ZSTD };

struct unpacker;

/* Detects the format by the first 6 bytes of a file. Returns UNPACKER_NONE for other formats. */
enum unpacker_format unpacker_format(const unsigned char *bytes, size_t size);

/* NULL if memory ran out. */
struct unpacker *unpacker_new(enum unpacker_format format);
void unpacker_free(struct unpacker *unpacker);

/* Passes the next packed bytes. The caller owns the bytes, and must not move the bytes until unpacker_read() returns no
 * bytes. */
void unpacker_feed(struct unpacker *unpacker, const unsigned char *bytes, size_t size);

/* Unpacks at most `room` bytes. Sets *size to 0 when all passed bytes are used up. */
int unpacker_read(struct unpacker *unpacker, unsigned char *out, size_t room, size_t *size, struct error *err);

/* Ends the input, at the end of the file. Returns -EINVAL if the packed data ends early. */
int unpacker_end_input(const struct unpacker *unpacker, struct error *err);
