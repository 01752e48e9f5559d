/*
 * Converts a perf.data file to a recording: a spool file as `prof record` writes it, from which the assembler makes the
 * profile as usual. It lacks only data that the perf.data file does not have.
 *
 * Records go through the recorder's process tracker, library table and stack walker, in the order of their times. The
 * file is never in memory as a whole.
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
    PERF_DATA_FILE,   /* or a directory with such a file "data", as `perf record --threads` writes it */
    PERF_DATA_PACKED, /* see unpacker_format() */
};

/* Detects the form of the file by its first bytes. PERF_DATA_NONE if it cannot be read. */
enum perf_data_form perf_data_form_of(const char *path);

/* The same for the next bytes of a descriptor: a pipe, of which nothing is read, or a file. Waits for the first
 * bytes. */
enum perf_data_form perf_data_form_of_next(int fd);

/* Writes the spool `spool_path`, which must not exist. After a failure it does not exist either. `name` is the file
 * in error sentences. `perf_cache` is perf's build-id cache, for mapped files that are not at their paths; NULL:
 * none. */
int perf_data_import(const char *path, const char *name, const char *perf_cache, const char *spool_path,
                     struct perf_data_result *result, struct error *err);
