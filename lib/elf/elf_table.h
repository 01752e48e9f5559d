/*
 * Tables of an ELF file with entries of one size: symbols and relocations. libelf translates the entries from the class
 * and byte order of the file. The translation needs no handle, so threads may share the file.
 */
#pragma once

#include "elf/elf_headers.h"

#include <libelf.h>

/* Symbols of a SHT_SYMTAB or SHT_DYNSYM section. */
struct elf_symbols {
    const struct elf_file *file;
    unsigned char *entries;
    size_t count;
};

struct elf_symbol {
    uint32_t name; /* offset into the string table; field `link` of the table's section has its section number */
    unsigned char type, binding;
    uint16_t section;
    bool is_thumb; /* a function in Thumb code; bit 0 of the value, the Thumb mark, is cleared */
    uint64_t value, size;
};

/* Reads up to `count` symbols starting at `first` (0 and SIZE_MAX for all). Returns false and an empty table if the
 * section is no symbol table, ends before `first`, or cannot be read. */
bool elf_symbols_load(struct elf_symbols *symbols, const struct elf_file *file, const struct elf_section *section,
                      size_t first, size_t count);
struct elf_symbol elf_symbols_get(const struct elf_symbols *symbols, size_t i);
void elf_symbols_free(struct elf_symbols *symbols);

/* Relocations of a SHT_REL or SHT_RELA section. */
struct elf_relocations {
    const struct elf_file *file;
    unsigned char *entries;
    size_t count;
    bool have_addends; /* SHT_RELA only; SHT_REL stores addends at the relocated addresses */
};

struct elf_relocation {
    uint64_t address; /* vaddr, or in an unlinked file an offset in the section */
    uint64_t addend;  /* 0 without addends */
    uint32_t symbol, type;
};

/* Reads all relocations of a section. Returns false and an empty table on failure, as elf_symbols_load(). */
bool elf_relocations_load(struct elf_relocations *relocations, const struct elf_file *file,
                          const struct elf_section *section);
struct elf_relocation elf_relocations_get(const struct elf_relocations *relocations, size_t i);
void elf_relocations_free(struct elf_relocations *relocations);

/* The field `name` of an entry (Elf32_X or Elf64_X) that elf_convert_to_native() has translated. */
#define ELF_FIELD(is_64, X, entry, name)                                                                               \
    ((is_64) ? ((const Elf64_##X *)(const void *)(entry))->name : ((const Elf32_##X *)(const void *)(entry))->name)

/* Translates whole entries of this type from the file's byte order to this machine's, in place. `bytes` has the
 * alignment of malloc(). */
void elf_convert_to_native(const struct elf_file *file, Elf_Type type, unsigned char *bytes, size_t size);
