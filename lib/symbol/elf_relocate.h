/*
 * Object files that were not linked, as kernel modules (.ko) are: each section begins at address 0, and the debug info
 * has holes for all addresses and offsets, which relocations tell how to fill.
 */
#ifndef PROF_SYMBOL_ELF_RELOCATE_H
#define PROF_SYMBOL_ELF_RELOCATE_H

#include "symbol/elf_file.h"

/* Gives the sections with code the addresses that they have in a loaded kernel module, where file->base stands for the
 * begin of its memory for code (the address of /proc/modules): one after the other, and far from them those that are
 * freed after the start. As layout_sections() of kernel/module/main.c has it, where the architecture puts nothing
 * before them (x86 does not). */
void elf_layout_module(struct elf_file *file);

/* The relocations of a section, or NULL. */
const struct elf_section *elf_relocations(const struct elf_file *file, const struct elf_section *section);

/* Fills in what the relocations of a section say, in its `size` bytes in memory, from the addresses that the sections
 * have now. Of x86-64 and arm64; those of other machines, and all that make no sense, are left out. */
void elf_relocate(const struct elf_file *file, const struct elf_section *section, unsigned char *bytes, uint64_t size);

#endif
