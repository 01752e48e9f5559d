/*
 * A core file of a 64-bit program of this processor, from the kernel or from gcore: its threads with their registers,
 * its mappings and its memory.
 *
 * Layouts: <sys/procfs.h>; the kernel's fs/binfmt_elf.c (fill_files_note() for NT_FILE). A core may be hostile: every
 * count is bounded by the size of its notes.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "elf/elf_file.h"

#include <sys/user.h>

struct core_thread {
    uint32_t tid;
    struct user_regs_struct registers;
};

struct core_mapping {
    uint64_t start, end;
    uint64_t file_offset;
    const char *path; /* "//anon": no file */
    bool executable;
};

struct core_file {
    struct elf_file elf;
    uint32_t pid;
    char name[17];                       /* of the program */
    uint32_t signal;                     /* the signal that ended the process, or 0 */
    uint64_t vdso;                       /* address of the vDSO, or 0 for none */
    ARRAY(struct core_thread) threads;   /* at least one; the first one received the signal */
    ARRAY(struct core_mapping) mappings; /* mappings of files, then executable mappings without a file */
    ARRAY(struct elf_segment) memory;    /* parts in the file, sorted by address */
    ARRAY(unsigned char *) notes;
};

/* Reads the headers and the notes of a core file. Takes ownership of `elf`, also after a failure. -EINVAL with a
 * sentence that contains `name` if the file is no core file, or not of `machine`, a number of <elf.h>. */
int core_file_read(struct core_file *core, struct elf_file *elf, uint16_t machine, const char *name, struct error *err);
void core_file_destroy(struct core_file *core);

/* Copies up to `size` bytes of the memory at `address`. Returns the number of bytes, up to the end of the memory that
 * the file contains. */
size_t core_file_read_memory(const struct core_file *core, uint64_t address, void *out, size_t size);

/* Copies the first `max` bytes of the build ID of the ELF file that is mapped at `address`. Returns the number of
 * bytes, or 0 for none. */
size_t core_file_read_build_id(const struct core_file *core, uint64_t address, unsigned char *build_id, size_t max);
