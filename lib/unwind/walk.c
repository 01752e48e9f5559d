/*
 * The stack walker.
 *
 * A step takes the registers of one frame and makes those of its caller. What to do at a pc is a rule (cache.h), found
 * in the pc cache or made from CFI; the common rule costs a hash, two loads from the copied stack and no call.
 *
 * Light and full walks. Of the registers that a function saves for its caller, only sp, pc and the frame pointer are
 * needed for almost every step, so a light walk restores only these and notes which others have become stale. When a
 * rule asks for a stale register (a CFA computed from rbx or r12, an expression), the walk starts over as a full one,
 * which restores everything.
 *
 * Slots below sp. Epilogues pop registers while the CFI still says that they are saved (gcc does not describe each
 * pop). What lies below sp is dead to the program and not in the copy, so a slot there means: the register is live
 * already.
 *
 * The start of a thread is one of these, and nothing else counts as a complete stack:
 * - the CFI says that the return address is undefined (_start, clone);
 * - the pc comes right after the system call of clone or clone3, whose result is 0: there the new thread begins;
 * - the return address that CFI leads to is 0 (coroutines and thread libraries put it there as a mark);
 * - the pc lies in the code of the ELF entry point, without CFI (_start of ld.so and of musl);
 * - the code is one of those where Go's runtime starts a stack (below);
 * - the frame pointer is 0 in a caller that has no CFI: the psABI's mark of the deepest frame (3.4.1), which the kernel
 *   sets at exec, and Go and musl for each new thread. Not at the leaf, where assembly may use the
 *   register.
 *
 * Code that a compiler has made while the program runs has no CFI either, and no file. Its instructions are read from
 * the process (jit_rule.h): what they do not tell is left to the frame pointer.
 *
 * Go keeps a frame pointer in every function that calls, and its CFI (.debug_frame, absent when stripped) knows sp
 * alone. So CFI tells where the leaf's frame is, and the frame pointer is followed beside it. Where the two part, the
 * runtime has switched stacks (systemstack, asmcgocall), and the frame pointer leads back to the goroutine.
 *
 * The runtime starts stacks in goexit (goroutines), mstart (threads), mcall and morestack (the scheduler, on the
 * thread's system stack), which are known by their code (arch.h). The goroutine that mcall has left may run on another
 * thread by now, so its stack must not be read; yet before Go 1.25 the frame pointer still leads there, and until 1.26
 * that of mstart to the thread that made this one. Elsewhere a frame pointer of 0 is the mark, as in any code.
 */
#include "unwind/address_space.h"
#include "unwind/cache.h"
#include "unwind/jit_rule.h"
#include "unwind/expression.h"
#include "unwind/module_rule.h"
#include "unwind/module.h"

#include <string.h>

struct walk {
    const struct address_space *space;
    struct unwind_cache *cache;
    const struct unwind_stack *stack;
    struct unwind_regs regs;
    uint32_t stale; /* bits of DWARF register numbers whose value a light walk has lost */
    bool full;
    bool exact;      /* the pc of this frame was interrupted, it is not a return address */
    bool by_pointer; /* this frame was found by the frame pointer of the one before */
    size_t frame;
    unsigned switches;     /* to a stack below this one, by a frame pointer of Go */
    bool off_copied_stack; /* on another stack than the one that was copied */
    uint64_t fetched;      /* bytes of the copy that are on their way to this processor */
    struct rule made;      /* one that is not for the cache */
    uint64_t java_sp; /* the stack pointer of this frame, if the one before is of HotSpot's interpreter; 0: cannot be */
    struct unwind_result result;
};

enum step {
    STEP_CALLER,  /* the registers are now the caller's */
    STEP_END,     /* result.end says why */
    STEP_RESTART, /* a light walk needs a register that it has lost */
};

static enum step end_walk(struct walk *walk, enum unwind_end end)
{
    walk->result.end = end;
    return STEP_END;
}

/* ---- memory of the walked thread ---- */

static bool read_above(struct walk *walk, uint64_t address, unsigned char *out, size_t size)
{
    const struct unwind_stack *stack = walk->stack;
    bool (*read)(void *, uint64_t, void *, size_t) =
        walk->off_copied_stack ? stack->read_off_copied_stack : stack->read_above;
    if (!read || !read(stack->context, address, out, size))
        return false;
    walk->result.used_read_above = true;
    return true;
}

