/*
 * The stack walker.
 *
 * A step takes the registers of one frame and computes those of its caller. A rule (cache.h) says how to do that at a
 * pc. The walker looks it up in the pc cache, or makes it. The common rule costs a hash, two loads from the copied
 * stack and no call.
 *
 * Where rules come from. The first that applies counts:
 * 1. Go's runtime, whose CFI does not say where stacks begin, is recognized by its code (arch.h).
 * 2. The CFI of the file (module_rule.h).
 * 3. Code without CFI that is the same in many programs (PLT entries, clone, the sigreturn trampoline) is recognized by
 *    its bytes (arch.h).
 * 4. Other code without CFI is read ahead to its return (x86_64_return.c), which shows where the return address is.
 * 5. The frame pointer.
 * JIT code has no file. The walker reads its instructions from the process (jit_rule.h), and tries the frame pointer
 * before it reads ahead. What steps 4 and 5 find counts only if it follows a call instruction. Where all fails, JIT
 * code is left for the file that entered it, and that counts only if the walk from there is complete.
 *
 * When a stack is complete. The walk must reach the start of its thread or coroutine. Some code is such a start:
 * - a function whose CFI says that its return address is undefined (glibc's _start and clone);
 * - code at the ELF entry point that has no CFI and does not return (_start of ld.so and of musl);
 * - the code after the system call of clone or clone3 whose result is 0, and musl's after it has called the thread's
 *   function;
 * - the places where Go's runtime starts a stack (below).
 * Other starts are marked by a word on the stack:
 * - a return address of 0, which coroutines and thread libraries store;
 * - a frame pointer of 0 in a caller without CFI, which is the psABI's mark of the deepest frame (3.4.1). The kernel
 *   sets it at exec, Go and musl for each new thread. At a leaf it means nothing: assembly may use the register. In JIT
 *   code it counts only at the end of a chain of frame pointers: Erlang's uses the register for other things;
 * - a return address that no call precedes and that begins a function or has no CFI: makecontext, Boost and libco store
 *   the first function of a context there.
 * A wrong step finds such words, too. So a mark counts only if none of the 64 words above it can be a return address.
 * Every other end is a reason in unwind_ends, and users see the stack as truncated.
 *
 * Light and full walks. Almost every step needs only sp, pc and the frame pointer of the registers that a function
 * saves for its caller. So a light walk restores only these, and notes which others have become stale. When a rule asks
 * for a stale register (a CFA computed from rbx or r12, an expression), the walk starts over as a full one, which
 * restores everything.
 *
 * Unknown registers. Of a thread that waits only sp and pc are known. That is enough until a CFA is computed from a
 * frame pointer that no function further in has saved: in code that keeps one (-O0, -fno-omit-frame-pointer), below a
 * system call wrapper that needs none. Then the walker looks for the frame, from sp upwards: where the CFI would find
 * the return address there must be one, behind a call of this function or an indirect one. Old return addresses may lie
 * in between, in variables that the function has not set: from the frame that is found its caller must lead on as well.
 *
 * A leaf whose CFI is wrong. Some assembly has calls inside of one function, and its CFI does not hold for the part
 * that is called. When the CFI of a leaf leads nowhere, the walk starts over, and reads the code of the leaf ahead to
 * its return.
 *
 * Slots below sp. Epilogues pop registers while the CFI still says that they are saved (gcc does not describe each
 * pop). What lies below sp is dead to the program and not in the copy, so a slot there means that the register is live
 * already.
 *
 * Other stacks. A signal handler may run on an alternate stack: the kernel's signal frame leads back to the interrupted
 * one, which the walker reads from the process. So does a function that switches stacks, if its CFI finds the CFA by
 * the frame pointer: SBCL enters Lisp so. What lies more than FAR above the copy is taken to be another stack.
 *
 * Go keeps a frame pointer in every function that calls, and its CFI (.debug_frame, absent when stripped) knows only
 * sp. So CFI tells where the leaf's frame is, and the walker follows the frame pointer beside it. Where the two part,
 * the runtime has switched stacks (systemstack, asmcgocall), and the frame pointer leads back to the goroutine. The
 * runtime starts stacks in goexit (goroutines), mstart (threads), mcall and morestack (the scheduler, on the thread's
 * system stack). The goroutine that mcall has left may run on another thread by now, so its stack must not be read; yet
 * before Go 1.25 the frame pointer still leads there, and until 1.26 that of mstart leads to the thread that made this
 * one.
 */
#include "unwind/address_space.h"
#include "unwind/cache.h"
#include "unwind/expression.h"
#include "unwind/jit_rule.h"
#include "unwind/module.h"
#include "unwind/module_rule.h"

#include <string.h>

