/*
 * Every Go function that calls others has a frame pointer, and the Go function table (elf/go_functions.h) has only
 * frame sizes. So the walker finds the leaf's frame with the table, and also follows the frame pointer. Where the two
 * differ, the runtime has switched stacks (systemstack, asmcgocall), and the frame pointer leads back to the goroutine.
 * The runtime starts stacks in goexit (goroutines), mstart (threads), mcall and morestack (the scheduler, on the
 * thread's system stack). The goroutine that called mcall may already run on another thread, so prof must not read its
 * stack. But the frame pointer still leads to this stack before Go 1.25. Until Go 1.26, the frame pointer of mstart
 * leads to the stack of the thread that created the thread.
 *
 * arm64: a frame has the return address at its lower end, where sp points, and the caller's frame pointer in the word
 * below. So the frame pointer is sp - 8, except in functions that have switched stacks.
 */
#include "unwind/walk.h"

/* Ends the walk at a Go caller with a frame pointer of 0. The walker recognizes starts of stacks by their code, so this
 * word has changed while the program ran. */
static enum step end_at_zero_frame_pointer(struct walk *walk)
{
    return walk->off_copied_stack ? walk_end_of_memory(walk) : walk_end_at_zero_pc(walk, walk->regs.r[UNWIND_REG_SP]);
}

/* Whether Go's frame pointer can be followed, which may lead to a lower stack. A limit of such moves in one walk
 * prevents endless loops. */
static enum step check_go_pointer(struct walk *walk)
{
    enum { SWITCHES_MAX = 4 };
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP];
    if (walk->stale >> UNWIND_REG_BP & 1)
        return walk_end_without_rule(walk);
    if (bp == 0 && !walk->exact)
        return end_at_zero_frame_pointer(walk);
    if (bp % 8 != 0)
        return walk_end_without_rule(walk);
    if (bp < sp && walk->switches++ == SWITCHES_MAX)
        return walk_end(walk, UNWIND_DAMAGED);
    walk->off_copied_stack |= bp < sp;
    return STEP_CALLER;
}

enum step walk_step_go_pointer(struct walk *walk)
{
    enum step checked = check_go_pointer(walk);
    uint64_t bp = walk->regs.r[UNWIND_REG_BP], caller_bp, pc;
    if (checked != STEP_CALLER)
        return checked;
    if (!walk_read_word(walk, bp, &caller_bp) || !walk_read_return_address(walk, bp + 8, &pc))
        return walk_end_of_memory(walk);
    if (pc == 0)
        return walk_end_without_rule(walk);
    return walk_arrive_by_pointer(walk, pc, caller_bp, bp + 16);
}

/* Steps out of a Go function of a waiting thread, whose frame pointer is unknown. Every Go function with a frame saves
 * the frame pointer below the return address. */
static enum step step_go_without_pointer(struct walk *walk, const struct rule *rule)
{
    uint64_t cfa = walk->regs.r[UNWIND_REG_SP] + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->cfa_offset > 8) {
        if (!walk_read_word(walk, cfa - 16, &walk->regs.r[UNWIND_REG_BP]))
            return walk_end_of_memory(walk);
        walk->stale &= ~(UINT64_C(1) << UNWIND_REG_BP);
    }
    enum step step = walk_step_frame(walk, rule);
    return walk->regs.r[UNWIND_REG_PC] == 0 ? walk_end_without_rule(walk) : step;
}

/* arm64. The walk does not read the frame pointer below the leaf's sp, which perf does not copy, because the caller's
 * sp gives the caller's frame pointer, too. */
static enum step step_go_above_link(struct walk *walk, const struct rule *rule)
{
    uint64_t *sp = &walk->regs.r[UNWIND_REG_SP], *bp = &walk->regs.r[UNWIND_REG_BP];
    bool is_known = !(walk->stale >> UNWIND_REG_BP & 1);
    if (rule->return_slot == ARCH_RETURN_IN_LINK)
        return walk->exact ? walk_step_frame(walk, rule) : walk_step_go_pointer(walk);
    if (!walk->exact && is_known && *bp != *sp - 8) {
        enum step checked = check_go_pointer(walk);
        if (checked != STEP_CALLER)
            return checked;
        *sp = *bp + 8;
        walk->off_copied_stack = true;
    }
    if (walk->exact && (!is_known || *bp == *sp - 8))
        *bp = *sp + (uint64_t)(int64_t)rule->cfa_offset - 8;
    else if (!walk->exact && !walk_read_word(walk, *sp - 8, bp))
        return walk_end_of_memory(walk);
    walk->stale &= ~(UINT64_C(1) << UNWIND_REG_BP);
    walk->by_pointer = false;
    enum step step = walk_step_frame(walk, rule);
    return walk->regs.r[UNWIND_REG_PC] == 0 ? walk_end_without_rule(walk) : step;
}

enum step walk_step_go(struct walk *walk, const struct rule *rule)
{
    if (ARCH_HAS_LINK_REGISTER)
        return step_go_above_link(walk, rule);
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], pc;
    uint64_t cfa = sp + (uint64_t)(int64_t)rule->cfa_offset;
    bool bp_in_frame = bp >= sp && bp < cfa;
    if (walk->stale >> UNWIND_REG_BP & 1)
        return step_go_without_pointer(walk, rule);
    if (bp == 0 && !walk->exact)
        return end_at_zero_frame_pointer(walk);
    /* Assembly without a frame leaves the caller's frame pointer, which points above sp. Other functions with such a
     * frame pointer have switched stacks. At the leaf the frame pointer proves nothing, but the return address must
     * point to code. */
    bool below = bp < sp && !walk->exact;
    if (!bp_in_frame && (below || !walk_read_word(walk, cfa - 8, &pc) || !address_space_find(walk->space, pc - 1))) {
        walk->off_copied_stack = true;
        return walk_step_go_pointer(walk);
    }
    if (bp_in_frame && !walk_read_word(walk, bp, &walk->regs.r[UNWIND_REG_BP]))
        return walk_end_of_memory(walk);
    enum step step = walk_step_frame(walk, rule);
    /* Go never marks a start with a return address of 0, so the word has changed since the sample. */
    return walk->regs.r[UNWIND_REG_PC] == 0 ? walk_end_without_rule(walk) : step;
}
