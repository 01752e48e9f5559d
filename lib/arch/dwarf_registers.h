/* The registers of a frame, by DWARF number. */
#pragma once

#include "base/standard.h"

/* Registers by their DWARF numbers. x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8..15 r8..r15, 16
 * rip (System V psABI, figure 3.36). */
enum { UNWIND_REG_BP = 6, UNWIND_REG_SP = 7, UNWIND_REG_PC = 16, UNWIND_REGS = 17 };

struct unwind_regs {
    uint64_t r[UNWIND_REGS];
    bool is_32_bit;   /* true for registers of i386 code */
    uint32_t unknown; /* bit set of the DWARF registers with unknown values */
};
