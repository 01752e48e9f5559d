/*
 * Makes the rules of code that was mapped from a file. CFI says how to leave a frame, nearly always in the few numbers
 * of a rule. Code without CFI is recognized (arch.h), or read ahead to its return. Go comes first: its runtime is
 * recognized, and its functions have a table of their own.
 */
#pragma once

#include "unwind/address_space.h"
#include "unwind/cache.h"
#include "unwind/module.h"

/* The link-time vaddr of `pc`, which lies in `mapping`, a mapping with a module. */
static inline uint64_t vaddr_of(const struct mapping *mapping, uint64_t pc)
{
    return pc - mapping->start + mapping->rva + unwind_module_base(mapping->module);
}

/* Makes the rule of `pc`, which lies in `mapping`, a mapping with a module. `exact`: the frame was interrupted there,
 * else it is one before a return address. The rule comes from unwind_cache_add(). Adds to `work`; when the work is over
 * its bound, the rule is invalid. */
void module_rule_find(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule,
                      struct unwind_work *work);

/* Makes a rule by reading code from `pc` ahead to its return: RULE_RETURN or RULE_NO_RETURN. Returns false and leaves
 * the rule as it is if the code does not tell. */
bool module_rule_of_return(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule);

/* Returns whether a call instruction ends at `address`. If the call has a fixed target, *target is its address, else 0.
 */
bool module_rule_follows_call(const struct mapping *mapping, uint64_t address, uint64_t *target);

/* Returns whether a thread in a system call, where the kernel reports `pc`, is in code that ends with the call's
 * instruction: the code at `pc` belongs to something else. */
bool module_rule_ends_in_system_call(const struct mapping *mapping, uint64_t pc);

/* Finds the FDE and the full row of `pc`, for RULE_COMPLEX. Returns false if there is none, or when `work` is over.
 */
bool module_rule_row(const struct mapping *mapping, uint64_t pc, struct cfi_fde *fde, struct cfi_row *row,
                     struct unwind_work *work);
