/* Walks the stacks of 32-bit programs. Private to lib/unwind. */
#pragma once

#include "unwind/address_space.h"

/* Whether the registers are of 32-bit code: they say so, or a 32-bit file is mapped at the pc. */
bool walk_is_32_bit(const struct address_space *space, const struct unwind_regs *regs);

/* As unwind_walk(), for a space that has a cache, and has started to count the work of this walk. */
struct unwind_result walk_32_bit(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs);
