/*
 * A regular file that can be opened again.
 *
 * The recorder and the symbolizer read a mapped file minutes apart. If it stayed open, it would use a descriptor, and
 * its file system could not be unmounted. So the source identifies the file by path and identity: it opens the file for
 * each use, and rejects another file at that path. A file without a path (it was deleted) stays open in its source.
 *
 * Threads: a source belongs to one thread at a time, but any thread may open and read it.
 */
#pragma once

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_identity {
    uint64_t device, inode, size, mtime_ns; /* as in stat(2); all 0: unknown */
};

/* False if it is not a regular file. */
bool file_identity_of(int fd, struct file_identity *identity);

bool file_identity_equal(const struct file_identity *a, const struct file_identity *b);

struct file_source {
    unsigned references;
    int fd;      /* -1: opened for each use */
    int root_fd; /* where `path` begins, as file_open_in() takes it; borrowed */
    char *path;
    struct file_identity identity; /* as of file_source_new() */
    int lost; /* set by the owner: why the file could not be read any more, a negative errno value; 0 */
    /* Readers (elf/bytes.h) set it: memory ran out, so they may have taken the file for shorter. */
    atomic_bool no_memory;
};

/* A source of an open file, which it takes over, also on failure. -EINVAL if it is not a regular file. */
int file_source_new(struct file_source **out, int fd, int root_fd, const char *path, struct error *err);
struct file_source *file_source_ref(struct file_source *source);
void file_source_unref(struct file_source *source); /* accepts NULL */

/* Closes the descriptor: later uses open the file. */
void file_source_close(struct file_source *source);

/* A descriptor of the file, which the caller closes. -ESTALE if another file has its path now, or this one has changed;
 * else the negative errno value of open(). */
int file_source_open(const struct file_source *source);

/* As file_read_at(), which see; or the negative errno value of file_source_open(). */
ssize_t file_source_read_at(const struct file_source *source, void *out, size_t size, uint64_t offset);
