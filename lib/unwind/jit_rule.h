/*
 * Frames of code that a compiler has put into memory while the program runs. There is no file, and no CFI that can be
 * had while recording: the code itself, read from the process, says what it can.
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

/* Makes a rule if the instructions around the place are known ones: the first and last of a function, those of code
 * that only calls on. `is_java`: the code may be HotSpot's. False if they are not known. */
bool jit_rule_of_snippet(const struct jit_place *place, bool is_java, struct rule *rule);

/* Makes a rule for code of HotSpot from the beginning of its function, which is looked for before the place. If it
 * keeps a frame pointer, or none is found: RULE_NO_CFI. */
void jit_rule_of_java(const struct jit_place *place, struct rule *rule);

/* Makes a rule by reading the code up to its return: RULE_RETURN. False if the code does not tell. */
bool jit_rule_of_return(const struct jit_place *place, struct rule *rule);

/* Whether a word that should be a return address can be one, into code without a file: a call is before it, or it is
 * where HotSpot's interpreter goes on. True, too, if the code cannot be read. */
bool jit_rule_returns_to(const struct unwind_stack *stack, const struct mapping *mapping, uint64_t address);

#endif
