/*
 * Mapped files that stay open from when they are first seen until their symbols have been looked up. By then the
 * process may have ended, and with it what led to its files: the root folder of its container, a program that was
 * deleted or built anew meanwhile. The descriptor still leads to the file that was mapped.
 */
#ifndef PROF_RECORD_OPEN_FILES_H
#define PROF_RECORD_OPEN_FILES_H

#include "base/array.h"
#include "record/jit_files.h"

#include <stdbool.h>
#include <stdint.h>

struct open_file {
    int fd;      /* -1: it could not be opened, or too many are open */
    int root_fd; /* the root folder that its process had, for debug files; -1: ours. Belongs to open_files.roots */
};

struct open_root {
    uint64_t namespace, device, inode; /* of the mount namespace, and of the folder */
    int fd;
};

/* Zero it to start. */
struct open_files {
    ARRAY(struct open_file) files; /* by the number of the library in the spool */
    ARRAY(struct open_root) roots;
    struct jit_files jit; /* of what the processes compiled themselves */
};

/* The root folder of process `pid`, opened once for all that have it; -1 if it is ours, or cannot be opened (any more).
 * The descriptor is good for openat2() alone (file_open_in() in base/file_io.h). */
int open_files_root(struct open_files *files, uint32_t pid);

/* Takes `fd` over as the file of library `number`, or closes it if too few descriptors are left. False if memory ran
 * out. */
bool open_files_add(struct open_files *files, uint32_t number, int fd, int root_fd);

/* -1 twice for a library that was not added. */
struct open_file open_files_get(const struct open_files *files, uint32_t number);

void open_files_destroy(struct open_files *files);

#endif
