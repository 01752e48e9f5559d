/*
 * The table of executable mapped files. The table opens and checks each file once for all processes that map it, and
 * writes the file to the spool. Path and build id identify a file; without a build id, path, device and inode do.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "process/open_files.h"
#include "language/python_library.h"
#include "spool/spool.h"
#include "sample/perf_record.h"
#include "unwind/unwind.h"

struct library_table;

struct library_table *library_table_new(struct spool_writer *spool);
void library_table_free(struct library_table *table);

/* Makes the table add each new file to `files`, which must outlive the table. */
void library_table_set_open_files(struct library_table *table, struct open_files *files);

/* Makes the table also search perf's build-id cache at `cache` for files without a valid path. The string must outlive
 * the table. */
void library_table_set_perf_cache(struct library_table *table, const char *cache);

struct library_mapping {
    /* Number in the spool. SPOOL_NO_NUMBER for anonymous memory, and for memfd files that are not ELF files. */
    uint32_t lib;
    uint64_t rva;                        /* rva of the first byte of the mapping, or 0 without a library */
    struct unwind_module *module;        /* borrowed, or NULL (no call frame information) */
    const struct python_library *python; /* borrowed, or NULL (the file does not contain CPython) */
    uint64_t search_ns; /* CPU time (ns) of the search for the file, or 0 (the table already had the file) */
};

/* Finds or adds the file of a mapping of process `pid`. A file that cannot be opened has only its name; the table
 * retries at later mappings. Fails only if the spool cannot be written or memory runs out. */
int library_table_find(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping,
                       struct library_mapping *found, struct error *err);

/* Adds a library that has no file (the kernel, its modules), and writes it to the spool. */
int library_table_add(struct library_table *table, const struct spool_library *library, uint32_t *number,
                      struct error *err);

/* Whether the file system of a mapped file responds, so that opening the file is safe. */
bool library_table_may_open(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping);

/* Excludes root directories of processes from the symbolizer's search if file systems on their paths do not respond.
 * Call this function at the end of the recording. */
void library_table_check_roots(struct library_table *table);

/* Returns the number of files that could not be reopened when a walk needed their unwind information. *path: path of
 * the first such file. */
size_t library_table_count_lost(const struct library_table *table, const char **path);

/* Returns the number of files on file systems that do not respond. *path: path of the first such file. */
size_t library_table_count_silent(const struct library_table *table, const char **path);

/* Returns the number of files whose path now leads to another file. *path: path of the first such file. */
size_t library_table_count_missing(const struct library_table *table, const char **path);
