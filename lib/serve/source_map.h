/*
 * Maps the source directories in debug info, which existed on the build machine, to directories on this machine.
 */
#pragma once

#include "base/standard.h"

/* Files in the directory `from` (or the file `from`) are in the directory `to`. */
struct source_map {
    const char *from, *to;
};

/* Applies the first map whose `from` contains `path`, or copies `path`. Maps compare whole path components: /src does
 * not contain /src2/a.c. The caller frees the path. Returns NULL if memory ran out. */
char *source_map_apply(const struct source_map *maps, size_t count, const char *path);