/* Bytes that are not, or not all, in the copy. */
static bool read_outside(struct walk *walk, uint64_t address, unsigned char *out, size_t size)
{
    const struct unwind_stack *stack = walk->stack;
    uint64_t offset = address - stack->sp;
    if (address > UINT64_MAX - size)
        return false;
    if (address < stack->sp)
        return walk->off_copied_stack && read_above(walk, address, out, size);
    size_t copied = offset < stack->size ? stack->size - (size_t)offset : 0;
    if (copied > size)
        copied = size;
    if (copied)
        memcpy(out, stack->bytes + offset, copied);
    return copied == size || read_above(walk, address + copied, out + copied, size - copied);
}

static inline bool read_word(struct walk *walk, uint64_t address, uint64_t *value)
{
    uint64_t offset = address - walk->stack->sp;
    if (__builtin_expect(walk->stack->size >= 8 && offset <= walk->stack->size - 8, 1)) {
        memcpy(value, walk->stack->bytes + offset, 8);
        return true;
    }
    unsigned char bytes[8];
    if (!read_outside(walk, address, bytes, 8))
        return false;
    memcpy(value, bytes, 8);
    return true;
}

static bool read_for_expression(void *context, uint64_t address, unsigned size, uint64_t *value)
{
    unsigned char bytes[8] = {0};
    if (!read_outside(context, address, bytes, size))
        return false;
    memcpy(value, bytes, 8);
    return true;
}

/* ---- rules ---- */

/* Code may take the place of other code. So where a leaf was at the edge of a function is looked at each time; there it
 * is seldom. Elsewhere what was found is remembered, for a leaf and a caller of the same pc by themselves, which a bit
 * tells apart that no address has. */
static const struct rule *rule_of_jit_code(struct walk *walk, const struct mapping *mapping, uint64_t pc)
{
    static const uint64_t leaf_bit = UINT64_C(1) << 63;
    struct jit_place place = {.stack = walk->stack, .mapping = mapping, .at = pc + !walk->exact, .exact = walk->exact};
    uint64_t key = walk->exact ? pc | leaf_bit : pc;
    const struct rule *known = walk->exact ? unwind_cache_find(walk->cache, key) : NULL;
    if (known)
        return known;
    walk->made = (struct rule){.kind = RULE_NO_CFI};
    bool is_edge = jit_rule_of_snippet(&place, walk->space->is_java, &walk->made);
    if (is_edge && walk->exact)
        return &walk->made;
    if (!is_edge && walk->space->is_java)
        jit_rule_of_java(&place, &walk->made);
    struct rule *rule = unwind_cache_add(walk->cache, key);
    walk->made.pc = rule->pc;
    walk->made.generation = rule->generation;
    *rule = walk->made;
    return rule;
}

static const struct rule unmapped_rule = {.kind = RULE_UNMAPPED};

static const struct rule *rule_make(struct walk *walk, uint64_t pc)
{
    const struct mapping *mapping = address_space_find(walk->space, pc);
    if (!mapping)
        return &unmapped_rule;
    if (!mapping->module)
        return rule_of_jit_code(walk, mapping, pc);
    struct rule *rule = unwind_cache_add(walk->cache, pc);
    module_rule_find(mapping, pc, walk->exact, rule);
    return rule;
}

static inline const struct rule *rule_for(struct walk *walk, uint64_t pc)
{
    const struct rule *rule = unwind_cache_find(walk->cache, pc);
    return __builtin_expect(rule != NULL, 1) ? rule : rule_make(walk, pc);
}

/* ---- steps ---- */

/* Ends the step to a caller whose registers are in place. */
static enum step arrive(struct walk *walk, uint64_t pc, uint64_t sp)
{
    walk->regs.r[UNWIND_REG_PC] = pc;
    walk->regs.r[UNWIND_REG_SP] = sp;
    walk->exact = false;
    walk->by_pointer = false;
    walk->java_sp = 0;
    return pc == 0 ? end_walk(walk, UNWIND_COMPLETE) : STEP_CALLER;
}

static inline enum step step_frame(struct walk *walk, const struct rule *rule)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], cfa, pc;
    if (walk->stale >> rule->cfa_register & 1)
        return STEP_RESTART;
    cfa = walk->regs.r[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->kind == RULE_FRAME_DEREF && !read_word(walk, cfa, &cfa))
        return end_walk(walk, UNWIND_STACK_SHORT);
    if (cfa <= sp)
        return end_walk(walk, UNWIND_STUCK);
    uint64_t return_address = cfa + (uint64_t)((int64_t)rule->return_slot * 8);
    if (return_address < sp)
        return end_walk(walk, UNWIND_STUCK);
    if (!read_word(walk, return_address, &pc))
        return end_walk(walk, UNWIND_STACK_SHORT);
    size_t wanted = walk->full ? ARCH_SAVED_REGISTERS : 1; /* the frame pointer comes first */
    for (size_t i = 0; i < wanted; i++) {
        uint8_t reg = arch_saved_registers[i];
        uint64_t slot = cfa + (uint64_t)((int64_t)rule->slots[i] * 8);
        if ((rule->saved >> reg & 1) && slot >= sp && !read_word(walk, slot, &walk->regs.r[reg]))
            return end_walk(walk, UNWIND_STACK_SHORT);
    }
    if (!walk->full)
        walk->stale |= rule->saved & ~(1u << UNWIND_REG_BP);
    return arrive(walk, pc, cfa);
}

