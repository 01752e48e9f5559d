/*
 * Names the entries of the global offset table: pointers that the dynamic linker fills in when it loads a program.
 * Calls to other libraries use these pointers.
 */
#pragma once

#include "base/arena.h"
#include "elf/elf_file.h"

struct got_entry {
    uint64_t address; /* vaddr of the pointer */
    const char *name; /* demangled name of the symbol that the entry points to, or NULL if unnamed */
    uint64_t target;  /* for an entry without a name, the vaddr to which the entry points (for an IFUNC, the resolver),
                         or 0 */
};

/* Sorts the entries by address, and drops duplicates. Returns the number of entries left. */
size_t got_entries_sort(struct got_entry *entries, size_t count);

/* Returns the entry of an address among sorted entries, or NULL for none. */
struct got_entry *got_entries_find(struct got_entry *entries, size_t count, uint64_t address);

/* Fills in the name or target of each entry from the relocations of the mapped file. `entries` are sorted by
 * got_entries_sort(). Names go to `arena`. Entries without a readable relocation stay empty. */
void got_entries_resolve(const struct elf_file *file, struct got_entry *entries, size_t count, struct arena *arena);
