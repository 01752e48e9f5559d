/*
 * Reads call frame information (CFI): the rules of .eh_frame and .debug_frame for one pc.
 *
 * A frame description entry (FDE) covers the pcs of one function and points to a common information entry (CIE). CIEs
 * and FDEs contain instructions that build a table with a row for each range of pcs. A row has the rule for the
 * canonical frame address (CFA: sp before the call), and the places of the caller's registers. cfi_find_row() runs
 * these instructions up to the row of a pc.
 *
 * Sources: DWARF 5, section 6.4; Linux Standard Base 5.0 core, chapter 10.6 for the differences of .eh_frame.
 */
#pragma once

#include "base/cursor.h"
#include "elf/file_part.h"
#include "unwind/unwind.h"
#include "unwind/work.h"

/* The number of eip in the CFI of 32-bit files. */
enum { CFI_RETURN_32_BIT = 8 };

/* A .eh_frame or .debug_frame section. */
struct cfi_section {
    struct file_part part;
    uint64_t vaddr; /* vaddr of the section's first byte, or 0 for .debug_frame, which is not mapped */
    bool is_debug_frame, is_32_bit;
};

struct cfi_cie {
    struct cursor instructions;
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding; /* DW_EH_PE_* of <dwarf.h>, for the addresses in FDEs */
    uint8_t address_size;
    bool has_augmentation_data; /* 'z' */
    bool is_signal_frame;       /* augmentation 'S': the pcs are those of a signal trampoline */
};

struct cfi_fde {
    struct cfi_cie cie;
    uint64_t start, size; /* pcs: vaddrs */
    bool is_debug_frame;  /* the FDE is from .debug_frame */
    struct cursor instructions;
};

/* Reads the entry at `offset` of the section. Returns 1 and fills in `fde`, which points into the section, if the entry
 * is a usable FDE. Returns 0 for a CIE, and for a damaged or unknown FDE. Returns -1 at the end of the section: a
 * terminator, or an impossible length. Otherwise sets *next to the offset of the following entry. */
int cfi_fde_read(struct cfi_section *section, uint64_t offset, struct cfi_fde *fde, uint64_t *next);

enum cfi_rule {
    CFI_SAME_VALUE, /* the register still holds the caller's value */
    CFI_UNDEFINED,  /* the caller's value is lost; an undefined return address means no caller */
    CFI_OFFSET,     /* the caller's value is in memory at CFA + value */
    CFI_VAL_OFFSET, /* the caller's value is CFA + value */
    CFI_REGISTER,   /* the caller's value is in register `value` */
    CFI_EXPRESSION, /* the caller's value is at the address that the expression at `value` computes */
    CFI_VAL_EXPRESSION,
};

enum cfi_cfa { CFI_CFA_UNSET, CFI_CFA_REGISTER, CFI_CFA_EXPRESSION };

/* The row of one pc. Expressions are stored as offsets, see cfi_get_expression(). */
struct cfi_row {
    uint8_t cfa_kind;           /* enum cfi_cfa */
    uint8_t rules[UNWIND_REGS]; /* enum cfi_rule */
    uint64_t cfa_register;
    int64_t cfa_value; /* offset from the register, or offset of an expression */
    int64_t values[UNWIND_REGS];
    const unsigned char *expressions, *end;
    bool is_signal_frame;
};

/* Computes the row of `pc`, which must be in `fde`. Returns false if the instructions are damaged or unknown, or exceed
 * `work`. */
bool cfi_find_row(const struct cfi_fde *fde, uint64_t pc, struct cfi_row *row, struct unwind_work *work);

/* Returns the bytes of an expression. `value` is `cfa_value`, or an element of `values`. */
struct cursor cfi_get_expression(const struct cfi_row *row, int64_t value);

/* Reads an address in one of the DW_EH_PE encodings (Linux Standard Base, 10.5.1). `vaddr` is the address of the
 * cursor, `data` is the base of data-relative addresses. Returns false if the address is omitted, is indirect, or has
 * an unknown encoding. */
bool cfi_read_address(struct cursor *c, uint8_t encoding, uint64_t vaddr, uint64_t data, uint64_t *address);