struct walk {
    const struct address_space *space;
    struct unwind_cache *cache;
    const struct unwind_stack *stack;
    struct unwind_regs regs;
    uint32_t stale; /* bits of DWARF register numbers whose value a light walk has lost, or nobody knows */
    bool full;
    bool leaf_by_return; /* the leaf's CFI led nowhere: read its code instead */
    bool exact;          /* the pc of this frame was interrupted, it is not a return address */
    bool by_pointer;     /* this frame was found by the frame pointer of the one before */
    uint64_t *pcs;
    size_t frame;
    unsigned switches;     /* to a stack below this one, by a frame pointer of Go */
    bool off_copied_stack; /* on another stack than the one that was copied */
    uint64_t fetched;      /* bytes of the copy that are on their way to this processor */
    struct rule made;      /* one that is not for the cache */
    struct rule kept;      /* that of this frame, while the cache is filled */
    size_t guess;          /* the frame that leave_jit_code() found, 0 if none: what it leads to must be complete */
    uint64_t java_sp; /* the stack pointer of this frame, if the one before is of HotSpot's interpreter; 0: cannot be */
    struct unwind_result result;
};

/* Bytes. What lies further above sp is in another stack: no frame is so large, and most stacks are smaller. */
enum { FAR = 16 << 20 };

enum step {
    STEP_CALLER,  /* the registers are now the caller's */
    STEP_END,     /* result.end says why */
    STEP_RESTART, /* a light walk needs a register that it has lost */
};

const struct unwind_end_text unwind_ends[UNWIND_ENDS] = {
    [UNWIND_COMPLETE] = {"complete", "the stack reaches the start of its thread"},
    [UNWIND_STACK_SHORT] = {"stack_short", "deeper than the copy of the stack, and the rest could not be read in time"},
    [UNWIND_OFF_COPIED_STACK] = {"off_copied_stack",
                                 "goes on in another stack (signal, goroutine, language runtime), which could not be "
                                 "read in time"},
    [UNWIND_NO_STACK] = {"no_stack", "nothing of the stack could be copied, because no memory was there yet"},
    [UNWIND_NO_CFI] = {"no_cfi", "in code whose file has no unwind information for it"},
    [UNWIND_JIT_CODE] = {"jit_code", "in JIT code, which has neither unwind information nor frame pointers"},
    [UNWIND_NO_FILE] = {"no_file", "in code whose file could not be read"},
    [UNWIND_NO_MODULE] = {"no_module", "outside of all code"},
    [UNWIND_DAMAGED] = {"damaged", "the unwind information or the stack is damaged"},
    [UNWIND_TOO_DEEP] = {"too_deep", "more than 4,096 frames"},
    [UNWIND_32_BIT] = {"32_bit", "in 32-bit code, which prof does not unwind"},
};

static enum step end_walk(struct walk *walk, enum unwind_end end)
{
    walk->result.end = end;
    return STEP_END;
}

static enum step end_of_memory(struct walk *walk)
{
    if (walk->off_copied_stack)
        return end_walk(walk, UNWIND_OFF_COPIED_STACK);
    return end_walk(walk, walk->stack->size ? UNWIND_STACK_SHORT : UNWIND_NO_STACK);
}

/* Ends the walk at a frame whose caller cannot be found. */
static enum step end_without_rule(struct walk *walk)
{
    uint64_t pc = walk->pcs[walk->frame];
    const struct mapping *mapping = address_space_find(walk->space, pc);
    struct cfi_fde fde;
    struct cfi_row row;
    if (!mapping)
        return end_walk(walk, UNWIND_NO_MODULE);
    if (!mapping->module)
        return end_walk(walk, mapping->lib == MAPPING_NO_LIB ? UNWIND_JIT_CODE : UNWIND_NO_FILE);
    return end_walk(walk, module_rule_row(mapping, pc, &fde, &row) ? UNWIND_DAMAGED : UNWIND_NO_CFI);
}

