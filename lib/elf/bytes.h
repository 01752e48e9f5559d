/*
 * A range of bytes in a file or in memory, and a window to read it through.
 *
 * Debug files are large, and a lookup needs a small part: nothing is read before it is requested. Files are read with
 * pread() and never mapped: when a mapped file shrinks (a rebuild of the program), SIGBUS kills the reader; a read
 * returns fewer bytes.
 *
 * If memory runs out, a read returns no bytes, as at the end of the file; bytes_lacked_memory() reports it.
 *
 * Threads: several may read the same `struct bytes`; a window belongs to one thread.
 */
#pragma once

#include "base/cursor.h"
#include "os/file_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const unsigned char *memory; /* NULL: the bytes of the file `source`, starting at `offset` */
    struct file_source *source;  /* borrowed */
    uint64_t offset;
    uint64_t size; /* 0: empty */
};

/* The part of `size` bytes at `at`; it ends where `bytes` ends. */
struct bytes bytes_part(const struct bytes *bytes, uint64_t at, uint64_t size);

/* Copies `size` bytes at `at` to `out`; false if the file has fewer bytes (left). */
bool bytes_read(const struct bytes *bytes, uint64_t at, void *out, size_t size);

/* A copy of all bytes, which the caller frees, with a NUL after the end. NULL if the range is empty, larger than
 * BYTES_LOAD_MAX or unreadable, or if memory ran out. */
unsigned char *bytes_load(const struct bytes *bytes);

/* A copy of the NUL-terminated text at `at`, which the caller frees, and its length. NULL if it is missing or longer
 * than `max`, or if memory ran out. For long texts that are read once; for others see window_string(). */
char *bytes_load_text(const struct bytes *bytes, uint64_t at, size_t max, size_t *length);

/* Whether memory ran out for a reader of this file: results since then are incomplete. */
bool bytes_lacked_memory(const struct bytes *bytes);

#define BYTES_LOAD_MAX (UINT64_C(2) << 30)

/* A movable view of `bytes` that holds the part read last. Zero it and set `bytes` to start. */
struct window {
    const struct bytes *bytes;
    unsigned char *buffer;
    uint64_t start;
    size_t length, capacity;
    size_t step; /* bytes to read at once; 0: 4 KiB */
};

/* A cursor from `at` over at least `want` bytes, or up to the end of the bytes if that comes first. Empty if `at` lies
 * outside or the read failed. Valid until the next call. */
struct cursor window_at(struct window *window, uint64_t at, size_t want);

/* The NUL-terminated text at `at`; NULL if it is missing or longer than WINDOW_STRING_MAX. Valid until the next
 * call. */
const char *window_string(struct window *window, uint64_t at);

enum { WINDOW_STRING_MAX = 1 << 20 };

void window_destroy(struct window *window);
