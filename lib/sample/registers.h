/*
 * The user registers of a sample: which of them perf is asked for, and what DWARF calls them. The one place that knows
 * the architecture; another one needs its own two tables.
 */
#ifndef PROF_SAMPLE_REGISTERS_H
#define PROF_SAMPLE_REGISTERS_H

#include <stdint.h>

#ifndef __x86_64__
#error "the numbers of the user registers are known for x86-64 only"
#endif

enum { SAMPLE_REGISTERS = 17 }; /* registers of a sample, kept by their DWARF numbers: 16 is the pc */

/* Bits of perf_event_attr.sample_regs_user, from asm/perf_regs.h: ax bx cx dx si di bp sp ip, and r8 to r15. The
 * segment registers between them are refused (EINVAL), and nothing needs them. */
#define SAMPLE_REGISTERS_MASK UINT64_C(0xff01ff)

/* The DWARF number of each register, in the order in which perf writes them (System V psABI, figure 3.36). */
static const uint8_t sample_register_dwarf[SAMPLE_REGISTERS] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                                8, 9, 10, 11, 12, 13, 14, 15};

#endif
