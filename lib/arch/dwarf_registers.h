/* The registers of a frame and of a sample, by DWARF number. */
#pragma once

#if defined(__x86_64__)
#include "arch/x86_64_registers.h"
#elif defined(__aarch64__)
#include "arch/aarch64_registers.h"
#else
#error "docs/architecture.md describes what prof needs for another processor"
#endif

enum { SAMPLE_REGISTERS = UNWIND_REGS };

struct unwind_regs {
    uint64_t r[UNWIND_REGS];
    bool is_32_bit;   /* true for registers of i386 code */
    uint64_t unknown; /* bit set of the DWARF registers with unknown values */
};