static bool register_of_caller(struct walk *walk, const struct cfi_row *row, unsigned reg, uint64_t cfa,
                               uint64_t *value)
{
    int64_t given = row->values[reg];
    uint64_t address;
    switch (row->rules[reg]) {
    case CFI_OFFSET:
        address = cfa + (uint64_t)given;
        if (address < walk->regs.r[UNWIND_REG_SP] && reg != UNWIND_REG_PC)
            return true;
        return read_word(walk, address, value);
    case CFI_VAL_OFFSET:
        *value = cfa + (uint64_t)given;
        return true;
    case CFI_REGISTER:
        if (given < 0 || given >= UNWIND_REGS)
            return false;
        *value = walk->regs.r[given];
        return true;
    case CFI_EXPRESSION:
        return expression_evaluate(cfi_expression(row, given), &walk->regs, &cfa, read_for_expression, walk,
                                   &address) &&
               read_word(walk, address, value);
    case CFI_VAL_EXPRESSION:
        return expression_evaluate(cfi_expression(row, given), &walk->regs, &cfa, read_for_expression, walk, value);
    default:
        return true;
    }
}

static enum step step_complex(struct walk *walk, uint64_t pc)
{
    if (walk->stale)
        return STEP_RESTART;
    const struct mapping *mapping = address_space_find(walk->space, pc);
    struct cfi_row row;
    bool is_debug_frame;
    if (!mapping || !module_rule_row(mapping, pc, &row, &is_debug_frame))
        return end_walk(walk, UNWIND_NO_RULE);
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], cfa;
    if (row.cfa_kind == CFI_CFA_REGISTER)
        cfa = walk->regs.r[row.cfa_register] + (uint64_t)row.cfa_value;
    else if (!expression_evaluate(cfi_expression(&row, row.cfa_value), &walk->regs, NULL, read_for_expression, walk,
                                  &cfa))
        return end_walk(walk, UNWIND_STACK_SHORT);
    struct unwind_regs caller = walk->regs;
    caller.r[UNWIND_REG_SP] = cfa;
    for (unsigned reg = 0; reg < UNWIND_REGS; reg++)
        if (!register_of_caller(walk, &row, reg, cfa, &caller.r[reg]))
            return end_walk(walk, UNWIND_STACK_SHORT);
    /* A leaf may have its return address in a register and nothing on the stack (the last instruction of longjmp). */
    bool may_stay = walk->exact && row.rules[UNWIND_REG_PC] == CFI_REGISTER;
    if (!row.is_signal_frame && (caller.r[UNWIND_REG_SP] < sp || (caller.r[UNWIND_REG_SP] == sp && !may_stay)))
        return end_walk(walk, UNWIND_STUCK);
    walk->regs = caller;
    enum step step = arrive(walk, caller.r[UNWIND_REG_PC], caller.r[UNWIND_REG_SP]);
    walk->exact = row.is_signal_frame;
    return step;
}

static enum step step_signal_frame(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP];
    struct unwind_regs caller;
    for (unsigned reg = 0; reg < UNWIND_REGS; reg++)
        if (!read_word(walk, sp + arch_signal_frame_slots[reg], &caller.r[reg]))
            return end_walk(walk, UNWIND_STACK_SHORT);
    walk->regs = caller;
    walk->stale = 0;
    walk->off_copied_stack |= caller.r[UNWIND_REG_SP] - sp > ARCH_SIGNAL_FRAME_MAX; /* it was below, or far above */
    enum step step = arrive(walk, caller.r[UNWIND_REG_PC], caller.r[UNWIND_REG_SP]);
    walk->exact = true;
    return step;
}

/* The caller, found by frame pointer: its pc, frame pointer and sp. */
static enum step arrive_by_pointer(struct walk *walk, uint64_t pc, uint64_t bp, uint64_t sp)
{
    walk->regs.r[UNWIND_REG_BP] = bp;
    walk->result.used_frame_pointer = true;
    enum step step = arrive(walk, pc, sp);
    walk->by_pointer = true;
    return step;
}

