/*
 * Frames of code that was mapped from a file: CFI says how to leave them, in the few numbers of a rule nearly always.
 * Where there is none the code itself may be known (arch.h); Go's runtime is looked at first, since its CFI does not
 * tell where stacks begin.
 */
#ifndef PROF_UNWIND_MODULE_RULE_H
#define PROF_UNWIND_MODULE_RULE_H

#include "unwind/address_space.h"
#include "unwind/cache.h"
#include "unwind/module.h"

/* Makes the rule of `pc`, which lies in `mapping`, a mapping with a module. `exact`: the frame was interrupted there,
 * else it is one before a return address. The rule comes from unwind_cache_add(). */
void module_rule_find(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule);

/* Makes a rule by reading the code from `pc` up to its return: RULE_RETURN or RULE_NO_RETURN. False if the code does
 * not tell. */
bool module_rule_of_return(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule);

/* Whether a call instruction ends at `address`. If the call has a fixed target, *target is its address, else 0. */
bool module_rule_follows_call(const struct mapping *mapping, uint64_t address, uint64_t *target);

/* What CFI says in full, for RULE_COMPLEX. False if there is none. */
bool module_rule_row(const struct mapping *mapping, uint64_t pc, struct cfi_fde *fde, struct cfi_row *row);

#endif
