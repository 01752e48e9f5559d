/*
 * The table that every Go program carries for its own stack traces (.gopclntab), stripped or not: functions, files,
 * lines and what was inlined where. Here it is found and loaded; go_functions.h reads it.
 *
 * Format: the Go sources, src/runtime/symtab.go (pcHeader, moduledata), src/runtime/runtime2.go (_func) and
 * src/cmd/link/internal/ld/pcln.go, which changed in 1.16, 1.18, 1.20 and 1.26.
 */
#ifndef PROF_SYMBOL_GO_TABLE_H
#define PROF_SYMBOL_GO_TABLE_H

#include "elf/elf_file.h"

enum go_layout {
    GO_LAYOUT_1_16, /* absolute addresses */
    GO_LAYOUT_1_18, /* functions by their distance from the start of the text */
    GO_LAYOUT_1_20, /* records have the first line; calls that were inlined are shorter */
};

struct go_table {
    unsigned char *bytes; /* from its header to the end of its section, as the loader would have them at vaddr */
    size_t size;
    uint64_t address; /* vaddr of the header */
    enum go_layout layout;
    unsigned pointer_size; /* bytes */
    unsigned quantum;      /* bytes by which pcs count */
    uint64_t function_count;
    uint64_t names, units, files, steps, functions; /* parts: offsets into `bytes` */
    uint64_t text;                                  /* vaddr from which functions count; GO_LAYOUT_1_16: 0 */
    uint64_t function_data; /* vaddr from which the function's data (inlined calls) count; 0 if unknown */
};

/* -ENOENT if `file` is no Go program, -EINVAL if its table is damaged or of a release before 1.16 (`err` says so),
 * -ENOMEM. On success go_table_close() is owed. */
int go_table_open(struct go_table *table, const struct elf_file *file, struct error *err);

void go_table_close(struct go_table *table);

/* The section with bytes that `address` lies in, or NULL. */
const struct elf_section *go_table_section(const struct elf_file *file, uint64_t address);

#endif
