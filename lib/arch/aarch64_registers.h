/*
 * arm64: registers, system calls, and the place of return addresses. x86_64_registers.h has the same names. DWARF
 * numbers of registers: 0..28 x0..x28, 29 the frame pointer, 30 the link register lr, 31 sp, 32 pc (DWARF for the Arm
 * 64-bit Architecture, 4.1).
 */
#pragma once

#include "base/standard.h"

enum { UNWIND_REG_BP = 29, UNWIND_REG_SP = 31, UNWIND_REG_PC = 32, UNWIND_REGS = 33 };

/* lr holds the return address until a function saves it. */
enum { UNWIND_REG_RETURN = 30, ARCH_HAS_LINK_REGISTER = true };

/* All registers of asm/perf_regs.h, which are in the order of the DWARF numbers. */
#define SAMPLE_REGISTERS_MASK UINT64_C(0x1ffffffff)
static const uint8_t sample_register_dwarf[UNWIND_REGS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                           11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                           22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

enum { ARCH_SYSCALL_RESULT = 0, ARCH_SYSCALL_SIZE = 4, ARCH_SYSCALL_ARGUMENTS = 6 };
static const uint8_t arch_syscall_arguments[ARCH_SYSCALL_ARGUMENTS] = {0, 1, 2, 3, 4, 5};

#define ARCH_NAME "aarch64"

/* EM_AARCH64, and EM_NONE: prof does not walk the stacks of 32-bit programs. */
enum { ARCH_ELF_MACHINE = 183, ARCH_ELF_MACHINE_32_BIT = 0 };

/* Callee-saved registers (AAPCS64, 6.1.1). */
enum { ARCH_SAVED_REGISTERS = 11 };
static const uint8_t arch_saved_registers[ARCH_SAVED_REGISTERS] = {
    UNWIND_REG_BP, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
typedef uint32_t arch_saved_set;

/* A system call changes no register, and its number is in x8. execve clears the registers. */
static inline bool arch_is_in_system_call(const uint64_t r[UNWIND_REGS])
{
    enum { CALLS = 512 };
    return r[8] < CALLS;
}

static inline void arch_set_in_system_call(uint64_t r[UNWIND_REGS])
{
    r[8] = 0;
}

/* Bits 56 to 63 are a tag, which the processor ignores (Linux, Documentation/arch/arm64/tagged-pointers.rst). Without a
 * tag, these bits equal bit 55, which is 0 in user addresses. */
static inline uint64_t arch_strip_tag(uint64_t address)
{
    return (uint64_t)((int64_t)(address << 8) >> 8);
}

/* xpaclri, a nop on processors without signatures. The width of a signature depends on the kernel. */
static inline uint64_t arch_strip_signature(uint64_t address)
{
    register uint64_t lr __asm__("x30") = address;
    __asm__("hint #7" : "+r"(lr));
    return arch_strip_tag(lr);
}
