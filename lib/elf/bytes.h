/*
 * A range of bytes in a file or in memory, and a movable window for reading the range. Debug files are large, and a
 * lookup needs only a small part of a file, so bytes are read on request. Files are read with pread() and never mapped:
 * when a mapped file shrinks (a rebuild of the program), SIGBUS kills the reader, but a read only returns fewer bytes.
 *
 * If memory runs out, a read returns no bytes, as at the end of the file; bytes_ran_out_of_memory() reports the lack of
 * memory.
 *
 * Threads: several may read the same `struct bytes`; a window belongs to one thread.
 */
#pragma once

#include "base/cursor.h"
#include "os/file_source.h"

struct bytes {
    const unsigned char *memory; /* NULL if the bytes are in the file `source`, at `offset` */
    struct file_source *source;  /* borrowed */
    uint64_t offset;
    uint64_t size; /* 0: empty */
};

/* Returns the part of `size` bytes at `at`, or fewer at the end of `bytes`. */
struct bytes bytes_get_part(const struct bytes *bytes, uint64_t at, uint64_t size);

/* Copies `size` bytes at `at` to `out`. Returns false if the file has fewer bytes (left). */
bool bytes_read(const struct bytes *bytes, uint64_t at, void *out, size_t size);

/* Returns a copy of all bytes, which the caller frees, with a NUL after the end. Returns NULL if the range is empty,
 * larger than BYTES_LOAD_MAX or unreadable, or if memory ran out. */
unsigned char *bytes_load(const struct bytes *bytes);

/* Returns a copy of the NUL-terminated text at `at`, which the caller frees, and its length. Returns NULL if the text
 * is missing or longer than `max`, or if memory ran out. Use this for long texts that are read once, and
 * window_read_string() for others. */
char *bytes_load_text(const struct bytes *bytes, uint64_t at, size_t max, size_t *length);

/* Whether memory ran out while this file was read, so that results are incomplete. */
bool bytes_ran_out_of_memory(const struct bytes *bytes);

#define BYTES_LOAD_MAX (UINT64_C(2) << 30)

/* A movable view of `bytes` that holds the part read last. To start, zero the struct and set `bytes`. */
struct window {
    const struct bytes *bytes;
    unsigned char *buffer;
    uint64_t start;
    size_t length, capacity;
    size_t step; /* bytes per read, or 0 (4 KiB) */
};

/* Returns a cursor from `at` over at least `want` bytes, or up to the end of the bytes. The cursor is empty if `at`
 * lies outside or the read failed. The result is valid until the next call. */
struct cursor window_read_at(struct window *window, uint64_t at, size_t want);

/* Returns the NUL-terminated text at `at`, or NULL if the text is missing or longer than WINDOW_STRING_MAX. The text is
 * valid until the next call. */
const char *window_read_string(struct window *window, uint64_t at);

enum { WINDOW_STRING_MAX = 1 << 20 };

void window_destroy(struct window *window);
