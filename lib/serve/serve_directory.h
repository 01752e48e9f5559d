/*
 * Serves a directory with a built front-end. Names come from the network: prof opens only regular files in the
 * directory or below, and follows no symbolic links, so a request cannot leave the directory.
 */
#pragma once

#include "base/error.h"

/* Opens a directory with an index.html. Returns the descriptor of the directory, or a negative errno value. */
int served_directory_open(const char *path, struct error *err);

/* Opens the file at a path below the directory for reading, and stores its size. Returns -ENOENT if the file does
 * not exist or may not be served. */
int served_directory_open_file(int directory, const char *path, uint64_t *size);

/* Returns the Content-Type of a file from the extension of its name. */
const char *get_content_type(const char *path);
