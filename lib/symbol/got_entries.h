/*
 * Pointers that the dynamic linker fills in when a program is loaded: the entries of the global offset table, through
 * which calls of other libraries go.
 */
#ifndef PROF_SYMBOL_GOT_ENTRIES_H
#define PROF_SYMBOL_GOT_ENTRIES_H

#include "base/arena.h"
#include "elf/elf_file.h"

struct got_entry {
    uint64_t address; /* vaddr of the pointer */
    const char *name; /* of the symbol whose address it gets, demangled; NULL if it has none */
    uint64_t target;  /* without a name: the vaddr that it gets (of an IFUNC: of what chooses the function), or 0 */
};

/* Fills in the name or the target of each entry from the relocations of the mapped file. `entries` are sorted by
 * address; an address may come several times. Names are in `arena`. What is not found or cannot be read stays empty. */
void got_entries_resolve(const struct elf_file *file, struct got_entry *entries, size_t count, struct arena *arena);

#endif
