/*
 * What the walker must know about a machine: its registers, its frame pointer convention, the layout of a signal frame,
 * and how to find callers in code without CFI. x86-64 is the only architecture so far: x86_64.c recognizes code that is
 * the same in many programs, x86_64_return.c reads other code ahead to its return, x86_64_java.c knows what HotSpot
 * compiles. (For arm64: registers 29 fp, 30 lr, 31 sp, the return address in lr at the leaf, and a mask for signed
 * addresses.) No function keeps state: any thread may call them.
 */
#pragma once

#include "arch/dwarf_registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where system calls return their result: rax. */
enum { ARCH_SYSCALL_RESULT = 0 };

/* Where system calls leave the pc: rcx. */
enum { ARCH_SYSCALL_PC = 2 };

/* The size of a system call's instruction. The kernel's pc in a system call is behind it. */
enum { ARCH_SYSCALL_SIZE = 2 };

/* DWARF numbers of the registers that pass arguments to a system call: rdi, rsi, rdx, r10, r8, r9. */
enum { ARCH_SYSCALL_ARGUMENTS = 6 };
static const uint8_t arch_syscall_arguments[ARCH_SYSCALL_ARGUMENTS] = {5, 4, 1, 10, 8, 9};

/* e_machine of the ELF files whose code this machine runs: EM_X86_64. */
enum { ARCH_ELF_MACHINE = 62 };

/* That of the 32-bit programs that it runs, too: EM_386. */
enum { ARCH_ELF_MACHINE_32_BIT = 3 };

/* Registers that a function keeps for its caller (System V psABI, 3.2.1), the frame pointer first. */
enum { ARCH_SAVED_REGISTERS = 6 };
static const uint8_t arch_saved_registers[ARCH_SAVED_REGISTERS] = {UNWIND_REG_BP, 3 /* rbx */, 12, 13, 14, 15};

/* Where a signal frame without CFI keeps the interrupted registers: offsets from sp to the slots of each register in
 * the kernel's ucontext, by DWARF number. */
extern const uint16_t arch_signal_frame_slots[UNWIND_REGS];

/* More than the kernel's signal frame takes, with the state of all vector registers and of AMX (11 KiB) in it: the
 * interrupted stack pointer lies closer, or on another stack. */
enum { ARCH_SIGNAL_FRAME_MAX = 16384 };

/* What the bytes of the code around a pc say about its frame, for code without CFI. */
enum arch_code_kind {
    ARCH_CODE_UNKNOWN,
    ARCH_CODE_STUB,         /* CFA = sp + cfa_offset, return address just below it */
    ARCH_CODE_AFTER_CLONE,  /* a stub in the thread that called clone; in the new one, where the register that system
                               calls return in is 0, its first code */
    ARCH_CODE_START,        /* a new thread's code, after the call of its function: there is no caller */
    ARCH_CODE_SIGNAL_FRAME, /* at sp lies the kernel's signal frame, see arch_signal_frame_slots */
};

struct arch_code {
    enum arch_code_kind kind;
    uint32_t cfa_offset;
    bool saved_bp; /* the caller's frame pointer lies below the return address */
};

enum { ARCH_CODE_BEFORE = 64, ARCH_CODE_AFTER = 64 };

/* Recognizes lazy PLT entries, CPython's trampolines, the first and last instructions of functions that keep a frame
 * pointer, what follows the system call in clone and clone3, and the sigreturn trampoline. `code` holds
 * ARCH_CODE_BEFORE bytes before the pc and ARCH_CODE_AFTER from it; 0 where there is no code. The pc is the start of an
 * instruction. */
struct arch_code arch_code_recognize(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Whether the pc lies in the code of Go's runtime that begins a stack: goexit, mstart, and what mcall and morestack do
 * once they are on the thread's system stack. `is_return` says that the pc is a return address. Only for files of Go:
 * the bytes alone could be anyone's. */
bool arch_code_starts_go_stack(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], bool is_return);

/* Returns whether the code around a pc, at most ARCH_HASKELL_REACH bytes on both sides, was compiled by GHC. */
bool arch_code_is_haskell(const unsigned char *code, size_t size);
enum { ARCH_HASKELL_REACH = 32 << 10 };

/* Whether the instruction before the pc can be a call, so that the pc can be a return address. */
bool arch_code_follows_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* The target of a call with a distance in it that ends at the return address; 0 if none does. */
uint64_t arch_call_target(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], uint64_t return_address);

/* Whether the instruction at the pc is a system call. */
bool arch_code_is_system_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* True if the registers were taken in a system call, which has put the pc into rcx, or in execve, which has cleared
 * them for the new program. */
static inline bool arch_in_system_call(const struct unwind_regs *regs)
{
    enum { RAX = 0, RBX = 3, RCX = ARCH_SYSCALL_PC };
    bool is_cleared = !regs->r[RAX] && !regs->r[RBX] && !regs->r[RCX] && !regs->r[UNWIND_REG_BP];
    return is_cleared || regs->r[RCX] == regs->r[UNWIND_REG_PC];
}

/* ---- frames found by reading code ahead to its return (x86_64_return.c) ---- */

/* Reads up to `size` bytes of code at `address`; returns how many there are. */
typedef size_t arch_code_reader(void *context, uint64_t address, unsigned char *out, size_t size);

enum { ARCH_NO_REGISTER = 255 };

/* Registers by their DWARF numbers, as they are at the pc. */
struct arch_frame {
    uint8_t base;        /* the CFA is this register + cfa_offset */
    bool base_is_word;   /* the CFA is the word at this register + word_offset, + cfa_offset */
    int32_t word_offset; /* bytes, as the next */
    int32_t cfa_offset;
    uint8_t return_register;             /* that holds the return address, or ARCH_NO_REGISTER */
    int16_t return_slot;                 /* else where it lies: distance from the CFA in words, mostly -1 */
    uint16_t saved;                      /* bits of the registers that have a slot */
    int16_t slots[ARCH_SAVED_REGISTERS]; /* distance from the CFA in words, in the order of arch_saved_registers */
};

enum arch_return {
    ARCH_RETURNS,        /* `frame` says where the caller is */
    ARCH_MAY_RETURN,     /* the same, if a call comes back that looks like the last of its function */
    ARCH_NEVER_RETURNS,  /* all of the code was read, and none of it returns */
    ARCH_RETURN_UNKNOWN, /* too much code, or it does not tell */
};

/* Follows the code from the instruction at `pc` on, at most 1,000 instructions, and fills `frame` if the result is
 * ARCH_RETURNS or ARCH_MAY_RETURN. The caller must check that a return address is there: a path may lead
 * behind a call that never returns, into another function. */
enum arch_return arch_find_return(arch_code_reader *read, void *context, uint64_t pc, struct arch_frame *frame);

/* ---- what HotSpot compiles (Java) ---- */

enum {
    ARCH_JAVA_REACH = 32 << 10,    /* bytes from the beginning of a function in which a pc is found */
    ARCH_JAVA_BEGINNING = 15,      /* bytes of the longest beginning */
    ARCH_JAVA_FRAME_MAX = 1 << 20, /* bytes */
};

/* The frame in the function whose beginning is the last in these bytes, the last of which is before the pc: an
 * ARCH_CODE_STUB. ARCH_CODE_UNKNOWN if it keeps a frame pointer, or there is none. */
struct arch_code arch_java_function(const unsigned char *code, size_t size);

/* The same where a function's frame is not there yet or any more, for a pc that was interrupted. */
struct arch_code arch_java_edge(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Whether the pc is where the interpreter goes on after a call: no call instruction stands before it. */
bool arch_java_returns_to_interpreter(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);