/* Code that is compiled makes room for the arguments of what is interpreted, and the interpreter keeps in its frame
 * where the stack was before (frame::interpreter_frame_sender_sp_offset). In other frames that word is anything. */
static void note_java_sp(struct walk *walk, uint64_t bp)
{
    enum { ROOM_MAX = 4096 };
    uint64_t sp;
    if (walk->space->is_java && read_word(walk, bp - 8, &sp) && sp > bp + 16 && sp - bp <= ROOM_MAX && sp % 8 == 0)
        walk->java_sp = sp;
}

static enum step step_frame_pointer(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], caller_bp, pc;
    if (bp == 0 && walk->frame > 0)
        return end_walk(walk, UNWIND_COMPLETE);
    if (bp < sp || bp % 8 != 0)
        return end_walk(walk, UNWIND_NO_RULE);
    if (!read_word(walk, bp, &caller_bp) || !read_word(walk, bp + 8, &pc))
        return end_walk(walk, UNWIND_STACK_SHORT);
    if (pc == 0 && caller_bp != 0)
        return end_walk(walk, UNWIND_NO_RULE);
    enum step step = arrive_by_pointer(walk, pc, caller_bp, bp + 16);
    note_java_sp(walk, bp);
    return step;
}

static bool can_return_to(struct walk *walk, uint64_t address)
{
    const struct mapping *mapping = address_space_find(walk->space, address - 1);
    if (!mapping || mapping->module)
        return mapping != NULL;
    return unwind_cache_find(walk->cache, address - 1) || jit_rule_returns_to(walk->stack, mapping, address);
}

static bool is_java_frame(struct walk *walk, const struct rule *rule, uint64_t sp)
{
    uint64_t pc;
    return read_word(walk, sp + (uint64_t)(int64_t)rule->cfa_offset - 8, &pc) && can_return_to(walk, pc);
}

/* The leaf may have pushed a register for some instructions, as comparing strings does. */
static enum step step_java(struct walk *walk, const struct rule *rule)
{
    uint64_t *sp = &walk->regs.r[UNWIND_REG_SP];
    if (walk->java_sp && is_java_frame(walk, rule, walk->java_sp))
        *sp = walk->java_sp;
    else if (walk->exact && !is_java_frame(walk, rule, *sp) && is_java_frame(walk, rule, *sp + 8))
        *sp += 8;
    else if (!is_java_frame(walk, rule, *sp))
        return step_frame_pointer(walk);
    return step_frame(walk, rule);
}

/* A caller in Go whose frame pointer is 0. On a stack that is read while the program goes on, that may be a word that
 * has changed since, and the starts that lie there are known by their code. */
static enum step end_of_go_pointers(struct walk *walk)
{
    return end_walk(walk, walk->off_copied_stack ? UNWIND_NO_RULE : UNWIND_COMPLETE);
}

/* The frame pointer of Go, which may lead to a stack further down: a few times in one walk, or damage could send us in
 * circles. */
static enum step step_go_pointer(struct walk *walk)
{
    enum { SWITCHES_MAX = 4 };
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], caller_bp, pc;
    if (bp == 0 && !walk->exact)
        return end_of_go_pointers(walk);
    if (bp % 8 != 0)
        return end_walk(walk, UNWIND_NO_RULE);
    if (bp < sp && walk->switches++ == SWITCHES_MAX)
        return end_walk(walk, UNWIND_STUCK);
    walk->off_copied_stack |= bp < sp;
    if (!read_word(walk, bp, &caller_bp) || !read_word(walk, bp + 8, &pc))
        return end_walk(walk, UNWIND_STACK_SHORT);
    if (pc == 0)
        return end_walk(walk, UNWIND_NO_RULE);
    return arrive_by_pointer(walk, pc, caller_bp, bp + 16);
}

static enum step step_go(struct walk *walk, const struct rule *rule)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], pc;
    uint64_t cfa = sp + (uint64_t)(int64_t)rule->cfa_offset;
    bool bp_in_frame = bp >= sp && bp < cfa;
    if (bp == 0 && !walk->exact)
        return end_of_go_pointers(walk);
    /* Assembly without a frame of its own leaves the caller's frame pointer, which is above. All others have switched.
     * At the leaf the frame pointer says nothing, but where it is called from is code. */
    bool below = bp < sp && !walk->exact;
    if (!bp_in_frame && (below || !read_word(walk, cfa - 8, &pc) || !address_space_find(walk->space, pc - 1))) {
        walk->off_copied_stack = true;
        return step_go_pointer(walk);
    }
    if (bp_in_frame && !read_word(walk, bp, &walk->regs.r[UNWIND_REG_BP]))
        return end_walk(walk, UNWIND_STACK_SHORT);
    enum step step = step_frame(walk, rule);
    /* Go never marks a start with a return address of 0: the word has changed. */
    return walk->regs.r[UNWIND_REG_PC] == 0 ? end_walk(walk, UNWIND_NO_RULE) : step;
}

