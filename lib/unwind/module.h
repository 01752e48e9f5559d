/*
 * Inside of `struct unwind_module`, for the walker: finding the CFI of a pc in one ELF file.
 *
 * Opening a module reads its headers only. The CFI is found at the first walk into it, in this order:
 *
 * 1. PT_GNU_EH_FRAME (.eh_frame_hdr): a sorted table of all functions with the place of each FDE, reached from the
 * program headers alone, so that it is there in any stripped file. Nothing needs to be built.
 * 2. .eh_frame without that table (or with a table of a kind that no linker writes): found through the section headers,
 *    and gone through once to build the table.
 * 3. .debug_frame, for a pc that the first two do not cover: Go's functions, and programs built without unwind tables.
 * It may be compressed with zlib (SHF_COMPRESSED, or .zdebug_frame); one compressed otherwise counts as absent.
 */
#ifndef PROF_UNWIND_MODULE_H
#define PROF_UNWIND_MODULE_H

#include "base/array.h"
#include "unwind/arch.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

struct segment { /* a PT_LOAD */
    uint64_t vaddr, file_offset, file_size;
    bool is_executable;
};

struct fde_place {
    uint64_t start;  /* vaddr of the first pc */
    uint64_t offset; /* of the FDE in its section */
};

/* FDEs sorted by their first pc; built when no table comes with the section. */
struct fde_table {
    ARRAY(struct fde_place) places;
};

/* .eh_frame_hdr with the binary search table that every linker writes: pairs of 4-byte distances from its own vaddr. */
struct eh_frame_header {
    struct file_part part;
    uint64_t vaddr;
    uint64_t table; /* offset of the pairs in the part; 0 if there is no such table */
    uint64_t count;
};

enum load_state { NOT_LOADED, LOADED };

struct unwind_module {
    unsigned references;
    struct file_source *file;              /* NULL for an image in memory */
    unsigned char *memory;                 /* own copy of an image in memory, NULL for a file */
    uint64_t size;                         /* of the file or image */
    uint64_t entry;                        /* e_entry; 0 if none */
    uint64_t section_headers;              /* e_shoff; 0 if none */
    uint16_t section_count, section_names; /* as in the ELF header, 0 and SHN_XINDEX included */
    uint64_t header_vaddr, header_size;    /* of PT_GNU_EH_FRAME; size 0 if there is none */
    ARRAY(struct segment) segments;        /* in the order of the file; [0] is the base */

    struct note_place { /* the first PT_NOTE segments */
        uint64_t file_offset, size;
    } notes[4];
    unsigned note_count;

    enum load_state eh_frame_state, debug_frame_state;
    bool is_go; /* known once eh_frame_state is LOADED */
    struct eh_frame_header header;
    struct cfi_section eh_frame, debug_frame;
    struct fde_table eh_frame_table, debug_frame_table;
    unsigned char *inflated; /* behind debug_frame, if it was compressed */
};

/* The FDE that covers `vaddr`; false if there is none. The result is valid as long as the module. */
bool unwind_module_find(struct unwind_module *module, uint64_t vaddr, struct cfi_fde *fde);

/* True if the module was linked by Go: its functions keep a frame pointer, and their CFI says nothing about it. */
bool unwind_module_is_go(struct unwind_module *module);

/* True if vaddr lies in the code that the ELF entry point begins, and that code has no CFI: in the first 128 bytes from
 * the entry point, with no described function at it or in between. (Where _start is described, what follows it and is
 * not, like gcc's register_tm_clones, is an ordinary function.) */
bool unwind_module_is_entry(struct unwind_module *module, uint64_t vaddr);

/* The bytes around `vaddr`: ARCH_CODE_BEFORE before, ARCH_CODE_AFTER from it; 0 for what cannot be read. */
void unwind_module_code(struct unwind_module *module, uint64_t vaddr,
                        unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Copies up to `size` bytes of code at `vaddr`; returns how many there are. */
size_t unwind_module_read_code(struct unwind_module *module, uint64_t vaddr, unsigned char *out, size_t size);

/* Internal to the module: loading, see frame_table.c. Both are done at most once; failing leaves an empty table. */
void unwind_module_load_eh_frame(struct unwind_module *module);
void unwind_module_load_debug_frame(struct unwind_module *module);

/* Takes all of the module's memory for its .eh_frame, the only one that it has. Returns whether it describes some of
 * the code at [start, start + size). */
bool unwind_module_use_frames(struct unwind_module *module, uint64_t eh_frame_vaddr, uint64_t start, uint64_t size);

/* The part of the file or image at `file_offset`, cut to its end. 0, or a negative errno value and an empty part. */
int unwind_module_part(struct unwind_module *module, uint64_t file_offset, uint64_t size, struct file_part *part);

/* Copies the description of a note of this owner and type (elf/elf_note.h), of at most `max` bytes. Returns whether
 * there is one. */
bool unwind_module_note(struct unwind_module *module, const char owner[4], uint32_t type, unsigned char *out,
                        size_t max, size_t *size);

/* The PT_LOAD whose bytes in the file hold vaddr, or NULL. */
const struct segment *unwind_module_segment(const struct unwind_module *module, uint64_t vaddr);

#endif
