/*
 * An ELF file of any class and byte order: its header, segments, sections and build id.
 *
 * libelf reads the headers while the file is opened. The libelf handle is then closed, because a handle serves one
 * thread and caches all bytes that it read. The result is plain data. The contents of a section are `struct bytes`,
 * read on request; elf_contents.h decompresses and relocates contents, and elf_table.h reads symbols and relocations.
 *
 * Threads: one thread opens and closes a file; in between, any number of threads may read it.
 *
 * Layouts: System V ABI (gabi 4.1), <elf.h>.
 */
#pragma once

#include "base/error.h"
#include "elf/elf_headers.h"

/* Opens a file and reads the headers. Returns -ENOENT, -EACCES ... from open(), -ENOEXEC if the file is not an ELF
 * file, or -EINVAL if its headers cannot be read, with a sentence in `err`. After a failure, do not close the file. */
int elf_file_open(struct elf_file *file, const char *path, struct error *err);

/* Opens an ELF file from a descriptor, which this function closes even on failure. Error messages contain `name`. */
int elf_file_open_fd(struct elf_file *file, int fd, const char *name, struct error *err);

/* Opens an ELF file from a file source, which can reopen the file, and takes a reference to `source`. */
int elf_file_open_source(struct elf_file *file, struct file_source *source, const char *name, struct error *err);

/* Opens an ELF image in memory, which must outlive `file`. */
int elf_file_open_image(struct elf_file *file, const void *image, size_t size, const char *name, struct error *err);

void elf_file_close(struct elf_file *file);

bool elf_file_has_id(const struct elf_file *file, const unsigned char *build_id, size_t size);

/* Returns the first section with this name and with bytes in this file, or NULL. ".debug_x" also finds ".zdebug_x". */
const struct elf_section *elf_file_find_section(const struct elf_file *file, const char *name);

/* Returns the section that is loaded at this vaddr and has bytes in this file, or NULL. */
const struct elf_section *elf_file_find_section_at(const struct elf_file *file, uint64_t address);

/* Copies the description of the first note with this owner ("GNU", with its NUL) and type, from a PT_NOTE segment, else
 * from a SHT_NOTE section. Returns the size of the description, or 0 if no such note exists or the description is
 * longer than `max`. */
size_t elf_file_read_note(const struct elf_file *file, const char owner[4], uint32_t type, unsigned char *out,
                          size_t max);