/* The leaf's CFI led nowhere: starts over from its code. */
static enum step restart_by_return(struct walk *walk)
{
    if (walk->leaf_by_return)
        return end_without_rule(walk);
    walk->leaf_by_return = true;
    return STEP_RESTART;
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

/* Reads bytes that are not all in the copy. */
static bool read_outside(struct walk *walk, uint64_t address, unsigned char *out, size_t size)
{
    const struct unwind_stack *stack = walk->stack;
    uint64_t offset = address - stack->sp;
    if (address > UINT64_MAX - size)
        return false;
    if (address < stack->sp)
        return walk->off_copied_stack && read_above(walk, address, out, size);
    walk->off_copied_stack |= offset > FAR;
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

/* The cache holds more than the rules of pcs. The keys of other rules have bits that no user address has. */
static const uint64_t leaf_bit = UINT64_C(1) << 63, return_bit = UINT64_C(1) << 62, call_bit = UINT64_C(1) << 61;

/* JIT code may be replaced by other code. So the walker reads the code again each time that a leaf is at the edge of a
 * function, which is seldom. Other rules are cached, with one key for a leaf and another for a caller. */
static const struct rule *rule_of_jit_code(struct walk *walk, const struct mapping *mapping, uint64_t pc, bool exact)
{
    struct jit_frame frame = {.stack = walk->stack, .mapping = mapping, .next_pc = pc + !exact, .exact = exact};
    uint64_t key = exact ? pc | leaf_bit : pc;
    const struct rule *known = exact ? unwind_cache_find(walk->cache, key) : NULL;
    if (known)
        return known;
    walk->made = (struct rule){.kind = RULE_NO_CFI};
    bool is_edge = jit_rule_of_snippet(&frame, walk->space->is_java, &walk->made);
    if (is_edge && exact)
        return &walk->made;
    if (!is_edge && walk->space->is_java)
        jit_rule_of_java(&frame, &walk->made);
    struct rule *rule = unwind_cache_add(walk->cache, key);
    walk->made.pc = rule->pc;
    walk->made.generation = rule->generation;
    *rule = walk->made;
    return rule;
}

static const struct rule unmapped_rule = {.kind = RULE_UNMAPPED};

static const struct rule *rule_make(struct walk *walk, uint64_t pc, bool exact)
{
    const struct mapping *mapping = address_space_find(walk->space, pc);
    if (!mapping)
        return &unmapped_rule;
    if (!mapping->module)
        return rule_of_jit_code(walk, mapping, pc, exact);
    struct rule *rule = unwind_cache_add(walk->cache, pc);
    module_rule_find(mapping, pc, exact, rule);
    return rule;
}

/* `exact` says of this pc, which need not be that of the walk's frame, what walk->exact says of that one. */
static inline const struct rule *rule_for(struct walk *walk, uint64_t pc, bool exact)
{
    const struct rule *rule = unwind_cache_find(walk->cache, pc);
    return __builtin_expect(rule != NULL, 1) ? rule : rule_make(walk, pc, exact);
}

/* ---- return addresses ---- */

/* Returns whether a call instruction ends at this address. *target is where a direct call went, else 0. The answer for
 * a file is cached: cfa_register says whether there is a call, cfa_offset is the distance to its target. */
static bool follows_call(struct walk *walk, uint64_t address, uint64_t *target)
{
    const struct mapping *mapping = address_space_find(walk->space, address - 1);
    *target = 0;
    if (!mapping)
        return false;
    if (!mapping->module || !unwind_module_has_code(mapping->module))
        return jit_rule_returns_to(walk->stack, mapping, address);
    struct rule *answer = unwind_cache_find(walk->cache, address | call_bit);
    if (!answer) {
        answer = unwind_cache_add(walk->cache, address | call_bit);
        answer->cfa_register = module_rule_follows_call(mapping, address, target);
        answer->cfa_offset = *target ? (int32_t)(*target - address) : 0;
    }
    *target = answer->cfa_offset ? address + (uint64_t)(int64_t)answer->cfa_offset : 0;
    return answer->cfa_register;
}

static inline bool can_return_to(struct walk *walk, uint64_t address)
{
    uint64_t target;
    return unwind_cache_find(walk->cache, address - 1) || follows_call(walk, address, &target);
}

/* Finds the first word from `*sp` up that can be a return address, and sets *sp to the address of that word. Most words
 * are small numbers or lie where the word before did, in a gap between mappings (addresses of the stack or the heap).
 */
static bool next_return_address(struct walk *walk, uint64_t *sp, uint64_t *address)
{
    enum { WORDS = 64 };
    bool used_read_above = walk->result.used_read_above, found = false;
    const struct mapping *lowest = walk->space->mappings.length ? walk->space->mappings.data : NULL;
    struct address_gap gap = {0};
    for (int i = 0; i < WORDS && read_word(walk, *sp, address); i++, *sp += 8) {
        uint64_t pc = *address - 1;
        bool is_unmapped = !lowest || *address <= lowest->start || pc - gap.start < gap.end - gap.start ||
                           address_space_is_unmapped(walk->space, pc, &gap);
        if ((found = !is_unmapped && can_return_to(walk, *address)))
            break;
    }
    walk->result.used_read_above = used_read_above;
    return found;
}

/* A return address or frame pointer of 0, or one that no call precedes, marks the first frame of a thread or coroutine.
 * A wrong step finds such words anywhere, so the mark counts only if the stack ends there. */
static enum step end_at_mark(struct walk *walk, uint64_t sp)
{
    uint64_t address;
    if (!next_return_address(walk, &sp, &address))
        return end_walk(walk, UNWIND_COMPLETE);
    return walk->frame == 0 ? restart_by_return(walk) : end_without_rule(walk);
}

/* ---- steps ---- */

static enum step restart_in_full(struct walk *walk)
{
    walk->full = true;
    return STEP_RESTART;
}

/* Ends the step to a caller whose registers are in place. */
static enum step arrive(struct walk *walk, uint64_t pc, uint64_t sp)
{
    walk->regs.r[UNWIND_REG_PC] = pc;
    walk->regs.r[UNWIND_REG_SP] = sp;
    walk->exact = false;
    walk->by_pointer = false;
    walk->java_sp = 0;
    return pc == 0 ? end_at_mark(walk, sp) : STEP_CALLER;
}

/* The same for a frame that a signal has interrupted. It may be on another stack, below the handler's or far above. */
static enum step arrive_at_interrupted(struct walk *walk, uint64_t handler_sp)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP];
    walk->off_copied_stack |= sp - handler_sp > ARCH_SIGNAL_FRAME_MAX;
    enum step step = arrive(walk, walk->regs.r[UNWIND_REG_PC], sp);
    walk->exact = true;
    return step;
}

static bool may_call(struct walk *walk, uint64_t return_address, const struct mapping *mapping, uint64_t start)
{
    uint64_t target;
    if (!follows_call(walk, return_address, &target))
        return false;
    /* an indirect call; one of another file, which went through a PLT; one of this function */
    return !target || !mapping || target < mapping->start || target >= mapping->end || target == start;
}

