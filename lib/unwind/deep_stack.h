/*
 * Stacks with more frames than there is room for keep both ends. Private to lib/unwind.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Makes room in `max_pcs` full pcs, and in `sps` unless it is NULL: drops frames after the first half, and counts them
 * in *omitted; one pc stands for them (unwind_omitted). Returns how many it dropped; 0: the stack is too deep. */
size_t deep_stack_omit(uint64_t *pcs, uint64_t *sps, size_t max_pcs, uint64_t *omitted);
