/*
 * Where JIT compilers write the names of their code: perf maps and jitdump files. A process in a container has its own
 * /tmp (mount namespace, or chroot) and another pid in the names of these files (pid namespace). Only the living
 * process leads to them, and the assembler reads them after the recording. So the recorder opens what leads to them
 * while the process lives.
 *
 * Threads: the recorder thread while it records; then any thread may read them.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>

struct jit_file {
    uint32_t pid;     /* in the innermost pid namespace of the process, which it uses in file names */
    uint32_t folder;  /* index in jit_files.folders; JIT_FOLDER_OURS */
    uint32_t user;    /* the user whose files it writes, as we see it; JIT_USER_UNKNOWN */
    uint64_t started; /* ns since the Unix epoch: when a process that ran before the recording started; 0: in it */
    int dump;         /* the open jitdump file that the process has mapped; -1: none, or it could not be opened */
};

enum { JIT_FOLDER_OURS = UINT32_MAX, JIT_USER_UNKNOWN = UINT32_MAX };

/* A /tmp that is not ours. */
struct jit_folder {
    uint64_t device, inode;
    int fd;
};

/* Zero it to start. A part of struct open_files. */
struct jit_files {
    ARRAY(struct jit_file) files;
    ARRAY(struct jit_folder) folders;
    struct hash by_process; /* the process's number in the spool -> index in `files` */
    size_t dumps;           /* that are open */
};

/* Notes that the process has memory for JIT code. `process` is its number in the spool. Call this while the process
 * lives: afterwards it counts as a process of our own namespaces. `ran_before`: its program started before the recorder
 * saw it. A second call has no effect. Returns false if memory
 * ran out. */
bool jit_files_note(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before);

/* Notes that the process has mapped a jitdump file, and opens the file. Returns false if memory ran out. */
bool jit_files_note_jitdump(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before,
                            const struct perf_mapping *mapping);

/* Returns whether the path has the name of a jitdump file: ".../jit-NUMBER.dump". */
bool jit_files_is_jitdump(const char *path);

/* The same for a name without a path. */
bool jit_files_is_jitdump_name(const char *name);

/* Returns NULL if nothing was noted of the process. */
const struct jit_file *jit_files_find(const struct jit_files *files, uint32_t process);

void jit_files_destroy(struct jit_files *files);
