/*
 * Makes the rules of JIT code, which has no file and mostly no CFI (a jitdump file may have it, see
 * unwind_module_of_code). The instructions, read from the process, tell where the frame is.
 */
#pragma once

#include "unwind/address_space.h"
#include "unwind/cache.h"

/* The frame that a rule is for, in a mapping without a module. */
struct jit_frame {
    const struct unwind_stack *stack; /* its read_code may be NULL */
    const struct mapping *mapping;
    uint64_t next_pc; /* of the instruction that runs next: the return address of a caller */
    bool exact;       /* the frame was interrupted at next_pc */
};

/* Makes a rule if the instructions around the pc are known: the first and last of a function, or those of a trampoline.
 * `is_java`: the code may be HotSpot's. Returns false if the instructions are not known. */
bool jit_rule_of_snippet(const struct jit_frame *frame, bool is_java, struct rule *rule);

/* Makes a rule for code of HotSpot. It looks for the beginning of the function before the pc. The rule is RULE_NO_CFI
 * if the function keeps a frame pointer, or no beginning is found. */
void jit_rule_of_java(const struct jit_frame *frame, struct rule *rule);

/* Makes a rule by reading code ahead to its return: RULE_RETURN. Returns false if the code does not tell. */
bool jit_rule_of_return(const struct jit_frame *frame, struct rule *rule);

/* Returns whether a word can be a return address into JIT code: a call precedes it, or HotSpot's interpreter continues
 * there. Also true if the code cannot be read. */
bool jit_rule_returns_to(const struct unwind_stack *stack, const struct mapping *mapping, uint64_t address);