/* Where a function begins, as far as its CFI tells; 0 if it does not. */
static uint64_t function_start(const struct mapping *mapping, uint64_t pc)
{
    uint64_t base = unwind_module_base(mapping->module), start, size;
    bool is_known = unwind_module_function(mapping->module, base + mapping->rva + (pc - mapping->start), &start, &size);
    return is_known ? start - base - mapping->rva + mapping->start : 0;
}

/* Whether the caller, which goes on at `address`, has a return address where its rule finds it. True if that is not
 * known. `rule`: of the function that it called, whose frame pointer may be `bp`. */
static bool leads_on(struct walk *walk, const struct rule *rule, uint64_t bp, uint64_t address)
{
    uint64_t cfa = bp + (uint64_t)(int64_t)rule->cfa_offset, caller_cfa = cfa, next;
    const struct rule *caller = rule_for(walk, address - 1, false);
    const struct mapping *mapping = address_space_find(walk->space, address - 1);
    if (caller->kind != RULE_FRAME || !mapping || !mapping->module)
        return true;
    if (caller->cfa_register == UNWIND_REG_BP) {
        bool is_saved = rule->saved >> UNWIND_REG_BP & 1; /* its slot is the first */
        if (!is_saved || !read_word(walk, cfa + (uint64_t)((int64_t)rule->slots[0] * 8), &caller_cfa))
            return !is_saved;
    } else if (caller->cfa_register != UNWIND_REG_SP) {
        return true;
    }
    caller_cfa += (uint64_t)(int64_t)caller->cfa_offset;
    if (caller_cfa <= cfa || !read_word(walk, caller_cfa + (uint64_t)((int64_t)caller->return_slot * 8), &next))
        return false;
    uint64_t start = function_start(mapping, address - 1);
    return !next || (address_space_find(walk->space, next - 1) && may_call(walk, next, mapping, start));
}

/* Whether the call before `address` goes to another function of its own file than the one that begins at `start`. Those
 * to other files go to stubs of the PLT, which are no functions to the CFI, or, of each such section, the first. */
static bool calls_another(struct walk *walk, uint64_t address, uint64_t start)
{
    uint64_t target;
    follows_call(walk, address, &target);
    const struct mapping *mapping = target ? address_space_find(walk->space, target) : NULL;
    return mapping && mapping->module && target != start && function_start(mapping, target) == target;
}

/*
 * Finds the value that an unknown frame pointer must have. Returns false if there is none.
 *
 * The frames of functions that have returned are consistent as well: each may have called some function by a pointer or
 * through the PLT, and has a caller. So a frame whose caller calls this function and no other is preferred, if there is
 * one a little further up.
 */
static bool find_frame_pointer(struct walk *walk, const struct rule *rule)
{
    enum { REACH = 64 << 10, A_LITTLE = 8 << 10, CANDIDATES = 512 };
    enum { NOTHING, CALLED, LEADS_ON, CALLED_AND_LEADS_ON, CALLED_BY_NAME } best = NOTHING;
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], pc = walk->pcs[walk->frame], address, target, end = sp + REACH;
    const struct mapping *mapping = address_space_find(walk->space, pc);
    if (rule->kind != RULE_FRAME || rule->cfa_register != UNWIND_REG_BP || !mapping || !mapping->module)
        return false;
    uint64_t start = function_start(mapping, pc);
    uint64_t to_return_address = (uint64_t)(rule->cfa_offset + (int64_t)rule->return_slot * 8);
    int candidates = 0;
    for (uint64_t bp = sp; bp < end && read_word(walk, bp + to_return_address, &address); bp += 8) {
        if (!address_space_find(walk->space, address - 1) || !may_call(walk, address, mapping, start))
            continue;
        bool is_called = !calls_another(walk, address, start), goes_on = leads_on(walk, rule, bp, address);
        bool is_named = follows_call(walk, address, &target) && target && target == start;
        int quality = !goes_on ? CALLED : is_named ? CALLED_BY_NAME : is_called ? CALLED_AND_LEADS_ON : LEADS_ON;
        if (quality > (int)best) {
            best = quality;
            walk->regs.r[UNWIND_REG_BP] = bp;
            if (best == CALLED_AND_LEADS_ON && end > bp + A_LITTLE)
                end = bp + A_LITTLE;
        }
        if (best == CALLED_BY_NAME || ++candidates == CANDIDATES)
            break;
    }
    if (best == NOTHING)
        return false;
    walk->stale &= ~(UINT32_C(1) << UNWIND_REG_BP);
    walk->result.used_no_cfi = true;
    return true;
}

/* The rule, if the register that it finds the CFA by is known now; else NULL, and *step. The search fills the cache,
 * which may move the rule. */
static __attribute__((noinline)) const struct rule *find_cfa_register(struct walk *walk, const struct rule *rule,
                                                                      enum step *step)
{
    walk->kept = *rule;
    if (!walk->full && rule->cfa_register != UNWIND_REG_BP)
        *step = restart_in_full(walk);
    else if (!find_frame_pointer(walk, &walk->kept))
        *step = end_without_rule(walk);
    else
        return &walk->kept;
    return NULL;
}

