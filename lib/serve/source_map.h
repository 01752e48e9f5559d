/*
 * Where source files are on this machine, when the debug info names the place where they were compiled.
 */
#pragma once

#include <stddef.h>

/* Files in the directory `from` (or the file of that name) are in the directory `to`. */
struct source_map {
    const char *from, *to;
};

/* The path that the first of `maps` with a fitting `from` makes of `path`, or a copy of `path`. A map fits whole
 * names: /src is not a beginning of /src2/a.c. The caller frees it; NULL if memory ran out. */
char *source_map_apply(const struct source_map *maps, size_t count, const char *path);
