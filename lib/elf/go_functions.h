/* Finds the Go function at an address, and the calls inlined there, in the function table of the Go runtime
 * (go_table.h). */
#pragma once

#include "elf/go_table.h"

struct go_functions {
    struct go_table table;
    const struct elf_file *file;
    const struct elf_segment *calls_segment; /* the segment that `calls` reads */
    struct bytes calls_bytes;
    struct window calls;
    uint64_t work_left; /* remaining steps, which bounds the work on a damaged table */
};

/* A function in the table. `name` points into the table. */
struct go_function {
    const char *name;
    uint64_t start, end; /* end vaddr, including the padding after the function */
    uint64_t record;     /* offset of the function record in the table */
};

/* A function or inlined call at an address. Texts point into the table's bytes. */
struct go_frame {
    const char *name;
    const char *file; /* path as the compiler wrote it: absolute, or with -trimpath relative to the module, or NULL if
                       * unknown */
    uint32_t line;    /* 1-based, or 0 if unknown */
};

/* As go_table_open(). `file` must stay open until go_functions_close(). */
int go_functions_open(struct go_functions *functions, const struct elf_file *file, struct error *err);
void go_functions_close(struct go_functions *functions);

/* Finds the function that contains the vaddr. Returns false if no function does. */
bool go_functions_find(struct go_functions *functions, uint64_t vaddr, struct go_function *function);

/* Returns the distance from sp to the return address at the instruction at `vaddr`, in bytes, or -1 if unknown. */
int32_t go_functions_find_frame_size(struct go_functions *functions, uint64_t vaddr);

/* Writes `function` and the calls inlined at `vaddr` to `frames`, innermost first. Returns the number of frames: 1 to
 * `max`. */
size_t go_functions_list_frames(struct go_functions *functions, const struct go_function *function, uint64_t vaddr,
                                struct go_frame *frames, size_t max);