/* The step of almost every frame: a call for it would cost a tenth of the walk. */
static inline __attribute__((always_inline)) enum step step_frame(struct walk *walk, const struct rule *rule)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], cfa, pc;
    enum step step;
    if (__builtin_expect(walk->stale >> rule->cfa_register & 1, 0)) {
        rule = find_cfa_register(walk, rule, &step);
        if (!rule)
            return step;
    }
    cfa = walk->regs.r[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->kind == RULE_FRAME_DEREF && !read_word(walk, cfa, &cfa))
        return end_of_memory(walk);
    if (cfa <= sp)
        return end_walk(walk, UNWIND_DAMAGED);
    uint64_t return_address = cfa + (uint64_t)((int64_t)rule->return_slot * 8);
    if (return_address < sp)
        return end_walk(walk, UNWIND_DAMAGED);
    if (!read_word(walk, return_address, &pc))
        return end_of_memory(walk);
    size_t wanted = walk->full ? ARCH_SAVED_REGISTERS : 1; /* the frame pointer comes first */
    for (size_t i = 0; i < wanted; i++) {
        uint8_t reg = arch_saved_registers[i];
        uint64_t slot = cfa + (uint64_t)((int64_t)rule->slots[i] * 8);
        if (!(rule->saved >> reg & 1) || slot < sp)
            continue;
        if (!read_word(walk, slot, &walk->regs.r[reg]))
            return end_of_memory(walk);
        walk->stale &= ~(UINT32_C(1) << reg);
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
    if (walk->stale && !walk->full)
        return restart_in_full(walk);
    const struct mapping *mapping = address_space_find(walk->space, pc);
    struct cfi_fde fde;
    struct cfi_row row;
    if (!mapping || !module_rule_row(mapping, pc, &fde, &row))
        return end_without_rule(walk);
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], cfa;
    if (row.cfa_kind == CFI_CFA_REGISTER && row.cfa_register < UNWIND_REGS && walk->stale >> row.cfa_register & 1)
        return end_without_rule(walk);
    if (row.cfa_kind == CFI_CFA_REGISTER)
        cfa = walk->regs.r[row.cfa_register] + (uint64_t)row.cfa_value;
    else if (!expression_evaluate(cfi_expression(&row, row.cfa_value), &walk->regs, NULL, read_for_expression, walk,
                                  &cfa))
        return end_of_memory(walk);
    struct unwind_regs caller = walk->regs;
    caller.r[UNWIND_REG_SP] = cfa;
    for (unsigned reg = 0; reg < UNWIND_REGS; reg++) {
        if (!register_of_caller(walk, &row, reg, cfa, &caller.r[reg]))
            return end_of_memory(walk);
        if (row.rules[reg] != CFI_SAME_VALUE && row.rules[reg] != CFI_UNDEFINED)
            walk->stale &= ~(UINT32_C(1) << reg);
    }
    /* A leaf may have its return address in a register and nothing on the stack (the last instruction of longjmp). */
    bool may_stay = walk->exact && row.rules[UNWIND_REG_PC] == CFI_REGISTER;
    if (!row.is_signal_frame && (caller.r[UNWIND_REG_SP] < sp || (caller.r[UNWIND_REG_SP] == sp && !may_stay)))
        return end_walk(walk, UNWIND_DAMAGED);
    walk->regs = caller;
    return row.is_signal_frame ? arrive_at_interrupted(walk, sp)
                               : arrive(walk, caller.r[UNWIND_REG_PC], caller.r[UNWIND_REG_SP]);
}

static enum step step_signal_frame(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP];
    struct unwind_regs caller = {0};
    for (unsigned reg = 0; reg < UNWIND_REGS; reg++)
        if (!read_word(walk, sp + arch_signal_frame_slots[reg], &caller.r[reg]))
            return end_of_memory(walk);
    walk->regs = caller;
    walk->stale = 0;
    return arrive_at_interrupted(walk, sp);
}

/* Ends the step to a caller that was found by frame pointer: its pc, frame pointer and sp. */
static enum step arrive_by_pointer(struct walk *walk, uint64_t pc, uint64_t bp, uint64_t sp)
{
    walk->regs.r[UNWIND_REG_BP] = bp;
    walk->result.used_no_cfi = true;
    enum step step = arrive(walk, pc, sp);
    walk->by_pointer = true;
    return step;
}

/* Compiled code makes room for the arguments of an interpreted function, and the interpreter stores in its frame where
 * the stack was before (frame::interpreter_frame_sender_sp_offset). Other frames have any word there. */
static void note_java_sp(struct walk *walk, uint64_t bp)
{
    enum { ROOM_MAX = 4096 };
    uint64_t sp;
    if (walk->space->is_java && read_word(walk, bp - 8, &sp) && sp > bp + 16 && sp - bp <= ROOM_MAX && sp % 8 == 0)
        walk->java_sp = sp;
}

/* Reads what would be the return address of the frame that `rule` finds at `base`. False if it cannot be one. */
static bool read_return_address(struct walk *walk, const struct rule *rule, uint64_t base, uint64_t *address)
{
    bool off_copied_stack = walk->off_copied_stack;
    if (read_word(walk, base + (uint64_t)(int64_t)rule->cfa_offset - 8, address) && can_return_to(walk, *address))
        return true;
    walk->off_copied_stack = off_copied_stack;
    return false;
}

