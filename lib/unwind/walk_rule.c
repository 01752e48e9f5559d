/*
 * Makes rules and finds return addresses that are missing in the pc cache.
 */
#include "unwind/walk.h"

#include "unwind/jit_rule.h"
#include "unwind/module.h"
#include "unwind/module_rule.h"

/* The pc cache also holds other results, under keys with bits that no user address has. */
static const uint64_t leaf_bit = UINT64_C(1) << 63, return_bit = UINT64_C(1) << 62, call_bit = UINT64_C(1) << 61;

/* The program may replace JIT code. So the walker reads the code again for each leaf in a prologue or epilogue, which
 * is rare. Other rules are cached, under one key for a leaf and another key for a caller. */
static const struct rule *make_jit_rule(struct walk *walk, const struct mapping *mapping, uint64_t pc, bool exact)
{
    struct jit_frame frame = {.stack = walk->stack, .mapping = mapping, .next_pc = pc + !exact, .exact = exact};
    uint64_t key = exact ? pc | leaf_bit : pc;
    const struct rule *known = exact ? unwind_cache_find(walk->cache, key) : NULL;
    if (known)
        return known;
    walk->made = (struct rule){.kind = RULE_NO_CFI};
    unwind_work_add(&walk->space->work, UNWIND_WORK_OF_JIT_CODE);
    bool is_edge = jit_rule_make_from_snippet(&frame, walk->space->is_java, &walk->made);
    if (is_edge && exact)
        return &walk->made;
    if (!is_edge && walk->space->is_java)
        jit_rule_make_for_java(&frame, &walk->made);
    struct rule *rule = unwind_cache_add(walk->cache, key);
    walk->made.pc = rule->pc;
    walk->made.generation = rule->generation;
    *rule = walk->made;
    return rule;
}

static const struct rule unmapped_rule = {.kind = RULE_UNMAPPED}, costly_rule = {.kind = RULE_TOO_COSTLY};

const struct rule *walk_make_rule(struct walk *walk, uint64_t pc, bool exact)
{
    struct unwind_work *work = &walk->space->work;
    const struct mapping *mapping = address_space_find(walk->space, pc);
    if (!mapping)
        return &unmapped_rule;
    if (unwind_work_is_over(work))
        return &costly_rule;
    if (!mapping->module)
        return make_jit_rule(walk, mapping, pc, exact);
    struct rule *rule = unwind_cache_add(walk->cache, pc);
    module_rule_find(mapping, pc, exact, rule, work);
    if (!unwind_work_is_over(work))
        return rule;
    *rule = (struct rule){.kind = RULE_TOO_COSTLY};
    return &costly_rule;
}

bool walk_read_rule(struct walk *walk, struct rule *rule)
{
    uint64_t pc = walk->pcs[walk->frame], key = pc | return_bit | (walk->exact ? leaf_bit : 0);
    const struct rule *known = unwind_cache_find(walk->cache, key);
    const struct mapping *mapping = address_space_find(walk->space, pc);
    if (!mapping)
        return false;
    if (!known) {
        if (!unwind_work_add(&walk->space->work, UNWIND_WORK_OF_RETURN))
            return false;
        struct jit_frame frame = {
            .stack = walk->stack, .mapping = mapping, .next_pc = pc + !walk->exact, .exact = walk->exact};
        struct rule *made = unwind_cache_add(walk->cache, key);
        made->kind = RULE_NO_CFI;
        if (mapping->module)
            module_rule_make_from_return(mapping, pc, walk->exact, made);
        else
            jit_rule_make_from_return(&frame, made);
        known = made;
    }
    *rule = *known;
    return true;
}

bool walk_make_rule_from_return(struct walk *walk, struct rule *rule)
{
    const struct mapping *mapping = address_space_find(walk->space, walk->pcs[walk->frame]);
    return mapping && (!mapping->module || walk->leaf_by_return) && walk_read_rule(walk, rule);
}

/* Caches the result for code in files: cfa_register is whether a call precedes the address, cfa_offset the distance to
 * the call's target. */
bool walk_follows_call(struct walk *walk, uint64_t address, uint64_t *target)
{
    const struct mapping *mapping = address_space_find(walk->space, address - 1);
    *target = 0;
    if (!mapping)
        return false;
    if (!mapping->module || !unwind_module_has_code(mapping->module))
        return unwind_work_add(&walk->space->work, UNWIND_WORK_OF_JIT_CODE) &&
               jit_rule_returns_to(walk->stack, mapping, address);
    struct rule *answer = unwind_cache_find(walk->cache, address | call_bit);
    if (!answer) {
        if (!unwind_work_add(&walk->space->work, UNWIND_WORK_OF_RULE))
            return false;
        answer = unwind_cache_add(walk->cache, address | call_bit);
        answer->cfa_register = module_rule_follows_call(mapping, address, target);
        answer->cfa_offset = *target ? (int32_t)(*target - address) : 0;
    }
    *target = answer->cfa_offset ? address + (uint64_t)(int64_t)answer->cfa_offset : 0;
    return answer->cfa_register;
}

/* Caches the result in the same fields as walk_follows_call(), under a key with leaf_bit. */
bool walk_ends_in_system_call(struct walk *walk, uint64_t pc)
{
    const uint64_t key = pc | call_bit | leaf_bit;
    const struct rule *known = unwind_cache_find(walk->cache, key);
    const struct mapping *mapping = address_space_find(walk->space, pc - ARCH_SYSCALL_SIZE);
    if (known)
        return known->cfa_register;
    if (!unwind_work_add(&walk->space->work, UNWIND_WORK_OF_RULE))
        return false;
    struct rule *answer = unwind_cache_add(walk->cache, key);
    answer->cfa_register = mapping && mapping->module && module_rule_ends_in_system_call(mapping, pc);
    return answer->cfa_register;
}

/* Most words on a stack are small numbers, or addresses of the stack or the heap, in the same gap between mappings as
 * the word before. */
bool walk_find_next_return_address(struct walk *walk, uint64_t *sp, uint64_t *address)
{
    enum { WORDS = 64 };
    bool used_read_above = walk->result.used_read_above, found = false;
    const struct mapping *lowest = address_space_find_at_or_above(walk->space, 0);
    struct address_gap gap = {0};
    for (int i = 0; i < WORDS && walk_read_return_address(walk, *sp, address); i++, *sp += 8) {
        uint64_t pc = *address - 1;
        bool is_unmapped = !lowest || *address <= lowest->start || pc - gap.start < gap.end - gap.start ||
                           address_space_is_unmapped(walk->space, pc, &gap);
        if ((found = !is_unmapped && walk_can_return_to(walk, *address)))
            break;
    }
    walk->result.used_read_above = used_read_above;
    return found;
}
