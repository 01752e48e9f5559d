/*
 * The folder in which cached answers outlive a run: one file for each library, written whole or not at all, the ones
 * that were used longest ago removed when there are too many.
 */
#ifndef PROF_SYMBOL_CACHE_FOLDER_H
#define PROF_SYMBOL_CACHE_FOLDER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Opens the folder, and makes it if only its last two parts are missing ("~/.cache/prof"). Returns a descriptor, or a
 * negative errno value with a sentence: -EPERM if it is not this user's alone. */
int cache_folder_open(const char *path, struct error *err);

/* The bytes of a file, which the caller frees, and marks it as used; NULL if there is none that can be believed, or it
 * is larger than `limit`. */
unsigned char *cache_folder_load(int folder, const char *name, size_t limit, size_t *size);

/* Writes a file anew. Readers and other writers see the old one or the new one, whole. 0 or a negative errno value;
 * then the old one is still there. */
int cache_folder_save(int folder, const char *name, const void *bytes, size_t size);

/* Removes the files that were used longest ago until no more than `limit` bytes are left, and what killed writers have
 * left behind. */
void cache_folder_trim(int folder, uint64_t limit);

#endif
