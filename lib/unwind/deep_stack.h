/*
 * If a stack has more frames than fit, drops frames from its middle. Private to lib/unwind.
 */
#pragma once

#include "base/standard.h"

/* Drops frames after the first half of a full array of `max_pcs` pcs, and of `sps` unless NULL, and adds their number
 * to *omitted. One pc stands for the dropped frames (unwind_omitted). Returns the number of dropped frames, or 0 if the
 * stack is too deep. */
size_t deep_stack_omit_middle(uint64_t *pcs, uint64_t *sps, size_t max_pcs, uint64_t *omitted);
