/* The kernel's symbols, from /proc/kallsyms and /proc/modules (proc(5)). */
#ifndef PROF_SYMBOL_KALLSYMS_H
#define PROF_SYMBOL_KALLSYMS_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbol {
    uint64_t address;
    uint32_t name;   /* offset into `text` */
    uint32_t module; /* offset into `text`; KERNEL_CORE: the kernel itself */
};

enum { KERNEL_CORE = UINT32_MAX };

struct kernel_module {
    uint32_t name; /* offset into `modules_text` */
    uint64_t base; /* where its code begins */
};

struct kallsyms {
    char *text, *modules_text;
    ARRAY(struct kernel_symbol) symbols; /* functions, by address */
    ARRAY(struct kernel_module) modules;
    uint64_t text_start; /* address of _text; 0 if it is hidden */
    char problem[256];   /* why there are no symbols, and which setting changes that; or empty */
};

/* Never fails but for memory: what cannot be read is said in `problem`. The paths are those of proc(5) but in tests. */
int kallsyms_load(struct kallsyms *kallsyms, const char *symbols_path, const char *modules_path, struct error *err);
void kallsyms_destroy(struct kallsyms *kallsyms);

/* The functions of the kernel itself as the bytes of a file, with offsets from _text instead of addresses: the same at
 * each boot, and no secret. The caller frees them; NULL if there are none or memory ran out. */
unsigned char *kallsyms_encode(const struct kallsyms *kallsyms, size_t *size);

/* The reverse, with _text at an address of its own: the module must be NULL in kallsyms_base() and kallsyms_find().
 * -EINVAL if the bytes are damaged, -ENOMEM; then there is nothing to destroy. */
int kallsyms_decode(struct kallsyms *kallsyms, const void *bytes, size_t size);

/* The address from which those of a module ("nf_tables" or "[nf_tables]"), or with NULL those of the kernel itself,
 * count; 0 if it is unknown. */
uint64_t kallsyms_base(const struct kallsyms *kallsyms, const char *module);

/* The symbol that contains the address, in that module (NULL: in the kernel itself), and its size up to the next one (0
 * for the last); NULL if there is none. */
const struct kernel_symbol *kallsyms_find(const struct kallsyms *kallsyms, const char *module, uint64_t address,
                                          uint64_t *size);

/* The same in whichever module: that of code which was not there yet when the modules were listed (BPF programs, in
 * "[bpf]"). Such code has no sizes, so that a symbol reaches at most KALLSYMS_REACH bytes. */
const struct kernel_symbol *kallsyms_find_anywhere(const struct kallsyms *kallsyms, uint64_t address);

enum { KALLSYMS_REACH = 256 << 10 };

/* The module of a symbol, or NULL. */
const char *kallsyms_module(const struct kallsyms *kallsyms, const struct kernel_symbol *symbol);

#endif
