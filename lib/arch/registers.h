/*
 * The user registers of a sample: the registers that perf copies, and their DWARF numbers. A port adds its own two
 * tables.
 */
#pragma once

#include "base/standard.h"

#ifndef __x86_64__
#error "this file has the user register numbers of x86-64 only"
#endif

enum { SAMPLE_REGISTERS = 17 }; /* registers of a sample, indexed by DWARF number: 16 is the pc */

/* perf_event_attr.sample_regs_user, bits from asm/perf_regs.h: ax bx cx dx si di bp sp ip, r8 to r15. The kernel
 * refuses the segment registers (EINVAL), and unwinding does not need them. */
#define SAMPLE_REGISTERS_MASK UINT64_C(0xff01ff)

/* DWARF number of each register, in the order of perf's copy (System V psABI, figure 3.36). */
static const uint8_t sample_register_dwarf[SAMPLE_REGISTERS] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                                8, 9, 10, 11, 12, 13, 14, 15};
