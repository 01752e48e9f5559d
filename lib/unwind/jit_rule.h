/*
 * Finds rules for JIT code, which has no file and usually no CFI (a jitdump file may have CFI, see
 * unwind_module_of_code). prof reads the instructions from the process, and derives the frame from the instructions.
 */
#pragma once

#include "unwind/address_space.h"
#include "unwind/cache.h"

/* A frame in a mapping without a module. */
struct jit_frame {
    const struct unwind_stack *stack; /* `read_code` of the stack may be NULL */
    const struct mapping *mapping;
    uint64_t next_pc; /* pc of the next instruction; the return address of a caller */
    bool exact;       /* true if the frame was interrupted at next_pc */
};

/* Makes a rule if the instructions around the pc are known: the prologue or epilogue of a function, or a trampoline.
 * `is_java`: the code may be HotSpot's. Returns false for other instructions. */
bool jit_rule_make_from_snippet(const struct jit_frame *frame, bool is_java, struct rule *rule);

/* Makes a rule for code of HotSpot: searches backward for the function's prologue. The rule is RULE_NO_CFI if the
 * function keeps a frame pointer, or no prologue is found. */
void jit_rule_make_for_java(const struct jit_frame *frame, struct rule *rule);

/* Makes a RULE_RETURN by reading the code up to its return instruction. Returns false without a return instruction. */
bool jit_rule_make_from_return(const struct jit_frame *frame, struct rule *rule);

/* Whether a word can be a return address into JIT code: the address follows a call, or HotSpot's interpreter continues
 * at the address. Also true for unreadable code. */
bool jit_rule_returns_to(const struct unwind_stack *stack, const struct mapping *mapping, uint64_t address);
