/*
 * Object files that were not linked, such as kernel modules (.ko): each section begins at address 0, and the debug info
 * has holes for addresses and offsets. Relocations say how to fill them.
 */
#pragma once

#include "elf/elf_file.h"

/* Gives the sections with code the addresses that they have in a loaded kernel module, where file->base stands for the
 * start of its memory for code (the address of /proc/modules): one after the other, and far from them those that the
 * kernel frees after the start. Follows layout_sections() of kernel/module/main.c, for architectures that put nothing
 * before them (as x86). */
void elf_layout_module(struct elf_file *file);

/* Whether elf_relocate() has something to do: the file is not linked, and the section has relocations. */
bool elf_has_relocations(const struct elf_file *file, const struct elf_section *section);

/* Applies the relocations of a section to its `size` bytes in memory, with the addresses that the sections have now.
 * Knows those of x86-64 and arm64; skips those of other machines and those that make no sense. */
void elf_relocate(const struct elf_file *file, const struct elf_section *section, unsigned char *bytes, uint64_t size);
