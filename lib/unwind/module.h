/*
 * The definition of `struct unwind_module`, for the walker only: finds the CFI and the code of a pc in one ELF file.
 *
 * Opening a module reads only its headers (elf/elf_file.h). The first walk through a module searches for CFI in this
 * order:
 *
 * 1. PT_GNU_EH_FRAME (.eh_frame_hdr): a sorted table of all functions and their FDEs. The program headers have the
 *    address of the table, also in stripped files, so prof builds no table.
 * 2. .eh_frame without that table, or with an unusual table. The section header has the address of .eh_frame, and one
 *    pass over the section builds the table.
 * 3. .debug_frame, possibly compressed, for pcs that the first two do not cover: programs built without unwind tables.
 *
 * Go's functions have no .eh_frame. Each Go program has its own table of frames (elf/go_functions.h).
 *
 * A module loads and caches its data on request, without locks: only one thread at a time may use a module (unwind.h).
 */
#pragma once

#include "base/array.h"
#include "elf/elf_file.h"
#include "elf/go_functions.h"
#include "arch/arch.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

struct fde_entry {
    uint64_t start;  /* vaddr of the first pc */
    uint64_t offset; /* offset of the FDE in its section */
};

/* FDEs sorted by their first pc, for a section without .eh_frame_hdr. */
struct fde_table {
    ARRAY(struct fde_entry) entries;
};

/* .eh_frame_hdr with the binary search table that every linker writes: pairs of 4-byte distances from its own vaddr. */
struct eh_frame_header {
    struct file_part part;
    uint64_t vaddr;
    uint64_t table; /* offset of the pairs in the part, or 0 for no table */
    uint64_t count;
};

enum load_state { NOT_LOADED, LOADED };

struct unwind_module {
    unsigned references;
    struct elf_file elf; /* the file; code without a file has one segment without bytes */
    enum load_state eh_frame_state, debug_frame_state;
    bool is_haskell;
    uint8_t haskell_tests; /* tested places without GHC code */
    enum load_state go_state;
    bool is_go;             /* valid once go_state is LOADED */
    struct go_functions go; /* Go function table; empty if missing or unreadable */
    struct eh_frame_header header;
    struct cfi_section eh_frame, debug_frame;
    struct fde_table eh_frame_table, debug_frame_table;
    unsigned char *owned_frames; /* memory of a decompressed .debug_frame, or of the CFI of code without a file */
};

/* Finds the FDE that covers `vaddr`, or returns false. The FDE is valid as long as the module. */
bool unwind_module_find_fde(struct unwind_module *module, uint64_t vaddr, struct cfi_fde *fde);

/* Whether GHC compiled the code at vaddr, which has no CFI. Reads the code at a few places of the module, until a place
 * has GHC's code. */
bool unwind_module_is_haskell(struct unwind_module *module, uint64_t vaddr);

/* Whether Go linked the module: its functions keep a frame pointer that their CFI does not describe. */
bool unwind_module_is_go(struct unwind_module *module);

/* Returns the distance from sp to the return address at a pc in Go code, in bytes, or -1 if the module's table lacks
 * the pc. */
int32_t unwind_module_find_go_frame_size(struct unwind_module *module, uint64_t vaddr);

/* Whether the module has i386 code. The CFI of i386 code has i386 register numbers. */
bool unwind_module_is_32_bit(const struct unwind_module *module);

/* Whether vaddr lies in the code of the ELF entry point, and this code has no CFI. The code is in the first 128 bytes
 * from the entry point, with no function that CFI describes in between. (If _start has CFI, code without CFI after it,
 * such as gcc's register_tm_clones, is an ordinary function.) */
bool unwind_module_is_entry(struct unwind_module *module, uint64_t vaddr);

/* Returns false for code from a jitdump file, because the module has only the frames of the code, and only the process
 * has the bytes. */
bool unwind_module_has_code(const struct unwind_module *module);

/* Reads the bytes around `vaddr`: ARCH_CODE_BEFORE before, and ARCH_CODE_AFTER from `vaddr`. Returns false, and zeros,
 * if the file does not have these bytes. */
bool unwind_module_read_code_around(struct unwind_module *module, uint64_t vaddr,
                                    unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Copies up to `size` bytes of code at `vaddr`. Returns the number of copied bytes. The segment need not be executable
 * in the file, because a program may make data executable (GCL does for compiled Lisp). */
size_t unwind_module_read_code(struct unwind_module *module, uint64_t vaddr, unsigned char *out, size_t size);

/* Returns the number of FDEs in the module's indexes. */
size_t unwind_module_count_indexed(const struct unwind_module *module);

/* Uses owned_frames, of `frames_size` bytes, as the module's .eh_frame and only CFI. Returns whether the section
 * describes some of the code at [start, start + size). */
bool unwind_module_use_frames(struct unwind_module *module, size_t frames_size, uint64_t eh_frame_vaddr, uint64_t start,
                              uint64_t size);

/* Returns the file's bytes from `vaddr` to the end of its PT_LOAD; empty if vaddr is in none. */
struct bytes unwind_module_get_bytes(const struct unwind_module *module, uint64_t vaddr);
