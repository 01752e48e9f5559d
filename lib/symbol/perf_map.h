/*
 * Reads perf maps, in which JIT compilers list the names of their code: /tmp/perf-PID.map, lines of "START SIZE name"
 * with hexadecimal numbers (tools/perf/Documentation/jit-interface.txt of the Linux source).
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { PERF_MAP_NAME_MAX = 4096 }; /* bytes; longer names are truncated */

struct perf_map {
    char *text;
    size_t size;
};

/* A name in the map's text: not NUL-terminated, arbitrary bytes. NULL: no name. */
struct perf_map_name {
    const char *text;
    size_t length;
};

/* Reads up to the last 256 MiB of the open file: the newest lines are at its end. Overwrites `map`. On success call
 * perf_map_destroy(). Negative errno value if the file cannot be read. */
int perf_map_read(struct perf_map *map, int fd, struct error *err);
void perf_map_destroy(struct perf_map *map);

/* Looks up the names of `count` addresses, ascending and distinct. Skips addresses whose names[i].text is not NULL. The
 * last line that covers an address wins. Malformed lines, and a truncated last line, are ignored. Fails only when
 * memory runs out. */
int perf_map_lookup(const struct perf_map *map, const uint64_t *addresses, size_t count, struct perf_map_name *names,
                    struct error *err);
