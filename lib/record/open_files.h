/*
 * What a recording holds of mapped files until their symbols have been looked up. By then the process may have ended,
 * and with it what led to its files: the root folder of its container, a program that was deleted or built anew.
 *
 * An open file keeps its file system from being unmounted, and the target may want to do that. So a file stays open
 * only where that does no harm, because its mount is in use by us in any case (the root folder, the working directory),
 * or where nothing else leads to it: it was deleted, or is in another mount namespace. All others are opened again by
 * path and identity (base/file_source.h).
 *
 * Threads: the recorder thread while it records; then any may read it, but for open_files_reopen_roots().
 */
#ifndef PROF_RECORD_OPEN_FILES_H
#define PROF_RECORD_OPEN_FILES_H

#include "base/array.h"
#include "record/jit_files.h"
#include "record/mapped_file.h"

#include <stdbool.h>
#include <stdint.h>

struct open_file {
    struct file_source *file; /* NULL: it could not be opened */
    int root;                 /* index in open_files.roots: the root folder that its process had; -1: ours */
};

struct open_root {
    uint64_t namespace, device, inode; /* of the mount namespace, and of the folder */
    int fd;                            /* -1: closed while the target runs */
    char *path;                        /* to open it again; NULL: it stays open */
};

struct open_files {
    ARRAY(struct open_file) files; /* by the number of the library in the spool */
    ARRAY(struct open_root) roots;
    struct open_root ours;
    uint64_t root_mount, working_mount; /* ours; 0: not known */
    size_t lost;                        /* files that had to be closed although nothing leads to them any more */
    struct jit_files jit;               /* of what the processes compiled themselves */
};

void open_files_init(struct open_files *files);

/* The index in `roots` of the root folder of process `pid`, one for all that have it; -1 if it is ours, or cannot be
 * opened (any more). */
int open_files_root(struct open_files *files, uint32_t pid);

/* Takes in the file of library `number`, which process `pid` has mapped; refers to it, and closes it if it need not
 * stay open. False if memory ran out. */
bool open_files_add(struct open_files *files, uint32_t number, const struct mapped_file *mapped, uint32_t pid);

/* When the target has ended: opens the root folders again that were closed for it. */
void open_files_reopen_roots(struct open_files *files);

/* The file of library `number`; NULL if it was not added. */
struct file_source *open_files_get(const struct open_files *files, uint32_t number);

/* A descriptor of the root folder of its process, good for openat2() alone (file_open_in() in base/file_io.h); -1:
 * ours, or it was not added. */
int open_files_root_fd(const struct open_files *files, uint32_t number);

void open_files_destroy(struct open_files *files);

#endif
