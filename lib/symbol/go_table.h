/*
 * Finds and loads the table that every Go program, stripped or not, carries for its own stack traces (.gopclntab):
 * functions, files, lines and inlined calls. go_functions.h reads it.
 *
 * Format: the Go sources, src/runtime/symtab.go (pcHeader, moduledata), src/runtime/runtime2.go (_func) and
 * src/cmd/link/internal/ld/pcln.go, which changed in 1.16, 1.18, 1.20 and 1.26.
 */
#pragma once

#include "elf/elf_file.h"

enum go_layout {
    GO_LAYOUT_1_16, /* absolute addresses */
    GO_LAYOUT_1_18, /* functions as offsets from the start of the text */
    GO_LAYOUT_1_20, /* records have the first line; inlined calls are shorter */
};

struct go_table {
    unsigned char *bytes; /* from the table's header to the end of its section, relocated */
    size_t size;
    uint64_t address; /* vaddr of the header */
    enum go_layout layout;
    unsigned pointer_size; /* bytes */
    unsigned quantum;      /* pcs are multiples of this */
    uint64_t function_count;
    uint64_t names, units, files, steps, functions; /* tables: offsets into `bytes` */
    uint64_t text;                                  /* vaddr of offset 0 of functions; GO_LAYOUT_1_16: 0 */
    uint64_t function_data; /* vaddr of offset 0 of function data (inlined calls); 0 if unknown */
};

/* -ENOENT if `file` is not a Go program; -EINVAL with a sentence if its table is damaged or older than Go 1.16;
 * -ENOMEM. On success call go_table_close(). */
int go_table_open(struct go_table *table, const struct elf_file *file, struct error *err);

void go_table_close(struct go_table *table);

/* The section, with bytes in the file, that contains `address`; or NULL. */
const struct elf_section *go_table_section(const struct elf_file *file, uint64_t address);
