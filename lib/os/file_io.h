/*
 * Complete reads and writes: continues after short reads and writes, and after signals.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* Returns 0, or a negative errno value after writing a part or nothing. */
int file_write(int fd, const void *bytes, size_t size);

/* Reads the next `size` bytes, even from a pipe. Returns fewer bytes at the end of the file, or a negative errno
 * value. */
ssize_t file_read(int fd, void *out, size_t size);

/* Reads `size` bytes at `offset`, independent of the file position. */
ssize_t file_read_at(int fd, void *out, size_t size, uint64_t offset);

/* Opens any file for reading without blocking: pipes do not block, and devices are not opened (-ENODEV). With a
 * `root_fd` other than -1, `path` and its links are resolved as for a process with that root directory. Returns the
 * descriptor or a negative errno value. */
int file_open_in(int root_fd, const char *path);

/* Reads the start of a small file of /proc or /sys, as a text of at most `size` - 1 bytes, without the final newline.
 * False, with an empty text, if the file is unreadable or empty. */
bool file_read_text(const char *path, char *out, size_t size);

/* Reads a whole regular file of up to `limit` bytes, with a NUL at the end, to memory that the caller frees. Closes
 * `fd`; `name` is for the error. */
int file_load_text(int fd, const char *name, size_t limit, char **text, size_t *size, struct error *err);
