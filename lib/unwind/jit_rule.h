/*
 * Makes the rules of JIT code, which has no file and mostly no CFI (a jitdump file may have it, see
 * unwind_module_of_code). The instructions, read from the process, tell where the frame is.
 */
#ifndef PROF_UNWIND_JIT_RULE_H
#define PROF_UNWIND_JIT_RULE_H

#include "unwind/address_space.h"
#include "unwind/cache.h"

/* The place that a rule is for: in `mapping`, which has no module, before the instruction that runs next (`at`, which
 * for a caller is its return address); `exact`: it was interrupted there. */
struct jit_place {
    const struct unwind_stack *stack; /* its read_code may be NULL */
    const struct mapping *mapping;
    uint64_t at;
    bool exact;
};

/* Makes a rule if the instructions around the place are known: the first and last of a function, or a trampoline's.
 * `is_java`: the code may be HotSpot's. Returns false if they are not known. */
bool jit_rule_of_snippet(const struct jit_place *place, bool is_java, struct rule *rule);

/* Makes a rule for code of HotSpot from the beginning of its function, which it looks for before the place. The rule is
 * RULE_NO_CFI if the function keeps a frame pointer, or no beginning is found. */
void jit_rule_of_java(const struct jit_place *place, struct rule *rule);

/* Makes a rule by reading code ahead to its return: RULE_RETURN. Returns false if the code does not tell. */
bool jit_rule_of_return(const struct jit_place *place, struct rule *rule);

/* Returns whether a word can be a return address into JIT code: a call precedes it, or HotSpot's interpreter continues
 * there. Also true if the code cannot be read. */
bool jit_rule_returns_to(const struct unwind_stack *stack, const struct mapping *mapping, uint64_t address);

#endif
