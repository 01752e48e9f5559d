/*
 * The executable mappings of one process: sorted, without overlap, changed as mmap, fork and exec records arrive. (perf
 * reports no munmap: a new mapping replaces what it covers.) The recorder walks with it (with modules), and assemble
 * names addresses with it (without). Only one thread at a time may use a space; unwind.h says what spaces share.
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
    struct unwind_module *module; /* NULL if there is no CFI or it is not needed; holds a reference */
};

struct address_space {
    ARRAY(struct ARRAY_TYPE(mapping_block, struct mapping)) blocks; /* by start, as the mappings of each */
    size_t count;                                                   /* mappings */
    struct unwind_cache *cache; /* of unwind_walk(): made at the first walk, emptied by every change of mappings */
    struct unwind_work work;    /* of the walks of its process */
    bool is_java;               /* HotSpot is mapped: code without a file is probably what it compiled */
};

/* Adds a mapping, which replaces what it covers of older ones. Takes its own reference to `module`. Returns false if
 * memory ran out. */
bool address_space_map(struct address_space *space, const struct mapping *mapping);

/* The same for anonymous memory, but leaves the parts that are anonymous memory already as they are. */
bool address_space_map_around(struct address_space *space, const struct mapping *mapping);

/* The mapping that holds `pc`, or NULL. Valid until the next change. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t pc);

/* The mapping that holds `pc`, or else the first one above it; NULL if there is none. Valid until the next change. */
const struct mapping *address_space_next(const struct address_space *space, uint64_t pc);

/* Whether nothing is mapped at `pc`; then `gap` is set to the addresses around it that are not mapped either. */
struct address_gap {
    uint64_t start, end; /* end exclusive */
};

bool address_space_is_unmapped(const struct address_space *space, uint64_t pc, struct address_gap *gap);

/* Whether the code of some file is mapped between these addresses (`end` exclusive). */
bool address_space_has_file(const struct address_space *space, uint64_t start, uint64_t end);

/* fork: `child` (zeroed) gets the same mappings, and has done the same work. Returns false if memory ran out. */
bool address_space_copy(struct address_space *child, const struct address_space *parent);

/* exec: no mapping is left. */
void address_space_clear(struct address_space *space);

void address_space_destroy(struct address_space *space);
