/*
 * Bytes that lie in a file or in memory, read without ever leaving them.
 *
 * Debug files are large and mostly not needed, so nothing is read before it is asked for. They are read with pread()
 * and not mapped: a mapped file that shrinks meanwhile (a program that is built anew) kills the reader with SIGBUS, a
 * read only comes up short.
 */
#ifndef PROF_SYMBOL_BYTES_H
#define PROF_SYMBOL_BYTES_H

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const unsigned char *memory; /* NULL: in the file `fd`, from `offset` on */
    int fd;
    uint64_t offset;
    uint64_t size; /* 0: there is nothing */
};

/* The part of `bytes` from `at` on, cut to what there is. */
struct bytes bytes_part(const struct bytes *bytes, uint64_t at, uint64_t size);

/* Copies `size` bytes from `at` on to `out`; false if there are not as many (any more). */
bool bytes_read(const struct bytes *bytes, uint64_t at, void *out, size_t size);

/* All of `bytes` in memory of its own, which the caller frees, with a NUL after the end; NULL if they cannot be read,
 * or are too many (BYTES_LOAD_MAX), or memory ran out. */
unsigned char *bytes_load(const struct bytes *bytes);

/* The NUL-terminated text at `at` in memory of its own, which the caller frees, and its length; NULL if there is none,
 * or it is longer than `max`, or memory ran out. For long texts that are read once; see window_string(). */
char *bytes_load_text(const struct bytes *bytes, uint64_t at, size_t max, size_t *length);

#define BYTES_LOAD_MAX (UINT64_C(2) << 30)

/* A movable view of `bytes` that holds the part read last. For one thread. Zero it and set `bytes` to start. */
struct window {
    const struct bytes *bytes;
    unsigned char *buffer;
    uint64_t start;
    size_t length, capacity;
    size_t step; /* how much to read at once; 0: 4 KiB */
};

/* A cursor from `at` over at least `want` bytes, or to the end of the bytes where that comes first. Empty if `at` lies
 * outside or reading failed. Valid until the next call. */
struct cursor window_at(struct window *window, uint64_t at, size_t want);

/* The NUL-terminated text at `at`; NULL if there is none, or it is longer than WINDOW_STRING_MAX. Valid until the next
 * call. */
const char *window_string(struct window *window, uint64_t at);

enum { WINDOW_STRING_MAX = 1 << 20 };

void window_destroy(struct window *window);

#endif
