/*
 * Unknown registers. For a waiting thread, only sp and pc are known. These are enough until a CFA depends on a frame
 * pointer that no inner function has saved: in code with frame pointers (-O0, -fno-omit-frame-pointer) below a system
 * call wrapper without. If the code up to the return instruction does not show the place of the return address, the
 * walker searches for the frame from sp upwards. The CFI's slot for the return address must hold an address after a
 * call of this function or an indirect call. Uninitialized variables may hold old return addresses, so a walk from a
 * candidate must also reach its caller.
 */
#include "unwind/walk.h"

static bool can_call_function(struct walk *walk, uint64_t return_address, const struct mapping *mapping, uint64_t start)
{
    uint64_t target;
    if (!walk_follows_call(walk, return_address, &target))
        return false;
    /* an indirect call, a call from another file through a PLT, or a call of this function */
    return !target || !mapping || target < mapping->start || target >= mapping->end || target == start;
}

/* Returns the start of a function by its CFI, or 0 if unknown. */
static uint64_t find_function_start(const struct mapping *mapping, uint64_t pc)
{
    uint64_t base = unwind_module_get_base(mapping->module), start, size;
    bool is_known =
        unwind_module_find_function(mapping->module, base + mapping->rva + (pc - mapping->start), &start, &size);
    return is_known ? start - base - mapping->rva + mapping->start : 0;
}

/* Whether the caller, which continues at `address`, has a return address in the slot of its rule, or an unknown slot.
 * `rule` belongs to the called function, and `bp` may be its frame pointer. */
static bool has_plausible_caller(struct walk *walk, const struct rule *rule, uint64_t bp, uint64_t address)
{
    uint64_t cfa = bp + (uint64_t)(int64_t)rule->cfa_offset, caller_cfa = cfa, next;
    const struct rule *caller = walk_find_rule(walk, address - 1, false);
    const struct mapping *mapping = address_space_find(walk->space, address - 1);
    if (caller->kind != RULE_FRAME || !mapping || !mapping->module)
        return true;
    if (caller->cfa_register == UNWIND_REG_BP) {
        bool is_saved = rule->saved >> UNWIND_REG_BP & 1; /* its slot is the first */
        if (!is_saved || !walk_read_word(walk, cfa + (uint64_t)((int64_t)rule->slots[0] * 8), &caller_cfa))
            return !is_saved;
    } else if (caller->cfa_register != UNWIND_REG_SP) {
        return true;
    }
    caller_cfa += (uint64_t)(int64_t)caller->cfa_offset;
    if (caller_cfa <= cfa ||
        !walk_read_return_address(walk, caller_cfa + (uint64_t)((int64_t)caller->return_slot * 8), &next))
        return false;
    uint64_t start = find_function_start(mapping, address - 1);
    return !next || (address_space_find(walk->space, next - 1) && can_call_function(walk, next, mapping, start));
}

/* Whether the call before `address` goes to another function of the file than the function at `start`. Calls to other
 * files go to PLT stubs, of which the CFI describes none, or only the first stub of each section. */
static bool calls_other_function(struct walk *walk, uint64_t address, uint64_t start)
{
    uint64_t target;
    walk_follows_call(walk, address, &target);
    const struct mapping *mapping = target ? address_space_find(walk->space, target) : NULL;
    return mapping && mapping->module && target != start && find_function_start(mapping, target) == target;
}

/* Finds the return address by reading the code ahead, if it restores sp without the frame pointer ("pop %rbp; ret").
 * The call before the return address may be of another function, which has jumped to this one. Sets the frame pointer
 * that leads to the return address, and returns false if the code leads to none. */
static bool find_by_code(struct walk *walk, uint64_t to_return_address)
{
    struct rule rule;
    uint64_t address;
    if (!walk_read_rule(walk, &rule) || rule.kind != RULE_RETURN || rule.cfa_register != UNWIND_REG_SP)
        return false;
    uint64_t slot = walk->regs.r[UNWIND_REG_SP] + (uint64_t)(rule.cfa_offset + (int64_t)rule.return_slot * 8);
    if (!walk_read_return_address(walk, slot, &address) || !walk_can_return_to(walk, address))
        return false;
    walk->regs.r[UNWIND_REG_BP] = slot - to_return_address;
    return true;
}

/* Searches the stack from sp upwards, and sets the best frame pointer. Returns false if none fits. Old frames of
 * returned functions look valid, too: each may have called a function through a pointer or the PLT, and has a caller.
 * So a frame whose caller calls exactly this function wins, if such a frame exists a little further up. */
static bool search_stack(struct walk *walk, const struct rule *rule, const struct mapping *mapping,
                         uint64_t to_return_address)
{
    enum { REACH = 64 << 10, A_LITTLE = 8 << 10, CANDIDATES = 512 };
    enum { NOTHING, CALLED, LEADS_ON, CALLED_AND_LEADS_ON, CALLED_BY_NAME } best = NOTHING;
    uint64_t start = find_function_start(mapping, walk->pcs[walk->frame]);
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], address, target, end = sp + REACH;
    int candidates = 0;
    for (uint64_t bp = sp; bp < end && unwind_work_add(&walk->space->work, 1) &&
                           walk_read_return_address(walk, bp + to_return_address, &address);
         bp += 8) {
        if (!address_space_find(walk->space, address - 1) ||
            !unwind_work_add(&walk->space->work, UNWIND_WORK_OF_RULE) ||
            !can_call_function(walk, address, mapping, start))
            continue;
        bool is_called = !calls_other_function(walk, address, start);
        bool leads_on = has_plausible_caller(walk, rule, bp, address);
        bool is_named = walk_follows_call(walk, address, &target) && target && target == start;
        int quality = !leads_on ? CALLED : is_named ? CALLED_BY_NAME : is_called ? CALLED_AND_LEADS_ON : LEADS_ON;
        if (quality > (int)best) {
            best = quality;
            walk->regs.r[UNWIND_REG_BP] = bp;
            if (best == CALLED_AND_LEADS_ON && end > bp + A_LITTLE)
                end = bp + A_LITTLE;
        }
        if (best == CALLED_BY_NAME || ++candidates == CANDIDATES)
            break;
    }
    return best != NOTHING;
}

/* Finds the value that an unknown frame pointer must have. Returns false if none fits. */
bool walk_find_frame_pointer(struct walk *walk, const struct rule *rule)
{
    const struct mapping *mapping = address_space_find(walk->space, walk->pcs[walk->frame]);
    uint64_t to_return_address = (uint64_t)(rule->cfa_offset + (int64_t)rule->return_slot * 8);
    if (rule->kind != RULE_FRAME || rule->cfa_register != UNWIND_REG_BP || !mapping || !mapping->module)
        return false;
    if (!find_by_code(walk, to_return_address) && !search_stack(walk, rule, mapping, to_return_address))
        return false;
    walk->stale &= ~(UINT64_C(1) << UNWIND_REG_BP);
    walk->result.used_no_cfi = true;
    return true;
}
