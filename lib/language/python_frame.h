/*
 * Encodes a Python frame as a pc: the number of its function (SPOOL_PYTHON_FUNCTION) and its line. No code can have
 * such an address, because the address is not canonical on x86-64 and arm64.
 */
#pragma once

#include "base/standard.h"

enum { PYTHON_LINE_BITS = 24, PYTHON_LINE_MAX = (1 << PYTHON_LINE_BITS) - 1 };

/* `line` is a 1-based line number, or 0 if unknown. */
static inline uint64_t python_frame_make(uint32_t function, uint32_t line)
{
    return UINT64_C(1) << 62 | (uint64_t)function << PYTHON_LINE_BITS | (line <= PYTHON_LINE_MAX ? line : 0);
}

static inline bool python_frame_is(uint64_t pc)
{
    return pc >> 62 == 1;
}

static inline uint32_t python_frame_get_function(uint64_t pc)
{
    return (uint32_t)(pc >> PYTHON_LINE_BITS);
}

static inline uint32_t python_frame_get_line(uint64_t pc)
{
    return (uint32_t)pc & PYTHON_LINE_MAX;
}
