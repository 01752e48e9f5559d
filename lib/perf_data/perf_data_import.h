/*
 * Makes a recording of a perf.data file: a spool file as `prof record` writes it, with what the perf.data file has. The
 * assembler then makes the profile of it in the same way. So both differ in nothing but what the file lacks.
 *
 * Records go through the tracker of processes, the table of libraries and the walker of stacks that the recorder uses.
 * They go in the order of their times, and the file is never in memory as a whole.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/error.h"
#include "perf_data/perf_data_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perf_data_form {
    PERF_DATA_NONE,
    PERF_DATA_FILE,   /* or a directory with such a file "data", as `perf record --threads` writes them */
    PERF_DATA_PACKED, /* see unpacker_format() */
};

/* What the file is, by its first bytes. PERF_DATA_NONE if it cannot be read. */
enum perf_data_form perf_data_form_of(const char *path);

/* The same of what comes next out of a descriptor: a pipe, of which nothing is read, or a file. Waits for the first
 * bytes. */
enum perf_data_form perf_data_form_of_next(int fd);

/* Writes the spool `spool_path`, which must not exist. After a failure there is none. `name` is the file for sentences.
 * `perf_cache` is the build-id cache of perf, which has mapped files that are not at their paths; NULL: none. */
int perf_data_import(const char *path, const char *name, const char *perf_cache, const char *spool_path,
                     struct perf_data_result *result, struct error *err);
