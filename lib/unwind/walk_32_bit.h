/* Walks the stacks of 32-bit programs. Private to lib/unwind. */
#pragma once

#include "unwind/address_space.h"

/* Whether the registers belong to 32-bit code: by their flag, or by a 32-bit file mapped at the pc. */
bool walk_is_32_bit(const struct address_space *space, const struct unwind_regs *regs);

/* As unwind_walk(). The space must have a cache, and the caller must have called unwind_work_start_walk(). */
struct unwind_result walk_32_bit(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs);
