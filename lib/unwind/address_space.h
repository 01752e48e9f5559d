/*
 * The executable mappings of one process: sorted, without overlap, updated by mmap, fork and exec records. (perf
 * reports no munmap: a new mapping replaces the ones that it covers.) The recorder walks stacks with it (with modules),
 * and assemble symbolizes addresses with it (without). Only one thread at a time may use a space; unwind.h documents
 * what spaces share.
 */
#pragma once

#include "base/array.h"
#include "unwind/unwind.h"
#include "unwind/work.h"

#define MAPPING_NO_LIB UINT32_MAX

struct mapping {
    uint64_t start, end;          /* addresses in the process, end exclusive */
    uint64_t rva;                 /* library-relative address of `start` (vaddr - vaddr of the first PT_LOAD) */
    uint32_t lib;                 /* the caller's number for the file, MAPPING_NO_LIB for anonymous memory (JIT code) */
    struct unwind_module *module; /* NULL: no CFI, or not needed; holds a reference */
};

struct address_space {
    ARRAY(struct ARRAY_TYPE(mapping_block, struct mapping))
    blocks;                     /* sorted by start, like the mappings in each block */
    size_t count;               /* mappings */
    struct unwind_cache *cache; /* of unwind_walk(): created at the first walk, cleared by every change of mappings */
    struct unwind_work work;    /* cost of the process's walks */
    bool is_java;               /* HotSpot is mapped: code without a file is probably its compiled code */
};

/* Adds a mapping, which replaces the parts of older mappings that it covers. Takes its own reference to `module`.
 * Returns false if memory ran out. */
bool address_space_map(struct address_space *space, const struct mapping *mapping);

/* The same for anonymous memory, but does not replace anonymous mappings. */
bool address_space_map_around(struct address_space *space, const struct mapping *mapping);

/* Returns the mapping at `pc`; NULL: none. Valid until the next change. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t pc);

/* Returns the mapping at `pc`, else the first one above it; NULL: none. Valid until the next change. */
const struct mapping *address_space_next(const struct address_space *space, uint64_t pc);

/* Whether `pc` is in no mapping. Then sets *gap to the unmapped range around `pc`. */
struct address_gap {
    uint64_t start, end; /* end exclusive */
};

bool address_space_is_unmapped(const struct address_space *space, uint64_t pc, struct address_gap *gap);

/* Whether a file is mapped in [start, end). */
bool address_space_has_file(const struct address_space *space, uint64_t start, uint64_t end);

/* fork: copies the mappings and the spent work to `child` (zeroed). Returns false if memory ran out. */
bool address_space_copy(struct address_space *child, const struct address_space *parent);

/* exec: removes all mappings. */
void address_space_clear(struct address_space *space);

void address_space_destroy(struct address_space *space);
