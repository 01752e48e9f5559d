/*
 * The open-file table: the mapped files of a recording, which the symbolizer reads after the recording. By then the
 * process and the root directory of its container may be gone, and its files deleted or rebuilt.
 *
 * An open file blocks the unmounting of its file system, which the target may need. So a file stays open in two cases.
 * Either prof uses the file's mount anyway (the mount of its root or working directory), or no path leads to the file,
 * because the file was deleted or is in another mount namespace. Other files are reopened by path and identity
 * (os/file_source.h).
 *
 * Threads: the recorder thread while it records, which also calls open_files_reopen_roots(); then any thread may read.
 */
#pragma once

#include "base/array.h"
#include "process/jit_files.h"
#include "process/mapped_file.h"

struct open_file {
    struct file_source *file; /* NULL if not opened */
    bool is_silent;           /* the file system does not respond: do not open the file */
    int root;                 /* root directory of its process: index in open_files.roots, or -1 (prof's own) */
};

struct open_root {
    uint64_t namespace, device, inode; /* inode of the mount namespace; device and inode of the directory */
    int fd;                            /* -1: closed while the target runs */
    char *path;                        /* for reopening, or NULL (stays open) */
};

struct open_files {
    ARRAY(struct open_file) files; /* indexed by the library's number in the spool */
    ARRAY(struct open_root) roots;
    struct open_root ours;
    uint64_t root_mount, working_mount; /* mounts of prof's root and working directory, or 0 if unknown */
    size_t lost;          /* files closed because of the descriptor limit, although no path leads to them */
    struct jit_files jit; /* JIT code of the processes */
};

void open_files_init(struct open_files *files);

/* Returns the index in `roots` of the root directory of process `pid`, which processes with the same root share, or
 * -1 for prof's own root and for a root that prof cannot open. */
int open_files_add_root(struct open_files *files, uint32_t pid);

/* Adds the file of library `number`, mapped by process `pid`. Takes a reference to the file, and closes the file if it
 * need not or cannot stay open. Returns false if memory ran out. */
bool open_files_add(struct open_files *files, uint32_t number, const struct mapped_file *mapped, uint32_t pid);

/* Marks library `number`: its file system does not respond. */
void open_files_set_silent(struct open_files *files, uint32_t number);

/* Whether open_files_set_silent() was called for the library. */
bool open_files_is_silent(const struct open_files *files, uint32_t number);

/* Stops using the process's root directory for library `number`. */
void open_files_drop_root(struct open_files *files, uint32_t number);

/* Reopens the root directories that were closed so that the target could unmount them. Call this function at the end of
 * the recording. */
void open_files_reopen_roots(struct open_files *files);

/* Returns the file of library `number`, or NULL if it was not added. */
struct file_source *open_files_get(const struct open_files *files, uint32_t number);

/* Returns a descriptor of the root directory of the library's process, only for file_open_in() (os/file_io.h). -1:
 * prof's own root, or the file was not added. */
int open_files_get_root_fd(const struct open_files *files, uint32_t number);

void open_files_destroy(struct open_files *files);
