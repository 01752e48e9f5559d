/*
 * The file behind a mapping of another process.
 *
 * By the time that the recorder reads a mapping record, the file may have been deleted or replaced, and the process may
 * have ended. A process in a container sees other files than we do. So the recorder tries several paths to the file,
 * and each candidate must prove that it is the mapped file: by the build id that the kernel read when it mapped the
 * file, or else by device, inode and generation. Neither its path nor its age proves anything.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "os/file_source.h"
#include "sample/perf_record.h"
#include "unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped_file {
    struct file_source *file;     /* open */
    bool can_reopen;              /* the path in `file` leads to it: the file need not stay open */
    struct unwind_module *module; /* NULL if it is no ELF file that can be read */
    unsigned char build_id[UNWIND_BUILD_ID_MAX];
    size_t build_id_size;
};

/* Finds and opens the file that process `pid` has mapped. Returns -ENOENT, with nothing to destroy, if no way leads to
 * it any more, or yet; -ENOMEM if memory ran out. */
int mapped_file_open(struct mapped_file *mapped, uint32_t pid, const struct perf_mapping *mapping);

/* The same in the build-id cache of perf at `cache` ("/home/me/.debug"), which keeps files by build id. */
int mapped_file_open_in_perf_cache(struct mapped_file *mapped, const char *cache, const struct perf_mapping *mapping);

void mapped_file_destroy(struct mapped_file *mapped);
