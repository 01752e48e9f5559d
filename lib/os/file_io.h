/*
 * Reading and writing to the end: what read(2) and write(2) leave over is asked for again, and so is what a signal
 * interrupted.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 0, or a negative errno value; then a part may be written. */
int file_write(int fd, const void *bytes, size_t size);

/* The next `size` bytes, of a pipe too: how many there are before its end, or a negative errno value. */
ssize_t file_read(int fd, void *out, size_t size);

/* The same from `offset` on, wherever the file was read last. */
ssize_t file_read_at(int fd, void *out, size_t size, uint64_t offset);

/* Opens a file for reading that may be anything: a pipe does not hold us up, and a device is not opened (-ENODEV). With
 * a `root_fd` that is not -1, `path` and all links on the way mean what they mean to a process with that root
 * directory; else to us. Returns the descriptor or a negative errno value. */
int file_open_in(int root_fd, const char *path);

/* The beginning of a small file of /proc or /sys, as a text of at most `size` - 1 bytes, without the newline at the
 * end. False, with an empty text, if it cannot be read or is empty. */
bool file_read_text(const char *path, char *out, size_t size);

/* All of a regular file of up to `limit` bytes, and a NUL behind them, in memory that the caller frees. Closes `fd`;
 * `name` is for the error. */
int file_load_text(int fd, const char *name, size_t limit, char **text, size_t *size, struct error *err);
