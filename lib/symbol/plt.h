/* Names for the procedure linkage table: "memcpy@plt" for the stub that jumps to memcpy. */
#ifndef PROF_SYMBOL_PLT_H
#define PROF_SYMBOL_PLT_H

#include "symbol/symbol_table.h"

/* Fills in those of `matches` that have no name yet and whose address lies in a stub of the mapped file (x86-64, x86,
 * arm64, arm). Names are demangled, in `arena`. Arguments as of symbol_matcher. */
int plt_match(const struct elf_file *file, uint64_t base, const uint64_t *rvas, size_t count,
              struct symbol_match *matches, struct arena *arena, struct error *err);

#endif