/* The leaf is outside of all code: most likely it was called there, through a null or wild pointer, or it is the
 * kernel's vsyscall page. Then the return address is on top of the stack. */
static enum step step_wild_call(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], pc;
    if (!read_word(walk, sp, &pc) || !address_space_find(walk->space, pc - 1))
        return end_walk(walk, UNWIND_NO_MODULE);
    return arrive(walk, pc, sp + 8);
}

static enum step step_other(struct walk *walk, const struct rule *rule, uint64_t pc)
{
    switch (rule->kind) {
    case RULE_COMPLEX:
        return step_complex(walk, pc);
    case RULE_AFTER_CLONE:
        if (walk->exact && walk->regs.r[ARCH_SYSCALL_RESULT] == 0)
            return end_walk(walk, UNWIND_COMPLETE);
        return step_frame(walk, rule);
    case RULE_START:
        return end_walk(walk, UNWIND_COMPLETE);
    case RULE_SIGNAL_FRAME:
        return step_signal_frame(walk);
    case RULE_NO_CFI:
        return step_frame_pointer(walk);
    case RULE_JAVA:
        return step_java(walk, rule);
    case RULE_GO:
        return step_go(walk, rule);
    case RULE_GO_NO_CFI:
        return step_go_pointer(walk);
    default: /* RULE_UNMAPPED */
        if (walk->frame == 0)
            return step_wild_call(walk);
        walk->result.frames--; /* not a frame, only what a wrong step left in the pc */
        return end_walk(walk, walk->by_pointer ? UNWIND_NO_RULE : UNWIND_NO_MODULE);
    }
}

/* A copy in a perf ring was written on another processor: each of its cache lines is a miss, and each frame must be
 * read before the place of the next is known. Asking for some lines ahead of the walk lets the misses overlap. */
static inline void fetch_ahead(struct walk *walk)
{
    enum { LINE = 64, AHEAD = 32 * LINE };
    uint64_t offset = walk->regs.r[UNWIND_REG_SP] - walk->stack->sp, size = walk->stack->size;
    if (offset >= size)
        return;
    if (walk->fetched < offset)
        walk->fetched = offset;
    for (uint64_t end = size - offset > AHEAD ? offset + AHEAD : size; walk->fetched < end; walk->fetched += LINE)
        __builtin_prefetch(walk->stack->bytes + walk->fetched);
}

static enum step run(struct walk *walk, uint64_t *pcs, size_t max_pcs)
{
    for (walk->frame = 0; walk->frame < max_pcs; walk->frame++) {
        uint64_t pc = walk->regs.r[UNWIND_REG_PC] - (walk->exact ? 0 : 1);
        fetch_ahead(walk);
        pcs[walk->frame] = pc;
        walk->result.frames = walk->frame + 1;
        const struct rule *rule = rule_for(walk, pc);
        enum step step = rule->kind <= RULE_FRAME_DEREF ? step_frame(walk, rule) : step_other(walk, rule, pc);
        if (step != STEP_CALLER)
            return step;
    }
    return end_walk(walk, UNWIND_TOO_DEEP);
}

static void start(struct walk *walk, const struct unwind_regs *regs, bool full)
{
    walk->regs = *regs;
    walk->full = full;
    walk->stale = 0;
    walk->switches = 0;
    walk->off_copied_stack = false;
    walk->exact = true;
    walk->by_pointer = false;
    walk->java_sp = 0;
    walk->result = (struct unwind_result){.end = UNWIND_NO_RULE};
}

struct unwind_result unwind_walk(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs)
{
    struct walk walk = {.space = space, .stack = stack};
    if (!space->cache)
        space->cache = unwind_cache_new();
    if (!space->cache) { /* out of memory: the leaf alone */
        if (max_pcs > 0)
            pcs[0] = regs->r[UNWIND_REG_PC];
        return (struct unwind_result){.frames = max_pcs > 0, .end = UNWIND_NO_RULE};
    }
    walk.cache = space->cache;
    start(&walk, regs, false);
    if (run(&walk, pcs, max_pcs) == STEP_RESTART) {
        start(&walk, regs, true);
        run(&walk, pcs, max_pcs);
    }
    return walk.result;
}
