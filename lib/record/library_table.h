/*
 * The files that are mapped with execute permission, each opened, checked and noted in the spool once, however many
 * processes map it: by its path and build id, or without a build id by device and inode.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#ifndef PROF_RECORD_LIBRARY_TABLE_H
#define PROF_RECORD_LIBRARY_TABLE_H

#include "base/error.h"
#include "record/open_files.h"
#include "record/spool.h"
#include "sample/perf_record.h"
#include "unwind/unwind.h"

#include <stdint.h>

struct library_table;

struct library_table *library_table_new(struct spool_writer *spool);
void library_table_free(struct library_table *table);

/* From now on files are not closed, but added there. The caller's, and outlives the table. */
void library_table_keep(struct library_table *table, struct open_files *files);

struct library_mapping {
    uint32_t lib;                 /* number in the spool; SPOOL_NO_NUMBER for memory that is no file's */
    uint64_t rva;                 /* of the first byte of the mapping; 0 without a lib */
    struct unwind_module *module; /* borrowed; NULL if there is no call frame information */
};

/* What was mapped in process `pid`. A file that cannot be opened (any more) is known by its name only; it is looked for
 * again when it is mapped again. Negative only when the spool cannot be written or memory runs out. */
int library_table_find(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping,
                       struct library_mapping *found, struct error *err);

/* A number for a library that is no file's (the kernel, its modules), and its event in the spool. */
int library_table_add(struct library_table *table, const struct spool_lib *lib, uint32_t *number, struct error *err);

/* How many files could not be opened again when a walk needed their unwinding information; *path is that of one. */
size_t library_table_lost(const struct library_table *table, const char **path);

#endif
