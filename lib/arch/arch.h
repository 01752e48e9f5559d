/*
 * The walker's view of a processor: how to find callers in code without CFI, and the layout of a signal frame.
 * *_registers.h have the registers. x86_64.c and aarch64.c recognize code that many programs share, x86_64_return.c and
 * aarch64_return.c read other code up to its return instruction, x86_64_java.c recognizes HotSpot's compiled code. The
 * functions have no state: any thread may call them.
 */
#pragma once

#include "arch/dwarf_registers.h"

/* Slots of the interrupted registers in a signal frame: offsets from sp into the kernel's ucontext, by DWARF number. */
extern const uint16_t arch_signal_frame_slots[UNWIND_REGS];

/* Bytes; larger than any signal frame of the kernel, with all vector registers and AMX (11 KiB). The interrupted stack
 * pointer is at a smaller distance, or on another stack. */
enum { ARCH_SIGNAL_FRAME_MAX = 16384 };

/* The frame of a pc, recognized by the bytes of the code around it, for code without CFI. */
enum arch_code_kind {
    ARCH_CODE_UNKNOWN,
    ARCH_CODE_STUB,         /* CFA = sp + cfa_offset */
    ARCH_CODE_AFTER_CLONE,  /* code after clone's system call, where a new thread (with ARCH_SYSCALL_RESULT 0) starts,
                               and the calling thread returns */
    ARCH_CODE_START,        /* start code of a new thread, after the call of the thread's function: no caller */
    ARCH_CODE_SIGNAL_FRAME, /* the kernel's signal frame is at sp, see arch_signal_frame_slots */
};

/* Value of `return_slot` for a return address in the link register. */
enum { ARCH_RETURN_IN_LINK = INT16_MIN };

struct arch_code {
    enum arch_code_kind kind;
    uint32_t cfa_offset;
    int16_t return_slot; /* slot of the return address: distance from the CFA in words, or ARCH_RETURN_IN_LINK */
    bool saved_bp;       /* the caller's frame pointer lies below the return address */
};

enum { ARCH_CODE_BEFORE = 64, ARCH_CODE_AFTER = 64 };

/* Recognizes lazy PLT entries, CPython's trampolines, prologues and epilogues of functions with a frame pointer, the
 * code after the system call in clone and clone3, and the sigreturn trampoline. `code`: ARCH_CODE_BEFORE bytes
 * before the pc and ARCH_CODE_AFTER from it, or 0 outside of the code. The pc must be the start of an instruction. */
struct arch_code arch_code_recognize(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Whether the pc is in code of Go's runtime that starts a stack: goexit, mstart, and mcall and morestack on the
 * thread's system stack. `is_return`: the pc is a return address. Call this function only for Go programs, because
 * other programs may contain the same bytes. */
bool arch_code_starts_go_stack(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], bool is_return);

/* Whether GHC compiled the code around a pc, at most ARCH_HASKELL_REACH bytes on both sides. */
bool arch_code_is_haskell(const unsigned char *code, size_t size);
enum { ARCH_HASKELL_REACH = 32 << 10 };

/* Whether the instruction before the pc can be a call, so that the pc can be a return address. */
bool arch_code_is_after_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Returns the target of the direct call that ends at the return address, or 0 without such a call. */
uint64_t arch_find_call_target(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], uint64_t return_address);

/* Whether the instruction at the pc is a system call. */
bool arch_code_is_system_call(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Whether the instruction at the pc returns to the address in the link register. Always false on x86-64. */
bool arch_code_is_return(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Returns by how many bytes the prologue before the pc has lowered sp, or 0 if other instructions precede the pc.
 * Always 0 on x86-64. */
int32_t arch_find_prologue_size(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* ---- frames found by reading code up to its return instruction (x86_64_return.c) ---- */

/* Reads up to `size` bytes of code at `address`; returns their number. */
typedef size_t arch_code_reader(void *context, uint64_t address, unsigned char *out, size_t size);

enum { ARCH_NO_REGISTER = 255 };

/* Registers have DWARF numbers; offsets apply to their values at the pc. */
struct arch_frame {
    uint8_t base;        /* the CFA is this register + cfa_offset */
    bool base_is_word;   /* the CFA is the word at this register + word_offset, + cfa_offset */
    int32_t word_offset; /* bytes, as cfa_offset */
    int32_t cfa_offset;
    uint8_t return_register;             /* register that holds the return address, or ARCH_NO_REGISTER */
    int16_t return_slot;                 /* slot of the return address: distance from the CFA in words, mostly -1 */
    arch_saved_set saved;                /* bits of the registers that have a slot */
    int16_t slots[ARCH_SAVED_REGISTERS]; /* distance from the CFA in words, in the order of arch_saved_registers */
};

enum arch_return {
    ARCH_RETURNS,        /* found: `frame` gives the caller's registers */
    ARCH_MAY_RETURN,     /* like ARCH_RETURNS, but the path continues after a call that may never return */
    ARCH_NEVER_RETURNS,  /* no path of the code reaches a return */
    ARCH_RETURN_UNKNOWN, /* gave up: too much code, or an unknown return address */
};

/* Follows the code from the instruction at `pc`, at most 1,000 instructions, and fills in `frame` if the result is
 * ARCH_RETURNS or ARCH_MAY_RETURN. The caller must check for a return address: a path may continue after a call that
 * never returns, into another function. */
enum arch_return arch_find_return(arch_code_reader *read, void *context, uint64_t pc, struct arch_frame *frame);

/* ---- code that HotSpot compiles (Java) ---- */

enum {
    ARCH_JAVA_REACH = 32 << 10,    /* bytes of code before the pc that are searched for a prologue */
    ARCH_JAVA_BEGINNING = 15,      /* bytes of the longest prologue */
    ARCH_JAVA_FRAME_MAX = 1 << 20, /* bytes */
};

/* Finds the last function prologue in `code`, the bytes before the pc, and returns its frame as an ARCH_CODE_STUB.
 * Returns ARCH_CODE_UNKNOWN if the function keeps a frame pointer, or without a prologue. */
struct arch_code arch_find_java_function(const unsigned char *code, size_t size);

/* Returns the incomplete frame of HotSpot code that was interrupted in a prologue or epilogue. */
struct arch_code arch_find_java_prologue_or_epilogue(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);

/* Whether the pc is a place where HotSpot's interpreter continues after a call. No call instruction precedes such a pc.
 */
bool arch_returns_to_java_interpreter(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER]);
