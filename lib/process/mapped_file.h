/*
 * Opens the file of another process's mapping.
 *
 * When the recorder reads a mapping record, the file may already be deleted or replaced, and the process may have
 * ended. A process in a container has other mounts than prof. So the recorder tries several paths to the file, and
 * checks that each candidate is the mapped file: by the build id in the record, or else by device, inode and
 * generation. Neither path nor age identifies a file.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "os/file_source.h"
#include "sample/perf_record.h"
#include "unwind/unwind.h"

struct mapped_file {
    struct file_source *file;     /* open */
    bool can_reopen;              /* the path in `file` leads to the file, which need not stay open */
    struct unwind_module *module; /* NULL if the file is not a readable ELF file */
    unsigned char build_id[UNWIND_BUILD_ID_MAX];
    size_t build_id_size;
};

/* Finds and opens the file of a mapping of process `pid`. Returns -ENOENT, with nothing to destroy, if no path leads
 * to it, or -ENOMEM if memory ran out. */
int mapped_file_open(struct mapped_file *mapped, uint32_t pid, const struct perf_mapping *mapping);

/* Finds and opens the file in perf's build-id cache at `cache` ("/home/me/.debug"). */
int mapped_file_open_in_perf_cache(struct mapped_file *mapped, const char *cache, const struct perf_mapping *mapping);

void mapped_file_destroy(struct mapped_file *mapped);
