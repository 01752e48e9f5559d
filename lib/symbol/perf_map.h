/*
 * The map files in which JIT compilers note the names of the code that they make: /tmp/perf-PID.map, lines of
 * "START SIZE name" with hexadecimal numbers (tools/perf/Documentation/jit-interface.txt of the Linux source).
 */
#ifndef PROF_SYMBOL_PERF_MAP_H
#define PROF_SYMBOL_PERF_MAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERF_MAP_NAME_MAX = 4096 }; /* bytes; what is longer is cut */

struct perf_map {
    char *text;
    size_t size;
};

/* A name as the file has it: not terminated, any bytes. It points into the map's text; NULL: the address has none. */
struct perf_map_name {
    const char *text;
    size_t length;
};

/* Reads the open file from its current end backwards, at most 256 MiB: the newest lines are the last. `map` is
 * overwritten; perf_map_destroy() is owed on success. Negative errno value if it cannot be read. */
int perf_map_read(struct perf_map *map, int fd, struct error *err);
void perf_map_destroy(struct perf_map *map);

/* The names of `count` addresses, ascending and distinct, into `names`; those that already have a name (text is not
 * NULL) keep it. Of the lines that cover an address the last one in the file counts. A line that is not of the form
 * above, or that the end of the file cuts off, is ignored. Fails only when memory runs out. */
int perf_map_lookup(const struct perf_map *map, const uint64_t *addresses, size_t count, struct perf_map_name *names,
                    struct error *err);

#endif