static bool is_return_frame(struct walk *walk, const struct rule *rule, uint64_t base)
{
    uint64_t address;
    return read_return_address(walk, rule, base, &address);
}

/* Makes the rule that reading ahead to the return gives, for a leaf whose CFI led nowhere and for JIT code. (Code of a
 * file without CFI has such a rule from the start.) */
static bool rule_by_return(struct walk *walk, struct rule *rule)
{
    uint64_t pc = walk->pcs[walk->frame], key = pc | return_bit | (walk->exact ? leaf_bit : 0);
    const struct rule *known = unwind_cache_find(walk->cache, key);
    const struct mapping *mapping = address_space_find(walk->space, pc);
    if (!mapping || (mapping->module && !walk->leaf_by_return))
        return false;
    if (!known) {
        struct jit_frame frame = {
            .stack = walk->stack, .mapping = mapping, .next_pc = pc + !walk->exact, .exact = walk->exact};
        struct rule *made = unwind_cache_add(walk->cache, key);
        made->kind = RULE_NO_CFI;
        if (mapping->module)
            module_rule_of_return(mapping, pc, walk->exact, made);
        else
            jit_rule_of_return(&frame, made);
        known = made;
    }
    *rule = *known;
    return true;
}

static bool has_frame(const struct walk *walk, const struct rule *rule)
{
    return rule->cfa_offset && !(walk->stale >> rule->cfa_register & 1);
}

/* Steps by the rule that reading ahead gave, if it leads to a return address; else changes nothing. */
static bool try_return(struct walk *walk, const struct rule *rule, enum step *step)
{
    if (!has_frame(walk, rule) || !is_return_frame(walk, rule, walk->regs.r[rule->cfa_register]))
        return false;
    walk->result.used_no_cfi = true;
    *step = step_frame(walk, rule);
    return true;
}

static bool is_in_file(const struct walk *walk)
{
    const struct mapping *mapping = address_space_find(walk->space, walk->pcs[walk->frame]);
    return mapping && mapping->module;
}

/* JIT code that does not return and keeps no frame pointer, like LuaJIT's traces, runs in the frame of the code that
 * entered it. So the caller is the first return address on the stack, if it is in a file: in JIT code it would be one
 * of several frames, of which nothing is known. */
static enum step leave_jit_code(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], address;
    const struct mapping *mapping = address_space_find(walk->space, walk->pcs[walk->frame]);
    if (!mapping || mapping->module || mapping->lib != MAPPING_NO_LIB || !next_return_address(walk, &sp, &address))
        return end_without_rule(walk);
    const struct mapping *caller = address_space_find(walk->space, address - 1);
    if (!caller || !caller->module)
        return end_without_rule(walk);
    if (!walk->guess)
        walk->guess = walk->frame + 1;
    for (size_t i = 0; i < ARCH_SAVED_REGISTERS; i++)
        walk->stale |= UINT32_C(1) << arch_saved_registers[i];
    walk->result.used_no_cfi = true;
    return arrive(walk, address, sp + 8);
}

/* Where a frame pointer leads that does not find the caller. */
enum pointer_end {
    POINTER_NOWHERE,
    POINTER_OUT_OF_REACH, /* to a frame, perhaps, which cannot be read */
    POINTER_UNKNOWN_CODE, /* to a frame whose caller lies in no known mapping, but perhaps in one that is new */
};

static enum step step_no_pointer(struct walk *walk, enum pointer_end end)
{
    enum step step;
    struct rule rule;
    if (rule_by_return(walk, &rule) && try_return(walk, &rule, &step))
        return step;
    if (walk->regs.r[UNWIND_REG_BP] == 0 && walk->frame > 0 && (walk->by_pointer || is_in_file(walk)))
        return end_at_mark(walk, walk->regs.r[UNWIND_REG_SP]);
    if (end == POINTER_UNKNOWN_CODE)
        return end_walk(walk, UNWIND_NO_MODULE);
    return end == POINTER_OUT_OF_REACH ? end_of_memory(walk) : leave_jit_code(walk);
}

static bool is_frame_of_unknown_code(struct walk *walk, uint64_t bp, uint64_t caller_bp, uint64_t pc)
{
    const struct mapping *lowest = walk->space->mappings.length ? walk->space->mappings.data : NULL;
    return lowest && pc > lowest->start && caller_bp > bp && caller_bp - bp < FAR && caller_bp % 8 == 0 &&
           !address_space_find(walk->space, pc - 1);
}

static enum step step_frame_pointer(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], caller_bp, pc;
    if (bp < sp || bp - sp >= FAR || bp % 8 != 0)
        return step_no_pointer(walk, POINTER_NOWHERE);
    if (!read_word(walk, bp, &caller_bp) || !read_word(walk, bp + 8, &pc))
        return step_no_pointer(walk, POINTER_OUT_OF_REACH);
    if (!can_return_to(walk, pc) && (pc != 0 || caller_bp != 0))
        return step_no_pointer(walk, is_frame_of_unknown_code(walk, bp, caller_bp, pc) ? POINTER_UNKNOWN_CODE
                                                                                       : POINTER_NOWHERE);
    enum step step = arrive_by_pointer(walk, pc, caller_bp, bp + 16);
    note_java_sp(walk, bp);
    return step;
}

