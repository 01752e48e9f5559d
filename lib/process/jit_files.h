/*
 * Finds perf maps and jitdump files, to which JIT compilers write the symbols of their code. A process in a container
 * has its own /tmp (mount namespace, or chroot), and another pid in the names of these files (pid namespace). Only
 * through the live process can the recorder reach them, but the assembler reads them after the recording. So the
 * recorder opens the directories and files while the process is alive.
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
    uint32_t pid;       /* in the process's own pid namespace, as in its file names */
    uint32_t directory; /* index in jit_files.directories; JIT_DIRECTORY_OURS: prof's own /tmp */
    uint32_t user;      /* uid of its files, in prof's namespace; JIT_USER_UNKNOWN */
    uint64_t started;   /* ns since the Unix epoch: start of a process that is older than the recording; 0: newer */
    int dump;           /* descriptor of its mapped jitdump file; -1: none, or not opened */
};

enum { JIT_DIRECTORY_OURS = UINT32_MAX, JIT_USER_UNKNOWN = UINT32_MAX };

/* A /tmp other than prof's own. */
struct jit_directory {
    uint64_t device, inode;
    int fd;
};

/* Starts zeroed. A part of struct open_files. */
struct jit_files {
    ARRAY(struct jit_file) files;
    ARRAY(struct jit_directory) directories;
    struct hash by_process; /* the process's number in the spool -> index in `files` */
    size_t dumps;           /* open jitdump files */
};

/* Notes that the process has memory for JIT code. `process`: its number in the spool. Call it while the process is
 * alive: an ended process counts as one of prof's own namespaces. `ran_before`: its program is older than the
 * recording. A second call has no effect. Returns false if memory ran out. */
bool jit_files_note(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before);

/* Notes that the process has mapped a jitdump file, and opens the file. Returns false if memory ran out. */
bool jit_files_note_jitdump(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before,
                            const struct perf_mapping *mapping);

/* Whether the path has the name of a jitdump file: ".../jit-NUMBER.dump". */
bool jit_files_is_jitdump(const char *path);

/* The same for a name without a directory. */
bool jit_files_is_jitdump_name(const char *name);

/* Returns NULL if the process has no JIT code. */
const struct jit_file *jit_files_find(const struct jit_files *files, uint32_t process);

void jit_files_destroy(struct jit_files *files);
