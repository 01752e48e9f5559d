/*
 * The open-file table: the mapped files of a recording, which the symbolizer reads after the recording. By then the
 * process may have ended, and with it the root folder of its container; its files may have been deleted or built anew.
 *
 * Nobody can unmount a file system with an open file, and the target may want to. So a file stays open in two cases:
 * its mount is in use by us anyway (that of the root folder or of the working directory), or its path does not lead to
 * it, because it was deleted or is in another mount namespace. Other files are opened again by path and identity
 * (os/file_source.h).
 *
 * Threads: the recorder thread while it records, which also calls open_files_reopen_roots(); then any thread may read.
 */
#pragma once

#include "base/array.h"
#include "process/jit_files.h"
#include "process/mapped_file.h"

#include <stdbool.h>
#include <stdint.h>

struct open_file {
    struct file_source *file; /* NULL: it could not be opened */
    bool is_silent;           /* its file system does not answer: it is not to be opened */
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

/* Returns the index in `roots` of the root folder of process `pid`, the same for all processes with that root folder.
 * -1 if it is ours, or cannot be opened. */
int open_files_root(struct open_files *files, uint32_t pid);

/* Adds the file of library `number`, which process `pid` has mapped. Takes a reference to the file, and closes it if it
 * need not or cannot stay open. Returns false if memory ran out. */
bool open_files_add(struct open_files *files, uint32_t number, const struct mapped_file *mapped, uint32_t pid);

/* Notes that the file system of library `number` does not answer. */
void open_files_note_silent(struct open_files *files, uint32_t number);

/* Returns whether that was noted. */
bool open_files_is_silent(const struct open_files *files, uint32_t number);

/* From now on the root directory of the process is not used for library `number`. */
void open_files_forget_root(struct open_files *files, uint32_t number);

/* Opens the root folders again that were closed so that the target can unmount them. For the end of the recording. */
void open_files_reopen_roots(struct open_files *files);

/* Returns the file of library `number`, or NULL if it was not added. */
struct file_source *open_files_get(const struct open_files *files, uint32_t number);

/* Returns a descriptor of the root folder of its process, for file_open_in() (os/file_io.h) alone. -1: our own root
 * folder, or the file was not added. */
int open_files_root_fd(const struct open_files *files, uint32_t number);

void open_files_destroy(struct open_files *files);
