/* Names the stubs of the procedure linkage table: "memcpy@plt" for the stub that jumps to memcpy. */
#pragma once

#include "symbol/symbol_table.h"

/* Names the `matches` without a name that lie in a PLT stub of the mapped file (x86-64, x86, arm64, arm). Demangled
 * names go to `arena`. symbol_matcher_init() documents the arguments. */
int plt_name_matches(const struct elf_file *file, uint64_t base, const uint64_t *rvas, size_t count,
                     struct symbol_match *matches, struct arena *arena, struct error *err);
