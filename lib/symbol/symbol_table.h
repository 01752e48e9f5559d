/*
 * Finds the symbol that contains an address, in .symtab and .dynsym of one or several ELF files of the same program
 * (the mapped file, its debug file, its .gnu_debugdata).
 */
#pragma once

#include "base/arena.h"
#include "elf/elf_file.h"

/* A symbol that may contain an address. */
struct symbol_candidate {
    uint64_t start;       /* rva */
    uint64_t size;        /* bytes, or 0 (not in the table) */
    uint64_t section_end; /* rva of the end of its section */
    uint32_t name;        /* offset into the strings of `source` */
    uint8_t source;       /* index into symbol_matcher.sources, plus 1, or 0 for no candidate */
    uint8_t rank;         /* higher is better among symbols of the same start */
};

enum { SYMBOL_SOURCES_MAX = 6 };

struct symbol_match {
    const char *name; /* name in the table without its symbol version, in the matcher's arena, or NULL for no symbol */
    uint64_t start;   /* rva */
    uint64_t size;    /* bytes */
    uint64_t end;     /* rva up to which no other symbol matches, counted from the address */
};

struct symbol_matcher {
    const uint64_t *rvas; /* sorted, distinct */
    size_t count;
    struct symbol_candidate *sized;   /* for each address, the innermost symbol with a size that contains the address */
    struct symbol_candidate *unsized; /* for each address, the nearest symbol without a size at or before the address */
    uint64_t *nearest; /* for each address, 1 + the highest start, at or below the address, of a symbol with a size */
    uint64_t *next;    /* for each address, the first start of any symbol after the address */
    struct window sources[SYMBOL_SOURCES_MAX];
    size_t source_count;
    uint64_t work_left; /* bounds the work on overlapping symbols of a damaged file */
    struct arena arena;
    bool no_memory;
    bool finds_data; /* symbols of writable data with a size, instead of symbols of code; set after init */
};

/* `rvas` must outlive the matcher. */
int symbol_matcher_init(struct symbol_matcher *matcher, const uint64_t *rvas, size_t count, struct error *err);

/* Adds the symbols of both tables of `file`, which must stay open until symbol_matcher_finish(). `base` is the vaddr of
 * rva 0 in this file. */
void symbol_matcher_add(struct symbol_matcher *matcher, const struct elf_file *file, uint64_t base);

/* Writes one match for each address to `matches`, which has matcher->count elements. Returns false if memory ran
 * out. */
bool symbol_matcher_finish(struct symbol_matcher *matcher, struct symbol_match *matches);

void symbol_matcher_destroy(struct symbol_matcher *matcher);
