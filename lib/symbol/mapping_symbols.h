/*
 * Which parts of a section are code of which kind, and which are data: ARM's compilers put constants between functions,
 * and one file may have ARM and Thumb code.
 */
#ifndef PROF_SYMBOL_MAPPING_SYMBOLS_H
#define PROF_SYMBOL_MAPPING_SYMBOLS_H

#include "elf/elf_file.h"
#include "symbol/decoder.h"

#include "base/array.h"

/* From `address` (vaddr) on, up to the next one. */
struct mapping_symbol {
    uint64_t address;
    enum code_kind kind;
};

struct mapping_symbols {
    ARRAY(struct mapping_symbol) marks; /* by address */
    enum code_kind missing;             /* before the first mark */
};

/* Reads the mapping symbols of `file` for [start, end) of one of its sections. Fails only when memory runs out; then,
 * too, mapping_symbols_destroy() is owed. */
int mapping_symbols_find(struct mapping_symbols *kinds, const struct elf_file *file, uint64_t start, uint64_t end,
                         struct error *err);

/* The kind at an address; `until` is where the next part begins, or UINT64_MAX. */
enum code_kind mapping_symbols_at(const struct mapping_symbols *kinds, uint64_t address, uint64_t *until);

void mapping_symbols_destroy(struct mapping_symbols *kinds);

#endif
