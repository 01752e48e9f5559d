/*
 * An ELF file as far as symbols need it: sections by name, the first PT_LOAD, the build id, the debug link. Both
 * classes, little-endian. Layouts: System V ABI (gabi 4.1), <elf.h>.
 */
#ifndef PROF_SYMBOL_ELF_FILE_H
#define PROF_SYMBOL_ELF_FILE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "symbol/bytes.h"

enum { ELF_BUILD_ID_MAX = 64 };

struct elf_section {
    const char *name;
    uint32_t type, link;
    uint64_t flags, address, alignment, entry_size;
    uint64_t size;      /* in memory; of a compressed section: in the file */
    struct bytes bytes; /* in the file; empty for SHT_NOBITS and where the header lies */
};

struct elf_file {
    struct bytes bytes;         /* the whole file */
    int fd;                     /* -1: an image in memory, which must outlive this */
    unsigned char *owned_image; /* freed with the file; NULL */
    bool is_64;
    uint16_t type, machine;
    ARRAY(struct elf_section) sections;
    bool is_cut; /* it ends before its section headers */
    bool has_load;
    uint64_t base; /* vaddr of the first PT_LOAD: library-relative addresses count from it */
    unsigned char build_id[ELF_BUILD_ID_MAX];
    size_t build_id_size; /* 0: none */
    struct arena arena;
};

/* Opens and reads the headers. -ENOENT, -EACCES ... from open(), -EINVAL if it is not an ELF file that can be read;
 * `err` says so. On failure nothing is to be closed. */
int elf_file_open(struct elf_file *file, const char *path, struct error *err);

/* The same for a file that is open already. Takes `fd` over, also on failure; `name` is for error texts. */
int elf_file_open_fd(struct elf_file *file, int fd, const char *name, struct error *err);

/* The same for an image in memory; `name` is for error texts. */
int elf_file_open_image(struct elf_file *file, const void *image, size_t size, const char *name, struct error *err);

void elf_file_close(struct elf_file *file);

/* The first section of that name with bytes in this file, or NULL. ".debug_x" also finds ".zdebug_x". */
const struct elf_section *elf_file_section(const struct elf_file *file, const char *name);

/* The section with bytes in this file that is loaded at this vaddr, or NULL. */
const struct elf_section *elf_file_section_at(const struct elf_file *file, uint64_t address);

/* The contents of a section, decompressed (zlib, zstd) and relocated (elf_relocate.h) if need be: then `*owned` is
 * memory that the caller frees after the last use. Empty if there is no such section, or it cannot be decompressed
 * (`err` says why). */
struct bytes elf_file_contents(const struct elf_file *file, const char *name, unsigned char **owned, struct error *err);

/* A symbol of .symtab or .dynsym, or a relocation of .rela.*, of either class. */
struct elf_symbol {
    uint32_t name; /* offset into the string table */
    unsigned char info, other;
    uint16_t section;
    bool is_thumb; /* a function in Thumb code; the bit that says so is not in the value */
    uint64_t value, size;
};

static inline size_t elf_symbol_size(const struct elf_file *file)
{
    return file->is_64 ? 24 : 16;
}

struct elf_symbol elf_symbol_read(const struct elf_file *file, struct cursor *c);

#endif
