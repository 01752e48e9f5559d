/*
 * Finds perf maps and jitdump files, the files in which JIT compilers write the symbols of their code. A process in a
 * container has its own /tmp (mount namespace, or chroot), and another pid in the names of these files (pid namespace).
 * The recorder can open these files only through the live process, but the assembler reads the files after the
 * recording. So the recorder opens the directories and files while the process is alive.
 *
 * Threads: the recorder thread while it records; then any thread may read them.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sample/perf_record.h"

struct jit_file {
    uint32_t pid;       /* pid in the process's own pid namespace, as in its file names */
    uint32_t directory; /* index in jit_files.directories, or JIT_DIRECTORY_OURS (prof's own /tmp) */
    uint32_t user;      /* uid of the owner of its files, in prof's namespace, or JIT_USER_UNKNOWN */
    uint64_t started;   /* ns since the Unix epoch: start of a process that is older than the recording, or 0 (the
                         * process is newer) */
    int dump; /* descriptor of the mapped jitdump file, or -1 if the process has none or the file cannot be opened */
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

/* Adds a process that has memory for JIT code. `process`: its number in the spool. Call this function while the process
 * is alive: an ended process counts as a process in prof's own namespaces. `ran_before`: the process's program is older
 * than the recording. A second call has no effect. Returns false if memory ran out. */
bool jit_files_add(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before);

/* Opens the jitdump file that a process has mapped. Returns false if memory ran out. */
bool jit_files_open_jitdump(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before,
                            const struct perf_mapping *mapping);

/* Whether the path has the name of a jitdump file: ".../jit-NUMBER.dump". */
bool jit_files_is_jitdump(const char *path);

/* Whether the name, without a directory, is the name of a jitdump file. */
bool jit_files_is_jitdump_name(const char *name);

/* Returns the files of a process, or NULL if the process has no JIT code. */
const struct jit_file *jit_files_find(const struct jit_files *files, uint32_t process);

void jit_files_destroy(struct jit_files *files);
