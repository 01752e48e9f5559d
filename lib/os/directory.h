/*
 * A directory of this user for files that outlive a run: the symbol cache, and the secret and the ports of lasting
 * addresses (serve/). Writers replace files atomically. A cache trims its directory: it removes the least recently used
 * files.
 */
#pragma once

#include "base/error.h"

/* Size limit of prof's cache directory, in bytes. */
#define CACHE_DIRECTORY_MAX (UINT64_C(256) << 20)

/* Opens the directory, and creates up to three missing last path components ("~/.local/state/prof"). Returns a file
 * descriptor, or a negative errno value with a sentence: -EPERM if other users can write to the directory. */
int file_directory_open(const char *path, struct error *err);

/* Reads a file and marks it as used. Returns its bytes, which the caller frees, or NULL if the file does not exist,
 * belongs to another user, or is larger than `limit`. */
unsigned char *file_directory_load(int directory, const char *name, size_t limit, size_t *size);

/* Opens a file for reading and marks it as used. Returns a descriptor, or a negative errno value. */
int file_directory_open_file(int directory, const char *name);

/* Replaces a file of a cache atomically: readers get the old file or the new file. After a power failure the file may
 * be damaged, so its reader verifies a checksum. 0, or a negative errno value; then the old file remains. */
int file_directory_save(int directory, const char *name, const void *bytes, size_t size);

/* Replaces a file atomically, so that it survives a power failure (file_replace() in os/file_output.h). */
int file_directory_save_lasting(int directory, const char *name, const void *bytes, size_t size);

/* Creates a file atomically, so that it survives a power failure. Keeps an existing file and returns 0. Returns 0 or a
 * negative errno value. */
int file_directory_add(int directory, const char *name, const void *bytes, size_t size);

/* Removes leftovers of killed writers, then the least recently used files until at most `limit` bytes remain. */
void file_directory_trim(int directory, uint64_t limit);
