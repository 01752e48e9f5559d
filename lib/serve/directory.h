/*
 * A directory with a built front-end, whose files are served. Names come from the network: only regular files that lie
 * in the directory or below are opened, and no symbolic links are followed on the way, so that nothing outside of it is
 * reached.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* A descriptor of the directory, or a negative errno value; it has to have an index.html. */
int directory_open(const char *path, struct error *err);

/* The file at a path of names with '/' between, open for reading, and its size; -ENOENT if there is none that may be
 * served. */
int directory_open_file(int directory, const char *path, uint64_t *size);

/* The Content-Type of a file, by the ending of its name. */
const char *directory_type_of(const char *path);
