/*
 * x86-64: registers, system calls, and the place of return addresses. aarch64_registers.h has the same names.
 * DWARF numbers of registers: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8..15 r8..r15, 16 rip (System V
 * psABI, figure 3.36).
 */
#pragma once

#include "base/standard.h"

enum { UNWIND_REG_BP = 6, UNWIND_REG_SP = 7, UNWIND_REG_PC = 16, UNWIND_REGS = 17 };

/* Register of the return address in CFI, and whether it holds the return address of a function that calls no other. */
enum { UNWIND_REG_RETURN = UNWIND_REG_PC, ARCH_HAS_LINK_REGISTER = false };

/* perf_event_attr.sample_regs_user, bits from asm/perf_regs.h: ax bx cx dx si di bp sp ip, r8 to r15. The kernel
 * refuses the segment registers (EINVAL), and unwinding does not need them. */
#define SAMPLE_REGISTERS_MASK UINT64_C(0xff01ff)

/* DWARF number of each register, in the order of perf's copy. */
static const uint8_t sample_register_dwarf[UNWIND_REGS] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};

/* Register of a system call's result: rax. */
enum { ARCH_SYSCALL_RESULT = 0 };

/* Size of the system call instruction, in bytes. The kernel reports the pc after the system call instruction. */
enum { ARCH_SYSCALL_SIZE = 2 };

/* Registers that pass arguments to a system call: rdi, rsi, rdx, r10, r8, r9. */
enum { ARCH_SYSCALL_ARGUMENTS = 6 };
static const uint8_t arch_syscall_arguments[ARCH_SYSCALL_ARGUMENTS] = {5, 4, 1, 10, 8, 9};

/* Name of the processor, as uname reports it. */
#define ARCH_NAME "x86_64"

/* e_machine of this processor's ELF files, and of its 32-bit programs: EM_X86_64, EM_386. */
enum { ARCH_ELF_MACHINE = 62, ARCH_ELF_MACHINE_32_BIT = 3 };

/* Callee-saved registers (System V psABI, 3.2.1), the frame pointer first, and a bit set of them. */
enum { ARCH_SAVED_REGISTERS = 6 };
static const uint8_t arch_saved_registers[ARCH_SAVED_REGISTERS] = {UNWIND_REG_BP, 3 /* rbx */, 12, 13, 14, 15};
typedef uint16_t arch_saved_set;

/* Whether the registers are from a system call, which puts the pc into rcx, or from execve, which clears the registers
 * for the new program. */
static inline bool arch_is_in_system_call(const uint64_t r[UNWIND_REGS])
{
    enum { RAX = 0, RBX = 3, RCX = 2 };
    bool is_cleared = !r[RAX] && !r[RBX] && !r[RCX] && !r[UNWIND_REG_BP];
    return is_cleared || r[RCX] == r[UNWIND_REG_PC];
}

/* Sets the register by which arch_is_in_system_call() recognizes a system call. */
static inline void arch_set_in_system_call(uint64_t r[UNWIND_REGS])
{
    r[2] = r[UNWIND_REG_PC];
}

/* Returns an address without the bits that a program can use as a tag. Mappings and copies of stacks have addresses
 * without tags. */
static inline uint64_t arch_strip_tag(uint64_t address)
{
    return address;
}

/* Returns an address without a tag, and without the signature that the processor adds to a return address in memory. */
static inline uint64_t arch_strip_signature(uint64_t address)
{
    return address;
}
