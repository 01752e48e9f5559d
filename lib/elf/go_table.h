/*
 * Finds the table that every Go program, stripped or not, carries for its own stack traces (.gopclntab): functions, the
 * sizes of their frames, files, lines and inlined calls. go_functions.h reads the table.
 *
 * Format: the Go sources, src/runtime/symtab.go (pcHeader, moduledata), src/runtime/runtime2.go (_func) and
 * src/cmd/link/internal/ld/pcln.go, which changed in 1.16, 1.18, 1.20 and 1.26.
 */
#pragma once

#include "elf/elf_file.h"
#include "elf/file_part.h"

enum go_layout {
    GO_LAYOUT_1_16, /* absolute addresses */
    GO_LAYOUT_1_18, /* function addresses are offsets from the start of the text */
    GO_LAYOUT_1_20, /* function records have the first line; inlined call records are shorter */
};

struct go_table {
    struct file_part part;    /* bytes from the table's header to the end of its section or segment */
    unsigned char *relocated; /* copy with relocated addresses, which replaces the bytes of the file, or NULL */
    uint64_t address;         /* vaddr of the header */
    enum go_layout layout;
    unsigned pointer_size; /* bytes */
    unsigned quantum;      /* pcs are multiples of this */
    uint64_t function_count;
    uint64_t names, units, files, steps, functions; /* offsets of the tables in `part` */
    uint64_t text;                                  /* vaddr from which function offsets count; GO_LAYOUT_1_16: 0 */
    bool has_searched;                              /* the search for the moduledata is done */
    uint64_t function_data;                         /* vaddr from which offsets of inlined calls count, or 0 if unknown.
                                                     * go_table_search_module() sets it */
};

/* Opens the Go function table of `file`. Reads only the header; lookups read the rest, so `file` must stay open.
 * Returns -ENOENT if `file` is not a Go program, -EINVAL with a sentence if its table is damaged or older than Go 1.16,
 * or -ENOMEM. On success call go_table_close(). */
int go_table_open(struct go_table *table, const struct elf_file *file, struct error *err);

/* Searches the program's data for its moduledata, once. */
void go_table_search_module(struct go_table *table, const struct elf_file *file);

void go_table_close(struct go_table *table);

/* Returns a cursor over `size` bytes at `offset` of one part of the table, or fewer at the end of the part. Fails if no
 * bytes are left. */
struct cursor go_table_read_at(struct go_table *table, uint64_t part, uint64_t offset, size_t size);
