/* The code of a stub of the procedure linkage table. */
#ifndef PROF_SYMBOL_PLT_STUB_H
#define PROF_SYMBOL_PLT_STUB_H

#include "elf/elf_file.h"

struct plt_stub {
    uint64_t start, size; /* vaddr, bytes */
    uint64_t got_entry;   /* vaddr of the pointer that it jumps through */
};

/* Whether the section holds such stubs: .plt, .plt.sec (with CET), .plt.got (functions that are called and whose
 * address is taken, or all of a program that is linked without lazy binding). */
bool plt_section_is(const struct elf_section *section);

/* The stub that the vaddr, which lies in `section`, is in. False if there is none (before the first stub stands the
 * code that calls the dynamic linker), or if its code is not known. */
bool plt_stub_read(const struct elf_file *file, const struct elf_section *section, uint64_t vaddr,
                   struct plt_stub *stub);

#endif
