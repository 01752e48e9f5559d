/*
 * Evaluates the DWARF expressions of CFI, programs for a stack machine (DWARF 5, section 2.5). On x86-64, expressions
 * occur in PLT entries, signal trampolines, realigned stacks and hand-written assembly.
 */
#pragma once

#include "base/cursor.h"
#include "unwind/unwind.h"
#include "unwind/work.h"

/* Reads `size` (1 to 8) bytes at `address` of the walked process as a little-endian number. Returns false if the memory
 * is unreadable. */
typedef bool expression_read(void *context, uint64_t address, unsigned size, uint64_t *value);

/* Runs `code`, with `*initial` on the stack unless NULL (the CFA, for register rules). Returns false if the code is
 * damaged, uses operations that are invalid in CFI, reads unreadable memory, or runs too long. Adds each operation to
 * `work`. */
bool evaluate_expression(struct cursor code, const struct unwind_regs *regs, const uint64_t *initial,
                         expression_read *read, void *context, struct unwind_work *work, uint64_t *result);
