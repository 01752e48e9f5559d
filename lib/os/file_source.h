/*
 * A regular file that prof can reopen.
 *
 * The recorder and the symbolizer read a mapped file minutes apart. An open file would use a descriptor and block the
 * unmounting of its file system. So the source stores the path and the identity of the file, opens the file for each
 * use, and rejects another file at the path. A deleted file, which has no path, stays open in its source.
 *
 * Threads: a source belongs to one thread at a time, but any thread may open and read the file.
 */
#pragma once

#include "base/error.h"

#include <stdatomic.h>
#include <sys/types.h>

struct file_identity {
    uint64_t device, inode, size, mtime_ns; /* fields of stat(2); all 0: unknown */
};

/* False if the descriptor is not a regular file. */
bool file_identity_read(int fd, struct file_identity *identity);

bool file_identities_are_equal(const struct file_identity *a, const struct file_identity *b);

struct file_source {
    unsigned references;
    int fd;      /* -1: opened for each use */
    int root_fd; /* root directory of `path`, for file_open_in(); owned by the caller */
    char *path;
    struct file_identity identity; /* identity of the file at file_source_new() */
    int lost;                      /* set by the owner: negative errno value of a failed read, or 0 */
    /* set by readers (elf/bytes.h) when memory ran out, so that they may have missed the end of the file */
    atomic_bool no_memory;
};

/* Creates the source of an open file, and takes ownership of the descriptor, even on failure. -EINVAL if the file is
 * not regular. */
int file_source_new(struct file_source **out, int fd, int root_fd, const char *path, struct error *err);
struct file_source *file_source_ref(struct file_source *source);
void file_source_unref(struct file_source *source); /* accepts NULL */

/* Closes the descriptor: later uses open the file. */
void file_source_close(struct file_source *source);

/* Returns a descriptor of the file, which the caller closes. -ESTALE if the path leads to another file now, or the file
 * has changed; else the negative errno value of open(). */
int file_source_open(const struct file_source *source);

/* Reads like file_read_at(); on failure to open, returns the negative errno value of file_source_open(). */
ssize_t file_source_read_at(const struct file_source *source, void *out, size_t size, uint64_t offset);
