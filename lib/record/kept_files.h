/*
 * Mapped files that stay open from when they are first seen until their symbols have been looked up. By then the
 * process may have ended, and with it what led to its files: the root folder of its container, a program that was
 * deleted or built anew meanwhile. The descriptor still leads to the file that was mapped.
 */
#ifndef PROF_RECORD_KEPT_FILES_H
#define PROF_RECORD_KEPT_FILES_H

#include "base/array.h"
#include "record/code_places.h"

#include <stdbool.h>
#include <stdint.h>

struct kept_file {
    int fd;      /* -1: it could not be opened, or too many are open */
    int root_fd; /* the root folder that its process had, for debug files; -1: ours. Belongs to kept_files.roots */
};

struct kept_root {
    uint64_t namespace, device, inode; /* of the mount namespace, and of the folder */
    int fd;
};

/* Zero it to start. */
struct kept_files {
    ARRAY(struct kept_file) files; /* by the number of the library in the spool */
    ARRAY(struct kept_root) roots;
    struct code_places code; /* of what the processes compiled themselves */
};

/* The root folder of process `pid`, opened once for all that have it; -1 if it is ours, or cannot be opened (any more).
 * The descriptor is good for openat2() alone (file_open_in() in base/file_io.h). */
int kept_files_root(struct kept_files *kept, uint32_t pid);

/* Takes `fd` over as the file of library `number`, or closes it if too few descriptors are left. False if memory ran
 * out. */
bool kept_files_add(struct kept_files *kept, uint32_t number, int fd, int root_fd);

/* -1 twice for a library that was not added. */
struct kept_file kept_files_get(const struct kept_files *kept, uint32_t number);

void kept_files_destroy(struct kept_files *kept);

#endif
