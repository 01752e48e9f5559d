/*
 * Reads ARM mapping symbols, which mark ARM code, Thumb code and data in a section. Compilers put constants between
 * functions.
 */
#pragma once

#include "elf/elf_file.h"
#include "symbol/decoder.h"

#include "base/array.h"

/* The kind of code from `address` (vaddr) up to the next mapping symbol. */
struct mapping_symbol {
    uint64_t address;
    enum code_kind kind;
};

struct mapping_symbols {
    ARRAY(struct mapping_symbol) marks; /* by address */
    enum code_kind missing;             /* kind of code before the first mark */
};

/* Reads the mapping symbols in [start, end) of one section of `file`. Fails only when memory runs out. Call
 * mapping_symbols_destroy() even after a failure. */
int mapping_symbols_find(struct mapping_symbols *kinds, const struct elf_file *file, uint64_t start, uint64_t end,
                         struct error *err);

/* Returns the kind of code at an address. `until` gets the start of the next part, or UINT64_MAX. */
enum code_kind mapping_symbols_get_kind(const struct mapping_symbols *kinds, uint64_t address, uint64_t *until);

void mapping_symbols_destroy(struct mapping_symbols *kinds);
