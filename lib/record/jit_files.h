/*
 * Where the processes of a recording leave the names of the code that they compile. A process may have a /tmp of its
 * own (a mount namespace) and know itself by another pid than we do (a pid namespace): what leads there exists only as
 * long as it lives, and is held on to here until its files are read, after the recording.
 */
#ifndef PROF_RECORD_JIT_FILES_H
#define PROF_RECORD_JIT_FILES_H

#include "base/array.h"
#include "base/hash.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>

struct jit_file {
    uint32_t pid;    /* the process's own name for itself: in the innermost of its pid namespaces */
    uint32_t folder; /* index in jit_files.folders; JIT_FOLDER_OURS */
    int dump;        /* the jitdump file that it has mapped, open; -1: none, or it could not be opened */
};

enum { JIT_FOLDER_OURS = UINT32_MAX };

/* The /tmp of a mount namespace. */
struct jit_folder {
    uint64_t namespace; /* inode of the namespace */
    int fd;
};

/* Zero it to start. A part of struct open_files. */
struct jit_files {
    ARRAY(struct jit_file) files;
    ARRAY(struct jit_folder) folders;
    struct hash by_process; /* the process's number in the spool -> index in `files` */
    size_t dumps;           /* that are open */
};

/* Process `pid`, whose number in the spool this is, has memory for compiled code. To be called while it lives; what
 * cannot be found out (any more) is as with us. Without effect the second time. False if memory ran out. */
bool jit_files_note(struct jit_files *files, uint32_t process, uint32_t pid);

/* It has mapped a file that is a jitdump file by its name. False if memory ran out. */
bool jit_files_note_jitdump(struct jit_files *files, uint32_t process, uint32_t pid,
                            const struct perf_mapping *mapping);

/* Whether a file of this path is a jitdump file by its name: ".../jit-NUMBER.dump". */
bool jit_files_is_jitdump(const char *path);

/* NULL: nothing was noted of this process. */
const struct jit_file *jit_files_find(const struct jit_files *files, uint32_t process);

void jit_files_destroy(struct jit_files *files);

#endif
