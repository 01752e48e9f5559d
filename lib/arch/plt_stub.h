/* Decodes a stub of the procedure linkage table. */
#pragma once

#include "elf/elf_file.h"

struct plt_stub {
    uint64_t start, size; /* vaddr, bytes */
    uint64_t got_entry;   /* vaddr of the GOT entry that the stub jumps through */
};

/* Whether the section holds PLT stubs: .plt, .plt.sec (with CET), .plt.got (functions that are both called and
 * referenced by address, or all functions of a program linked without lazy binding). */
bool is_plt_section(const struct elf_section *section);

/* Reads the stub in `section` that contains the vaddr. Returns false if no stub does (the section starts with the call
 * of the dynamic linker), or if its code is unknown. */
bool plt_stub_read(const struct elf_file *file, const struct elf_section *section, uint64_t vaddr,
                   struct plt_stub *stub);
