/*
 * Unlinked object files, such as kernel modules (.ko): each section begins at address 0, and the debug info has holes
 * for addresses and offsets. Relocations fill the holes.
 */
#pragma once

#include "elf/elf_file.h"

/* Assigns to code sections the addresses that they have in a loaded kernel module: in sequence from file->base, the
 * start of the module's code (its address in /proc/modules). Sections that the kernel frees after loading get distant
 * addresses. Follows layout_sections() of the kernel's kernel/module/main.c, for architectures that add nothing before
 * the sections (such as x86). */
void elf_assign_module_addresses(struct elf_file *file);

/* Whether the section needs elf_relocate(): the file is not linked, and the section has relocations. */
bool elf_has_relocations(const struct elf_file *file, const struct elf_section *section);

/* Applies the relocations of a section to its `size` bytes in memory, with the current addresses of the sections.
 * Supports x86-64 and arm64; skips relocations of other machines and invalid ones. */
void elf_relocate(const struct elf_file *file, const struct elf_section *section, unsigned char *bytes, uint64_t size);
