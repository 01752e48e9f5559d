/* Which Go function is at an address, with the calls that were inlined there, from the program's own table. */
#ifndef PROF_SYMBOL_GO_FUNCTIONS_H
#define PROF_SYMBOL_GO_FUNCTIONS_H

#include "symbol/go_table.h"

struct go_functions {
    struct go_table table;
    const struct elf_file *file;
    const struct elf_section *calls_section; /* that `calls` looks at */
    struct window calls;
    uint64_t work_left; /* bounds what a damaged table can cause */
};

/* A function as it lies in the text. `name` is in the table's bytes. */
struct go_function {
    const char *name;
    uint64_t start, end; /* vaddr; with the padding behind it */
    uint64_t record;     /* where the table describes it: offset into its bytes */
};

/* One of the functions at an address. Texts are in the table's bytes. */
struct go_frame {
    const char *name;
    const char *file; /* as the compiler wrote it: absolute, or with -trimpath below the module; NULL if unknown */
    uint32_t line;    /* 1-based; 0 if unknown */
};

/* As go_table_open(). `file` must stay open until go_functions_close(). */
int go_functions_open(struct go_functions *functions, const struct elf_file *file, struct error *err);
void go_functions_close(struct go_functions *functions);

/* The function that contains the vaddr; false if there is none. */
bool go_functions_find(const struct go_functions *functions, uint64_t vaddr, struct go_function *function);

/* The functions at a vaddr of `function`, the innermost first; their number, at most `max`, at least 1. */
size_t go_functions_frames(struct go_functions *functions, const struct go_function *function, uint64_t vaddr,
                           struct go_frame *frames, size_t max);

#endif
