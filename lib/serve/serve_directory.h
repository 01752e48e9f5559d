/*
 * Serves a directory with a built front-end. Names come from the network: it opens only regular files in the directory
 * or below, and follows no symbolic links, so a request cannot leave the directory.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* A descriptor of the directory, or a negative errno value; it has to have an index.html. */
int directory_open(const char *path, struct error *err);

/* Opens the file at a path of names separated by '/' for reading, and returns its size; -ENOENT if it does not exist
 * or may not be served. */
int directory_open_file(int directory, const char *path, uint64_t *size);

/* The Content-Type of a file, by the ending of its name. */
const char *directory_type_of(const char *path);
