/*
 * Makes rules for code mapped from a file. CFI describes how to leave a frame, and usually fits into a rule. The walker
 * recognizes code without CFI by its bytes (arch.h), or reads the code up to the next return instruction. For Go
 * programs, the walker recognizes runtime code first, and then uses the Go function table instead of CFI.
 */
#pragma once

#include "unwind/address_space.h"
#include "unwind/cache.h"
#include "unwind/module.h"

/* Returns the link-time vaddr of `pc`, which must be in `mapping`, a mapping with a module. */
static inline uint64_t find_mapped_vaddr(const struct mapping *mapping, uint64_t pc)
{
    return pc - mapping->start + mapping->rva + unwind_module_get_base(mapping->module);
}

/* Makes the rule of `pc`, which must be in `mapping`, a mapping with a module. `exact`: the frame was interrupted at
 * `pc`; otherwise `pc` is a return address minus 1. `rule`: from unwind_cache_add(). Adds the cost to `work`. If `work`
 * exceeds its limit, the rule is invalid. */
void module_rule_find(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule,
                      struct unwind_work *work);

/* Makes a RULE_RETURN or RULE_NO_RETURN by reading the code from `pc` up to a return instruction. Without a return
 * instruction, returns false and leaves the rule unchanged. */
bool module_rule_make_from_return(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule);

/* Whether a call instruction ends at `address`. Sets *target to the target of a direct call, otherwise to 0. */
bool module_rule_follows_call(const struct mapping *mapping, uint64_t address, uint64_t *target);

/* Whether a thread in a system call is in a function that ends with the system call instruction. The `pc` that the
 * kernel reports then belongs to other code. */
bool module_rule_ends_in_system_call(const struct mapping *mapping, uint64_t pc);

/* Finds the FDE and the full row of `pc`, for RULE_COMPLEX. Returns false if no FDE covers `pc`, or if `work` is
 * exceeded. */
bool module_rule_find_row(const struct mapping *mapping, uint64_t pc, struct cfi_fde *fde, struct cfi_row *row,
                          struct unwind_work *work);
