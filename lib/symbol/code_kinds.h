/*
 * Which parts of a section are code of which kind, and which are data: ARM's compilers put constants between functions,
 * and one file may have ARM and Thumb code.
 */
#ifndef PROF_SYMBOL_CODE_KINDS_H
#define PROF_SYMBOL_CODE_KINDS_H

#include "symbol/decoder.h"
#include "symbol/elf_file.h"

#include "base/array.h"

/* From `address` (vaddr) on, up to the next one. */
struct code_mark {
    uint64_t address;
    enum code_kind kind;
};

struct code_kinds {
    ARRAY(struct code_mark) marks; /* by address */
    enum code_kind missing;        /* before the first mark */
};

/* Reads the mapping symbols of `file` for [start, end) of one of its sections. Fails only when memory runs out; then,
 * too, code_kinds_destroy() is owed. */
int code_kinds_find(struct code_kinds *kinds, const struct elf_file *file, uint64_t start, uint64_t end,
                    struct error *err);

/* The kind at an address; `until` is where the next part begins, or UINT64_MAX. */
enum code_kind code_kinds_at(const struct code_kinds *kinds, uint64_t address, uint64_t *until);

void code_kinds_destroy(struct code_kinds *kinds);

#endif
