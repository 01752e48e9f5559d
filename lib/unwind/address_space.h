/*
 * The executable mappings of one process: sorted, without overlap, updated by mmap, fork and exec records. (perf
 * reports no munmap: a new mapping replaces the mappings that it covers.) The recorder walks stacks with mappings that
 * have modules. lib/assemble symbolizes addresses with mappings without modules. Only one thread at a time may use an
 * address space; unwind.h documents which data address spaces share.
 */
#pragma once

#include "base/array.h"
#include "unwind/unwind.h"
#include "unwind/work.h"

#define MAPPING_NO_LIB UINT32_MAX

struct mapping {
    uint64_t start, end; /* addresses in the process, end exclusive */
    uint64_t rva;        /* library-relative address of `start` (vaddr - vaddr of the first PT_LOAD) */
    /* the caller's number of the mapped file, or MAPPING_NO_LIB for anonymous memory (JIT code) */
    uint32_t lib;
    struct unwind_module *module; /* NULL without CFI, or if the caller needs no CFI; the mapping owns a reference */
};

struct address_space {
    /* Blocks sorted by start, like the mappings in each block. */
    ARRAY(struct ARRAY_TYPE(mapping_block, struct mapping)) blocks;
    size_t count; /* mappings */
    /* rule cache of unwind_walk(): created at the first walk, cleared at every change of mappings */
    struct unwind_cache *cache;
    struct unwind_work work; /* cost of the walks of this process */
    bool is_java;            /* HotSpot is mapped: code without a file is probably its compiled code */
};

/* Adds a mapping, which replaces the parts of older mappings that it covers. The mapping takes its own reference to
 * `module`. Returns false if memory ran out. */
bool address_space_map(struct address_space *space, const struct mapping *mapping);

/* Adds a mapping of anonymous memory, only where no anonymous memory is mapped yet. */
bool address_space_map_around(struct address_space *space, const struct mapping *mapping);

/* Returns the mapping at `pc`, or NULL: none. Valid until the next change. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t pc);

/* Returns the mapping at `pc`, else the first mapping above `pc`, or NULL: none. Valid until the next change. */
const struct mapping *address_space_find_at_or_above(const struct address_space *space, uint64_t pc);

/* Returns the mapping at `pc`, else the last mapping below `pc`, or NULL: none. Valid until the next change. */
const struct mapping *address_space_find_at_or_below(const struct address_space *space, uint64_t pc);

struct address_gap {
    uint64_t start, end; /* end exclusive */
};

/* Whether `pc` is in no mapping. If so, sets *gap to the unmapped range around `pc`. */
bool address_space_is_unmapped(const struct address_space *space, uint64_t pc, struct address_gap *gap);

/* Whether a file is mapped in [start, end). */
bool address_space_has_file(const struct address_space *space, uint64_t start, uint64_t end);

/* fork: copies the mappings and the spent work to `child` (zeroed). Returns false if memory ran out. */
bool address_space_copy(struct address_space *child, const struct address_space *parent);

/* exec: removes all mappings. */
void address_space_clear(struct address_space *space);

void address_space_destroy(struct address_space *space);