/* Returns whether the instruction before `address` most likely called the code at `pc`: it starts the thread, or is a
 * direct call of a function that begins at or not far before `pc`. */
static bool is_call_of(struct walk *walk, uint64_t address, uint64_t pc)
{
    enum { REACH = 4096 };
    uint64_t target;
    uint8_t kind = rule_for(walk, address - 1, false)->kind;
    return kind == RULE_START || kind == RULE_ENTRY || (follows_call(walk, address, &target) && pc - target < REACH);
}

/* Code that never returns was called by the next return address on its stack: by the start of the thread, or by a
 * direct call of this function (exit, abort). But where padding after a call aligns a loop, the code does return, and
 * older return addresses may lie in its frame. */
static enum step step_no_return(struct walk *walk, const struct rule *rule)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], pc = walk->pcs[walk->frame], address;
    enum step step;
    bool is_frame = has_frame(walk, rule) &&
                    read_return_address(walk, rule, walk->regs.r[rule->cfa_register], &address) &&
                    is_call_of(walk, address, pc);
    if (!is_frame && next_return_address(walk, &sp, &address)) {
        walk->result.used_no_cfi = true;
        if (is_call_of(walk, address, pc))
            return arrive(walk, address, sp + 8);
    }
    return try_return(walk, rule, &step) ? step : step_frame_pointer(walk);
}

/* A function's address is where a return address should be: the function is the start of a context. */
static enum step step_planted(struct walk *walk)
{
    if (walk->exact) /* the rule of this pc as a return address */
        return step_frame_pointer(walk);
    walk->pcs[walk->frame]++;
    enum step step = end_at_mark(walk, walk->regs.r[UNWIND_REG_SP]);
    if (walk->result.end != UNWIND_COMPLETE)
        walk->result.frames--;
    return step;
}

/* The leaf may have pushed a register for some instructions, as HotSpot's comparison of strings does. */
static enum step step_java(struct walk *walk, const struct rule *rule)
{
    uint64_t *sp = &walk->regs.r[UNWIND_REG_SP];
    if (walk->java_sp && is_return_frame(walk, rule, walk->java_sp))
        *sp = walk->java_sp;
    else if (walk->exact && !is_return_frame(walk, rule, *sp) && is_return_frame(walk, rule, *sp + 8))
        *sp += 8;
    else if (!is_return_frame(walk, rule, *sp))
        return step_frame_pointer(walk);
    return step_frame(walk, rule);
}

/* A caller in Go whose frame pointer is 0. On a stack that is read while the program goes on, that may be a word that
 * has changed since, and the starts that lie there are known by their code. */
static enum step end_of_go_pointers(struct walk *walk)
{
    return walk->off_copied_stack ? end_of_memory(walk) : end_at_mark(walk, walk->regs.r[UNWIND_REG_SP]);
}

/* The frame pointer of Go, which may lead to a stack further down: a few times in one walk, or damage could send us in
 * circles. */
static enum step step_go_pointer(struct walk *walk)
{
    enum { SWITCHES_MAX = 4 };
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], caller_bp, pc;
    if (walk->stale >> UNWIND_REG_BP & 1)
        return end_without_rule(walk);
    if (bp == 0 && !walk->exact)
        return end_of_go_pointers(walk);
    if (bp % 8 != 0)
        return end_without_rule(walk);
    if (bp < sp && walk->switches++ == SWITCHES_MAX)
        return end_walk(walk, UNWIND_DAMAGED);
    walk->off_copied_stack |= bp < sp;
    if (!read_word(walk, bp, &caller_bp) || !read_word(walk, bp + 8, &pc))
        return end_of_memory(walk);
    if (pc == 0)
        return end_without_rule(walk);
    return arrive_by_pointer(walk, pc, caller_bp, bp + 16);
}

/* The frame pointer is not known: the thread waits. Every function of Go with a frame keeps it below the return
 * address.
 */
static enum step step_go_without_pointer(struct walk *walk, const struct rule *rule)
{
    uint64_t cfa = walk->regs.r[UNWIND_REG_SP] + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->cfa_offset > 8) {
        if (!read_word(walk, cfa - 16, &walk->regs.r[UNWIND_REG_BP]))
            return end_of_memory(walk);
        walk->stale &= ~(UINT32_C(1) << UNWIND_REG_BP);
    }
    enum step step = step_frame(walk, rule);
    return walk->regs.r[UNWIND_REG_PC] == 0 ? end_without_rule(walk) : step;
}

static enum step step_go(struct walk *walk, const struct rule *rule)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], pc;
    uint64_t cfa = sp + (uint64_t)(int64_t)rule->cfa_offset;
    bool bp_in_frame = bp >= sp && bp < cfa;
    if (walk->stale >> UNWIND_REG_BP & 1)
        return step_go_without_pointer(walk, rule);
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
        return end_of_memory(walk);
    enum step step = step_frame(walk, rule);
    /* Go never marks a start with a return address of 0: the word has changed. */
    return walk->regs.r[UNWIND_REG_PC] == 0 ? end_without_rule(walk) : step;
}

