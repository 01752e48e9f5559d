/*
 * Reads perf maps, in which JIT compilers list the names of their code: /tmp/perf-PID.map, lines of "START SIZE name"
 * with hexadecimal numbers (tools/perf/Documentation/jit-interface.txt of the Linux source).
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum {
    PERF_MAP_NAME_MAX = 4096,    /* bytes; longer names are truncated */
    PERF_MAP_LINE_MAX = 1 << 16, /* bytes; longer lines are malformed */
};

/* Limit of bytes read, from the end of a file: the newest lines are there. */
#define PERF_MAP_READ_MAX (UINT64_C(256) << 20)

/* A name of arbitrary bytes, not NUL-terminated. NULL: no name. */
struct perf_map_name {
    const char *text;
    size_t length;
};

/* Counts of the lines in a file. */
struct perf_map_counts {
    uint64_t lines;     /* number of lines that were read */
    uint64_t malformed; /* malformed lines; empty lines do not count */
    bool is_cut;        /* the file is larger than PERF_MAP_READ_MAX, so its beginning was not read */
};

/* Finds the names of `count` addresses, ascending and distinct, in the open file. Reads from the last line upwards
 * until all addresses have names. Skips addresses whose names[i].text is not NULL; copies the names that it finds to
 * `texts`. The last line that covers an address wins. Malformed lines, and a truncated last line, are ignored. Takes
 * about 1 MiB besides the names, however large the file is. Negative errno value if the file cannot be read, or
 * -ENOMEM. */
int perf_map_find(int fd, const uint64_t *addresses, size_t count, struct perf_map_name *names, struct arena *texts,
                  struct perf_map_counts *counts, struct error *err);
