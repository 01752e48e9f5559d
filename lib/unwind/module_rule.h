/*
 * Makes rules for code mapped from a file. CFI describes how to leave a frame, and usually fits into a rule. The walker
 * recognizes code without CFI (arch.h), or reads it ahead to its return. Go comes first: the walker recognizes its
 * runtime, and its functions have their own table.
 */
#pragma once

#include "unwind/address_space.h"
#include "unwind/cache.h"
#include "unwind/module.h"

/* Returns the link-time vaddr of `pc`, which must be in `mapping`, a mapping with a module. */
static inline uint64_t vaddr_of(const struct mapping *mapping, uint64_t pc)
{
    return pc - mapping->start + mapping->rva + unwind_module_base(mapping->module);
}

/* Makes the rule of `pc`, which must be in `mapping`, a mapping with a module. `exact`: the frame was interrupted at
 * `pc`; else `pc` is a return address - 1. `rule`: from unwind_cache_add(). Adds to `work`; once the work exceeds its
 * limit, the rule is invalid. */
void module_rule_find(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule,
                      struct unwind_work *work);

/* Makes a RULE_RETURN or RULE_NO_RETURN by reading code from `pc` ahead to its return. Returns false and does not
 * change the rule if the code does not show it. */
bool module_rule_of_return(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule);

/* Whether a call instruction ends at `address`. *target: of a direct call; else 0. */
bool module_rule_follows_call(const struct mapping *mapping, uint64_t address, uint64_t *target);

/* Whether a thread in a system call is in a function that ends with the system call instruction. The kernel reports
 * `pc`, which then belongs to other code. */
bool module_rule_ends_in_system_call(const struct mapping *mapping, uint64_t pc);

/* Finds the FDE and the full row of `pc`, for RULE_COMPLEX. Returns false if no FDE covers it, or if `work` is
 * exceeded. */
bool module_rule_row(const struct mapping *mapping, uint64_t pc, struct cfi_fde *fde, struct cfi_row *row,
                     struct unwind_work *work);
