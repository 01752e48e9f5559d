/*
 * Names the entries of the global offset table: pointers that the dynamic linker fills in when it loads a program.
 * Calls to other libraries go through them.
 */
#pragma once

#include "base/arena.h"
#include "elf/elf_file.h"

struct got_entry {
    uint64_t address; /* vaddr of the pointer */
    const char *name; /* demangled name of the symbol it points to; NULL if unnamed */
    uint64_t target;  /* unnamed: the vaddr that it points to (IFUNC: the resolver), or 0 */
};

/* Fills in the name or target of each entry from the relocations of the mapped file. `entries` are sorted by address,
 * and may repeat. Names go to `arena`. Entries without a readable relocation stay empty. */
void got_entries_resolve(const struct elf_file *file, struct got_entry *entries, size_t count, struct arena *arena);