/* The leaf is outside of all code: most likely a call through a null or wild pointer led there, or it is the kernel's
 * vsyscall page. Then the return address is on top of the stack. */
static enum step step_wild_call(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], pc;
    if (!read_word(walk, sp, &pc) || !address_space_find(walk->space, pc - 1))
        return end_walk(walk, UNWIND_NO_MODULE);
    return arrive(walk, pc, sp + 8);
}

static enum step step_other(struct walk *walk, const struct rule *in_cache, uint64_t pc)
{
    const struct rule copy = *in_cache, *rule = &copy; /* the cache may change during the step */
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
    case RULE_RETURN: {
        enum step step;
        return try_return(walk, rule, &step) ? step : step_frame_pointer(walk);
    }
    case RULE_ENTRY: {
        enum step step;
        return try_return(walk, rule, &step) ? step : end_walk(walk, UNWIND_COMPLETE);
    }
    case RULE_NO_RETURN:
        return step_no_return(walk, rule);
    case RULE_PLANTED:
        return step_planted(walk);
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
        walk->frame--;
        if (walk->frame == 0 && !walk->leaf_by_return)
            return restart_by_return(walk);
        return walk->by_pointer ? end_without_rule(walk) : end_walk(walk, UNWIND_NO_MODULE);
    }
}

/* A copy in a perf ring was written on another processor: each of its cache lines is a miss, and each frame must be
 * read before the address of the next is known. Prefetching some lines ahead of the walk lets the misses overlap. Most
 * steps find enough of them fetched. */
static inline void fetch_ahead(struct walk *walk)
{
    enum { LINE = 64, AHEAD = 32 * LINE };
    uint64_t offset = walk->regs.r[UNWIND_REG_SP] - walk->stack->sp, size = walk->stack->size;
    if (offset + AHEAD / 2 <= walk->fetched || offset >= size)
        return;
    if (walk->fetched < offset)
        walk->fetched = offset;
    for (uint64_t end = size - offset > AHEAD ? offset + AHEAD : size; walk->fetched < end; walk->fetched += LINE)
        __builtin_prefetch(walk->stack->bytes + walk->fetched);
}

static inline enum step step_to_caller(struct walk *walk)
{
    uint64_t pc = walk->regs.r[UNWIND_REG_PC] - (walk->exact ? 0 : 1);
    walk->pcs[walk->frame] = pc;
    if (walk->stack->sps)
        walk->stack->sps[walk->frame] = walk->regs.r[UNWIND_REG_SP];
    walk->result.frames = walk->frame + 1;
    const struct rule *rule = rule_for(walk, pc, walk->exact);
    if (rule->kind <= RULE_FRAME_DEREF)
        return step_frame(walk, rule);
    return rule->kind == RULE_NO_CFI ? step_frame_pointer(walk) : step_other(walk, rule, pc);
}

/* The first step of a walk that reads the code of its leaf ahead; false if that leads nowhere, either. */
static bool step_leaf_by_return(struct walk *walk, enum step *step)
{
    struct rule rule;
    walk->pcs[0] = walk->regs.r[UNWIND_REG_PC];
    if (walk->stack->sps)
        walk->stack->sps[0] = walk->regs.r[UNWIND_REG_SP];
    walk->result.frames = 1;
    return rule_by_return(walk, &rule) && try_return(walk, &rule, step);
}

static enum step run(struct walk *walk, size_t max_pcs)
{
    enum step step = STEP_CALLER;
    walk->frame = 0;
    if (walk->leaf_by_return && step_leaf_by_return(walk, &step))
        walk->frame = 1;
    for (; step == STEP_CALLER && walk->frame < max_pcs; walk->frame++) {
        fetch_ahead(walk);
        step = step_to_caller(walk);
    }
    if (step == STEP_CALLER)
        step = end_walk(walk, UNWIND_TOO_DEEP);
    if (step == STEP_END && walk->guess && walk->result.end != UNWIND_COMPLETE) {
        walk->result.frames = walk->guess;
        walk->result.end = UNWIND_JIT_CODE;
    }
    return step;
}

static void start(struct walk *walk, const struct unwind_regs *regs)
{
    walk->regs = *regs;
    walk->stale = regs->unknown;
    walk->switches = 0;
    walk->off_copied_stack = false;
    walk->exact = true;
    walk->by_pointer = false;
    walk->java_sp = 0;
    walk->guess = 0;
    walk->result = (struct unwind_result){.end = UNWIND_DAMAGED};
}

struct unwind_result unwind_walk(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs)
{
    struct walk walk = {.space = space, .stack = stack, .pcs = pcs};
    if (!space->cache)
        space->cache = unwind_cache_new();
    if (!space->cache) { /* out of memory: the leaf alone */
        if (max_pcs > 0)
            pcs[0] = regs->r[UNWIND_REG_PC];
        return (struct unwind_result){.frames = max_pcs > 0, .end = UNWIND_DAMAGED};
    }
    walk.cache = space->cache;
    do
        start(&walk, regs);
    while (run(&walk, max_pcs) == STEP_RESTART);
    return walk.result;
}

bool unwind_has_no_user_stack(const struct unwind_regs *regs, const struct unwind_stack *stack)
{
    return stack->size == 0 && arch_in_system_call(regs);
}
