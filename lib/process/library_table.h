/*
 * The files that are mapped with execute permission. The table opens and checks each file once, however many processes
 * map it, and writes it to the spool. A file is known by its path and build id; without a build id, by path, device and
 * inode.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "process/open_files.h"
#include "language/python_library.h"
#include "spool/spool.h"
#include "sample/perf_record.h"
#include "unwind/unwind.h"

#include <stdint.h>

struct library_table;

struct library_table *library_table_new(struct spool_writer *spool);
void library_table_free(struct library_table *table);

/* From now on adds each file to `files`, which must outlive the table. */
void library_table_keep(struct library_table *table, struct open_files *files);

/* Files that no path leads to are searched in the build-id cache of perf at `cache` as well. It must outlive the table.
 */
void library_table_search(struct library_table *table, const char *cache);

struct library_mapping {
    uint32_t lib; /* number in the spool; SPOOL_NO_NUMBER for memory that is no file's, nor an ELF file's of
                     memfd_create() */
    uint64_t rva; /* of the first byte of the mapping; 0 without a lib */
    struct unwind_module *module;        /* borrowed; NULL if there is no call frame information */
    const struct python_library *python; /* borrowed; NULL: the file does not hold CPython */
};

/* Finds what process `pid` has mapped. A file that cannot be opened is known by its name alone; the table looks for it
 * again in later mappings. Fails only if the spool cannot be written or memory runs out. */
int library_table_find(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping,
                       struct library_mapping *found, struct error *err);

/* Adds a library that has no file (the kernel, its modules), and writes it to the spool. */
int library_table_add(struct library_table *table, const struct spool_lib *lib, uint32_t *number, struct error *err);

/* Returns whether the file system of a mapped file answers, so that the file may be opened. */
bool library_table_may_open(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping);

/* Has the symbolizer not look for files in the root directories of their processes where file systems on the way there
 * do not answer. For the end of the recording. */
void library_table_check_roots(struct library_table *table);

/* Returns how many files could not be opened again when a walk needed their unwinding information. *path is the path of
 * the first. */
size_t library_table_lost(const struct library_table *table, const char **path);

/* The same for files on file systems that do not answer. */
size_t library_table_silent(const struct library_table *table, const char **path);

/* The same for files that were not found, because nothing at their path is the file that was mapped. */
size_t library_table_missing(const struct library_table *table, const char **path);
