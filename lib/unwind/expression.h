/*
 * DWARF expressions: the small stack machine with which CFI describes what its offsets cannot (DWARF 5, section 2.5).
 * On x86-64 they occur in PLT entries, signal trampolines, realigned stacks and hand-written assembly.
 */
#pragma once

#include "base/cursor.h"
#include "unwind/unwind.h"
#include "unwind/work.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads `size` (1 to 8) bytes at `address` of the walked process as a little-endian number; false if it cannot. */
typedef bool expression_read(void *context, uint64_t address, unsigned size, uint64_t *value);

/* Runs `code`, with `*initial` on the stack before it if not NULL (the CFA, for register rules). False if the code is
 * damaged, uses what CFI may not, reads memory that is not there, or runs on for too long. Each
 * operation adds to `work`. */
bool expression_evaluate(struct cursor code, const struct unwind_regs *regs, const uint64_t *initial,
                         expression_read *read, void *context, struct unwind_work *work, uint64_t *result);
