/*
 * Converts a perf.data file to a recording: a spool file as `prof record` writes it, from which the assembler makes the
 * profile as usual. The recording lacks only data that the perf.data file does not contain.
 *
 * Records go through the recorder's process tracker, library table and stack walker, in the order of their times. The
 * file is never in memory completely.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/error.h"
#include "perf_data/perf_data_result.h"

enum perf_data_form {
    PERF_DATA_NONE,
    PERF_DATA_FILE,   /* a perf.data file, or a directory with such a file "data", as `perf record --threads` writes */
    PERF_DATA_PACKED, /* see unpacker_format() */
};

/* Detects the form of the file by its first bytes. PERF_DATA_NONE if the file cannot be read. */
enum perf_data_form perf_data_detect_form(const char *path);

/* Detects the form of the next bytes of a descriptor: a file, or a pipe, whose bytes stay unread. Waits for the first
 * bytes. */
enum perf_data_form perf_data_detect_next_form(int fd);

/* Writes the spool `spool_path`, which must not exist. After a failure the spool does not exist. `name` is the name
 * of the file in errors. `perf_cache` is perf's build-id cache, for mapped files missing at their paths, or NULL for
 * none. */
int perf_data_import(const char *path, const char *name, const char *perf_cache, const char *spool_path,
                     struct perf_data_result *result, struct error *err);
