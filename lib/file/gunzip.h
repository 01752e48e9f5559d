/*
 * Decompresses all members of a gzip file, which the caller passes in pieces of any size. Like gzip, ignores padding
 * after the last member.
 *
 *     gunzip_feed(gunzip, packed, packed_size);
 *     while ((code = gunzip_read(gunzip, out, room, &size, err)) == 0 && size) use out and size
 *     ...                                        after the last piece:
 *     code = gunzip_end_input(gunzip, err);
 */
#pragma once

#include "base/error.h"

struct gunzip;

/* NULL if memory ran out. */
struct gunzip *gunzip_new(void);
void gunzip_free(struct gunzip *gunzip);

/* Whether a file that begins with these bytes is gzip. */
bool gunzip_begins(const unsigned char *bytes, size_t size);

/* Passes the next packed bytes. The caller owns the bytes, and must not move the bytes until gunzip_read() returns no
 * bytes. */
void gunzip_feed(struct gunzip *gunzip, const unsigned char *bytes, size_t size);

/* Unpacks at most `room` bytes. Sets *size to 0 when all passed bytes are used up. */
int gunzip_read(struct gunzip *gunzip, unsigned char *out, size_t room, size_t *size, struct error *err);

/* Ends the input. Returns -EINVAL unless the last member is complete. */
int gunzip_end_input(const struct gunzip *gunzip, struct error *err);
