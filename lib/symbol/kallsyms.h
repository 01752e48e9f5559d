/* The kernel's symbols, from /proc/kallsyms and /proc/modules (proc(5)). */
#pragma once

#include "base/array.h"
#include "base/error.h"

struct kernel_symbol {
    uint64_t address;
    uint32_t name;   /* offset into `text` */
    uint32_t module; /* offset into `text`, or KERNEL_CORE (the kernel itself) */
};

enum { KERNEL_CORE = UINT32_MAX };

struct kernel_module {
    uint32_t name; /* offset into `modules_text` */
    uint64_t base; /* start of the module's code */
};

struct kallsyms {
    char *text, *modules_text;
    ARRAY(struct kernel_symbol) symbols; /* functions, by address */
    ARRAY(struct kernel_module) modules;
    uint64_t text_start; /* address of _text, or 0 if the kernel hides the address */
    char problem[256];   /* the reason for missing symbols, and the setting that changes it; or empty */
};

/* Reads both files, at the paths of proc(5) except in tests. `problem` gets the reason if one cannot be read. Fails
 * only when memory runs out. */
int kallsyms_load(struct kallsyms *kallsyms, const char *symbols_path, const char *modules_path, struct error *err);
void kallsyms_destroy(struct kallsyms *kallsyms);

/* Encodes the functions of the core kernel as the bytes of a file. Offsets from _text replace addresses, because
 * offsets are the same at each boot and reveal no address. The caller frees the bytes. NULL if the kernel has no
 * functions, or memory ran out. */
unsigned char *kallsyms_encode(const struct kallsyms *kallsyms, size_t *size);

/* Decodes the parts of an encoded file that contain the functions at these sorted rvas; the address of _text is
 * arbitrary. Afterwards kallsyms_find_base() and kallsyms_find() need module NULL. Returns -EINVAL for damaged data, or
 * -ENOMEM; do not destroy `kallsyms` after a failure. */
int kallsyms_decode(struct kallsyms *kallsyms, int file, const uint64_t *rvas, size_t count);

/* Returns the address of rva 0 in a module ("nf_tables" or "[nf_tables]") or, with NULL, in the core kernel, or 0 if
 * unknown. */
uint64_t kallsyms_find_base(const struct kallsyms *kallsyms, const char *module);

/* Returns the symbol in a module (NULL: the core kernel) that contains the address, and its size up to the next symbol
 * (0 for the last symbol). Returns NULL for none. */
const struct kernel_symbol *kallsyms_find(const struct kallsyms *kallsyms, const char *module, uint64_t address,
                                          uint64_t *size);

/* Finds the symbol in any module, also in code that was loaded after /proc/modules was read (BPF programs, in "[bpf]").
 * Such code has no sizes, so a symbol reaches at most KALLSYMS_REACH bytes. */
const struct kernel_symbol *kallsyms_find_anywhere(const struct kallsyms *kallsyms, uint64_t address);

enum { KALLSYMS_REACH = 256 << 10 };

/* Returns the module of a symbol, or NULL. */
const char *kallsyms_get_module(const struct kallsyms *kallsyms, const struct kernel_symbol *symbol);
