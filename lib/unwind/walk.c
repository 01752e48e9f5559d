/*
 * The stack walker.
 *
 * A step computes the registers of a caller from those of its frame, by the rule (cache.h) for the pc. The walker finds
 * the rule in the pc cache, or makes it. The step for the common kind of rule takes a hash, two loads from the copied
 * stack and no call.
 *
 * Sources of rules. The first source of a rule that applies wins:
 * 1. The walker recognizes the code of Go's runtime at which stacks begin (arch.h). The Go function table has the frame
 *    sizes of all Go functions, even in stripped programs (elf/go_functions.h).
 * 2. The CFI of the file (module_rule.h).
 * 3. Code without CFI that is the same in many programs (PLT entries, clone, the sigreturn trampoline) is recognized by
 *    its bytes (arch.h).
 * 4. The walker reads other code without CFI up to its return instruction (x86_64_return.c), which shows the place of
 *    the return address.
 * 5. The frame pointer.
 * JIT code has no file. The walker reads its instructions from the process (jit_rule.h), and tries the frame pointer
 * before it reads ahead. A return address from 4 and 5 counts only after a call instruction. If all fail in JIT code,
 * the walk continues at the frame of the file that entered the JIT code, and the result is valid only if the walk is
 * complete from there.
 *
 * walk_frame_pointer.c finds the unknown registers of a waiting thread. walk_go.c walks the stacks of Go.
 *
 * Complete stacks. The walk must reach the start of its thread or coroutine. Some code is such a start:
 * - a function whose CFI says that its return address is undefined (glibc's _start and clone);
 * - code at the ELF entry point that has no CFI and does not return (_start of ld.so and of musl);
 * - the code after the system call of clone or clone3 whose result is 0, and musl's code after the call of the thread's
 *   function;
 * - the functions in which Go's runtime starts a stack (walk_go.c).
 * A word on the stack marks other starts:
 * - a return address of 0, which coroutines and thread libraries store;
 * - a frame pointer of 0 in a caller without CFI, which is the psABI's mark of the deepest frame (3.4.1). The kernel
 *   sets this mark at exec, Go and musl for each new thread. At a leaf, a frame pointer of 0 means nothing, because
 *   assembly may use the register. In JIT code, this mark counts only at the end of a chain of frame pointers: Erlang's
 *   JIT code uses the register for other values;
 * - a return address that no call precedes, at the start of a function or in code without CFI. makecontext, Boost and
 *   libco store the first function of a context there.
 * A wrong step may also find such words. So a word counts as a start only if none of the 64 words above that word can
 * be a return address. Every other end of a walk has a reason in unwind_ends, and the profile shows the stack as
 * truncated.
 *
 * Light and full walks. Almost every step needs only sp, pc and the frame pointer of the registers that a function
 * saves for its caller. So a light walk restores only these three registers, and records which other registers have
 * become stale. When a rule needs a stale register (for a CFA computed from rbx or r12, or for an expression), the walk
 * starts over as a full walk, which restores all registers.
 *
 * A leaf whose CFI is wrong. Some assembly functions call parts of themselves, and their CFI is wrong inside the called
 * part. When the CFI of a leaf leads nowhere, the walk starts over, and reads the code of the leaf up to its return
 * instruction.
 *
 * Slots below sp. Epilogues pop registers while the CFI still describes them as saved (gcc does not describe each pop).
 * Memory below sp is dead and not in the copy, so the walker treats a register with a slot below sp as restored.
 *
 * Other stacks. A signal handler may run on an alternate stack: the kernel's signal frame leads back to the interrupted
 * stack, which the walker reads from the process. The frame of a function that switches stacks also leads to another
 * stack, if the function's CFI finds the CFA by the frame pointer. SBCL enters Lisp in this way. An address more than
 * FAR above the copy counts as another stack.
 */
#include "unwind/deep_stack.h"
#include "unwind/walk.h"

#include "unwind/expression.h"
#include "unwind/module_rule.h"
#include "unwind/walk_32_bit.h"

const struct unwind_end_text unwind_ends[UNWIND_ENDS] = {
    [UNWIND_COMPLETE] = {"complete", "the stack reaches the start of its thread"},
    [UNWIND_STACK_SHORT] = {"stack_short", "deeper than the copy of the stack, and prof could not read the rest"},
    [UNWIND_OFF_COPIED_STACK] =
        {"off_copied_stack",
         "continues in another stack (signal, goroutine, language runtime), which prof could not read"},
    [UNWIND_NO_STACK] = {"no_stack", "prof could not copy memory at the stack pointer"},
    [UNWIND_NO_CFI] = {"no_cfi", "in code of a file without unwind information for this code"},
    [UNWIND_JIT_CODE] = {"jit_code", "in JIT code without unwind information or frame pointer"},
    [UNWIND_NO_FILE] = {"no_file", "in code of a file that prof cannot read as an ELF file"},
    [UNWIND_NO_MODULE] = {"no_module", "outside of all code"},
    [UNWIND_DAMAGED] = {"damaged", "the unwind information or the stack is damaged"},
    [UNWIND_TOO_DEEP] = {"too_deep", "more than 32,768 frames"},
    [UNWIND_TOO_COSTLY] = {"too_costly", "in code whose unwind information takes too long to interpret"},
    [UNWIND_CHAIN_SHORT] = {"chain_short", "deeper than the call chains that perf recorded"},
    [UNWIND_NO_CALL_GRAPH] = {"no_call_graph", "recorded without call graphs"},
    [UNWIND_NO_MEMORY] = {"no_memory", "prof ran out of memory during unwinding"},
    [UNWIND_HASKELL] = {"haskell", "in Haskell code, whose callers are on GHC's own stack in the heap"},
    [UNWIND_SAVED_BELOW] = {"saved_below",
                            "in code that saves its return address below the stack pointer, which perf does not copy"},
};

enum step walk_end(struct walk *walk, enum unwind_end end)
{
    walk->result.end = end;
    return STEP_END;
}

enum step walk_end_of_memory(struct walk *walk)
{
    if (walk->frame == 0 && walk->has_read_below)
        return walk_end(walk, UNWIND_SAVED_BELOW);
    if (walk->off_copied_stack)
        return walk_end(walk, UNWIND_OFF_COPIED_STACK);
    return walk_end(walk, walk->stack->size ? UNWIND_STACK_SHORT : UNWIND_NO_STACK);
}

enum step walk_end_without_rule(struct walk *walk)
{
    uint64_t pc = walk->pcs[walk->frame];
    const struct mapping *mapping = address_space_find(walk->space, pc);
    struct cfi_fde fde;
    struct cfi_row row;
    if (!mapping)
        return walk_end(walk, UNWIND_NO_MODULE);
    if (!mapping->module)
        return walk_end(walk, mapping->lib == MAPPING_NO_LIB ? UNWIND_JIT_CODE : UNWIND_NO_FILE);
    if (unwind_work_is_over(&walk->space->work))
        return walk_end(walk, UNWIND_TOO_COSTLY);
    bool has_row = module_rule_find_row(mapping, pc, &fde, &row, &walk->space->work);
    return walk_end(walk, has_row ? UNWIND_DAMAGED : UNWIND_NO_CFI);
}

/* Starts the walk over with a rule from the leaf's code, after the leaf's CFI led nowhere. */
static enum step restart_with_return_rule(struct walk *walk)
{
    if (walk->leaf_by_return)
        return walk_end_without_rule(walk);
    walk->leaf_by_return = true;
    return STEP_RESTART;
}

enum step walk_end_at_zero_pc(struct walk *walk, uint64_t sp)
{
    uint64_t address;
    if (!walk_find_next_return_address(walk, &sp, &address))
        return walk_end(walk, UNWIND_COMPLETE);
    return walk->frame == 0 ? restart_with_return_rule(walk) : walk_end_without_rule(walk);
}

/* ---- steps ---- */

enum step walk_restart_with_all_registers(struct walk *walk)
{
    walk->full = true;
    return STEP_RESTART;
}

/* Ends the step to a frame that a signal interrupted. The frame may be on another stack, below the handler's stack or
 * far above. */
static enum step step_to_interrupted_frame(struct walk *walk, uint64_t handler_sp)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP];
    walk->off_copied_stack |= sp - handler_sp > ARCH_SIGNAL_FRAME_MAX;
    enum step step = walk_finish_step(walk, walk->regs.r[UNWIND_REG_PC], sp);
    walk->exact = true;
    return step;
}

/* Finds the value of the register on which the CFA depends, if the value is unknown. Returns the rule, or NULL with
 * *step set. Filling the cache may move the rule. */
static __attribute__((noinline)) const struct rule *find_cfa_register(struct walk *walk, const struct rule *rule,
                                                                      enum step *step)
{
    walk->kept = *rule;
    if (!walk->full && rule->cfa_register != UNWIND_REG_BP)
        *step = walk_restart_with_all_registers(walk);
    else if (!walk_find_frame_pointer(walk, &walk->kept))
        *step = walk_end_without_rule(walk);
    else
        return &walk->kept;
    return NULL;
}

/* Memory read below sp may have changed since the sample. A step with such memory is valid if it leads to a return
 * address in the copy. (The call may be of another function, which has jumped to this one: OpenSSL chooses its code
 * this way.) */
static __attribute__((noinline)) bool is_wrong_from_below(struct walk *walk, uint64_t return_address)
{
    uint64_t address;
    return walk->frame == 0 && walk->has_read_below &&
           !(walk_read_word(walk, return_address, &address) && walk_can_return_to(walk, address));
}

/* arm64: a frame record is at the bottom of its frame, so a frame pointer does not give the caller's sp. Finds sp by
 * the record of this frame, or by the slot of its return address. */
static __attribute__((noinline)) void find_sp_above_record(struct walk *walk, const struct rule *rule)
{
    enum { FRAMES_MAX = 64 << 10 };
    uint64_t *sp = &walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], address;
    bool has_record = (rule->saved >> UNWIND_REG_BP & 1) && rule->return_slot == rule->slots[0] + 1;
    uint64_t to_return_address = (uint64_t)(rule->cfa_offset + (int64_t)rule->return_slot * 8);
    if (has_record && bp >= *sp)
        *sp = bp + 8 - to_return_address;
    for (uint64_t at = *sp; !has_record && at < bp && at - *sp < FRAMES_MAX; at += 8)
        if (walk_read_return_address(walk, at + to_return_address, &address) && walk_can_return_to(walk, address)) {
            *sp = at;
            break;
        }
}

/* The step of almost every frame, inlined because a function call would cost a tenth of the walk. */
static inline __attribute__((always_inline)) enum step step_frame(struct walk *walk, const struct rule *rule)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], cfa, pc;
    enum step step;
    if (__builtin_expect(walk->stale >> rule->cfa_register & 1, 0)) {
        rule = find_cfa_register(walk, rule, &step);
        if (!rule)
            return step;
    }
    if (ARCH_HAS_LINK_REGISTER && walk->by_pointer && rule->cfa_register == UNWIND_REG_SP)
        find_sp_above_record(walk, rule);
    cfa = walk->regs.r[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
    uint64_t return_address = cfa + (uint64_t)((int64_t)rule->return_slot * 8);
    bool is_in_link = ARCH_HAS_LINK_REGISTER && rule->return_slot == ARCH_RETURN_IN_LINK;
    if (__builtin_expect(rule->kind == RULE_FRAME_DEREF, 0)) {
        if (!walk_read_word(walk, cfa, &return_address))
            return walk_end_of_memory(walk);
        return_address += (uint64_t)((int64_t)rule->return_slot * 8);
        cfa = return_address + 8;
        if (is_wrong_from_below(walk, return_address))
            return walk_end(walk, UNWIND_SAVED_BELOW);
    }
    if (is_in_link) {
        if (cfa < sp || !walk_read_link_register(walk, &pc))
            return walk_end_without_rule(walk);
    } else {
        if (cfa <= sp)
            return walk_end(walk, UNWIND_DAMAGED);
        if (return_address < sp)
            return walk_end(walk, UNWIND_DAMAGED);
        if (!walk_read_return_address(walk, return_address, &pc))
            return walk_end_of_memory(walk);
    }
    size_t wanted = walk->full ? ARCH_SAVED_REGISTERS : 1; /* the frame pointer comes first */
    for (size_t i = 0; i < wanted; i++) {
        uint8_t reg = arch_saved_registers[i];
        uint64_t slot = cfa + (uint64_t)((int64_t)rule->slots[i] * 8);
        if (!(rule->saved >> reg & 1) || slot < sp)
            continue;
        if (!walk_read_word(walk, slot, &walk->regs.r[reg]))
            return walk_end_of_memory(walk);
        walk->stale &= ~(UINT64_C(1) << reg);
    }
    if (!walk->full)
        walk->stale |= rule->saved & ~(UINT64_C(1) << UNWIND_REG_BP);
    return walk_finish_step(walk, pc, cfa);
}

enum step walk_step_frame(struct walk *walk, const struct rule *rule)
{
    return step_frame(walk, rule);
}

static bool find_caller_register(struct walk *walk, const struct cfi_row *row, unsigned reg, uint64_t cfa,
                                 uint64_t *value)
{
    int64_t given = row->values[reg];
    uint64_t address;
    switch (row->rules[reg]) {
    case CFI_OFFSET:
        address = cfa + (uint64_t)given;
        if (address < walk->regs.r[UNWIND_REG_SP] && reg != UNWIND_REG_RETURN)
            return true;
        return walk_read_word(walk, address, value);
    case CFI_VAL_OFFSET:
        *value = cfa + (uint64_t)given;
        return true;
    case CFI_REGISTER:
        if (given < 0 || given >= UNWIND_REGS || walk->stale >> given & 1)
            return false;
        *value = walk->regs.r[given];
        return true;
    case CFI_EXPRESSION:
        return evaluate_expression(cfi_get_expression(row, given), &walk->regs, &cfa, walk_read_for_expression, walk,
                                   &walk->space->work, &address) &&
               walk_read_word(walk, address, value);
    case CFI_VAL_EXPRESSION:
        return evaluate_expression(cfi_get_expression(row, given), &walk->regs, &cfa, walk_read_for_expression, walk,
                                   &walk->space->work, value);
    default:
        return true;
    }
}

/* A signal handler returns to the first instruction of the trampoline, which no call precedes. */
static void set_trampoline_pc(struct walk *walk)
{
    walk->pcs[walk->frame] += !walk->exact;
}

static enum step step_by_cfi_row(struct walk *walk, uint64_t pc)
{
    if (walk->stale && !walk->full)
        return walk_restart_with_all_registers(walk);
    const struct mapping *mapping = address_space_find(walk->space, pc);
    struct cfi_fde fde;
    struct cfi_row row;
    if (!mapping || !module_rule_find_row(mapping, pc, &fde, &row, &walk->space->work))
        return walk_end_without_rule(walk);
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], cfa;
    if (row.cfa_kind == CFI_CFA_REGISTER && row.cfa_register < UNWIND_REGS && walk->stale >> row.cfa_register & 1)
        return walk_end_without_rule(walk);
    if (row.cfa_kind == CFI_CFA_REGISTER)
        cfa = walk->regs.r[row.cfa_register] + (uint64_t)row.cfa_value;
    else if (!evaluate_expression(cfi_get_expression(&row, row.cfa_value), &walk->regs, NULL, walk_read_for_expression,
                                  walk, &walk->space->work, &cfa))
        return walk_end_of_memory(walk);
    if (is_wrong_from_below(walk, cfa + (uint64_t)row.values[UNWIND_REG_RETURN]))
        return walk_end(walk, UNWIND_SAVED_BELOW);
    struct unwind_regs caller = walk->regs;
    caller.r[UNWIND_REG_SP] = cfa;
    bool is_in_link = ARCH_HAS_LINK_REGISTER && row.rules[UNWIND_REG_RETURN] == CFI_SAME_VALUE;
    if (is_in_link && !walk_read_link_register(walk, &caller.r[UNWIND_REG_RETURN]))
        return walk_end_without_rule(walk);
    for (unsigned reg = 0; reg < UNWIND_REGS; reg++) {
        if (!find_caller_register(walk, &row, reg, cfa, &caller.r[reg]))
            return walk_end_of_memory(walk);
        if (row.rules[reg] != CFI_SAME_VALUE && row.rules[reg] != CFI_UNDEFINED)
            walk->stale &= ~(UINT64_C(1) << reg);
    }
    /* A leaf may have its return address in a register and nothing on the stack (the last instruction of longjmp). */
    bool may_stay = is_in_link || (walk->exact && row.rules[UNWIND_REG_RETURN] == CFI_REGISTER);
    if (!row.is_signal_frame && (caller.r[UNWIND_REG_SP] < sp || (caller.r[UNWIND_REG_SP] == sp && !may_stay)))
        return walk_end(walk, UNWIND_DAMAGED);
    walk->regs = caller;
    walk->regs.r[UNWIND_REG_PC] = arch_strip_signature(caller.r[UNWIND_REG_RETURN]);
    if (row.is_signal_frame)
        set_trampoline_pc(walk);
    return row.is_signal_frame ? step_to_interrupted_frame(walk, sp)
                               : walk_finish_step(walk, walk->regs.r[UNWIND_REG_PC], caller.r[UNWIND_REG_SP]);
}

static enum step step_signal_frame(struct walk *walk)
{
    set_trampoline_pc(walk);
    uint64_t sp = walk->regs.r[UNWIND_REG_SP];
    struct unwind_regs caller = {0};
    for (unsigned reg = 0; reg < UNWIND_REGS; reg++)
        if (!walk_read_word(walk, sp + arch_signal_frame_slots[reg], &caller.r[reg]))
            return walk_end_of_memory(walk);
    walk->regs = caller;
    walk->stale = 0;
    return step_to_interrupted_frame(walk, sp);
}

/* Steps to the first function of a context, whose address is in the slot of the return address. */
static enum step step_context_start(struct walk *walk)
{
    if (walk->exact) /* RULE_CONTEXT_START applies only to return addresses */
        return walk_step_frame_pointer(walk);
    walk->pcs[walk->frame]++;
    enum step step = walk_end_at_zero_pc(walk, walk->regs.r[UNWIND_REG_SP]);
    if (walk->result.end != UNWIND_COMPLETE)
        walk->result.frames--;
    return step;
}

/* The leaf is outside of all code, usually after a call through a null or wild pointer, or in the kernel's vsyscall
 * page. The return address of such a call is on top of the stack. */
static enum step step_out_of_wild_call(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], pc;
    if (ARCH_HAS_LINK_REGISTER ? !walk_read_link_register(walk, &pc) : !walk_read_word(walk, sp, &pc))
        return walk_end(walk, UNWIND_NO_MODULE);
    if (!address_space_find(walk->space, pc - 1)) {
        walk_store_unmapped(walk, pc - 1);
        return walk_end(walk, UNWIND_NO_MODULE);
    }
    return walk_finish_step(walk, pc, ARCH_HAS_LINK_REGISTER ? sp : sp + 8);
}

static enum step step_by_rare_rule(struct walk *walk, const struct rule *in_cache, uint64_t pc)
{
    const struct rule copy = *in_cache, *rule = &copy; /* the cache may change the rule during the step */
    switch (rule->kind) {
    case RULE_COMPLEX:
        return step_by_cfi_row(walk, pc);
    case RULE_AFTER_CLONE:
        if (walk->exact && walk->regs.r[ARCH_SYSCALL_RESULT] == 0)
            return walk_end(walk, UNWIND_COMPLETE);
        return step_frame(walk, rule);
    case RULE_START:
        return walk_end(walk, UNWIND_COMPLETE);
    case RULE_SIGNAL_FRAME:
        return step_signal_frame(walk);
    case RULE_RETURN:
    case RULE_RETURN_DEREF:
    case RULE_RETURN_REGISTER: {
        enum step step;
        return walk_try_return(walk, rule, &step) ? step : walk_step_frame_pointer(walk);
    }
    case RULE_ENTRY: {
        enum step step;
        return walk_try_return(walk, rule, &step) ? step : walk_end(walk, UNWIND_COMPLETE);
    }
    case RULE_NO_RETURN:
        return walk_step_no_return(walk, rule);
    case RULE_CONTEXT_START:
        return step_context_start(walk);
    case RULE_JAVA:
        return walk_step_java(walk, rule);
    case RULE_GO:
        return walk_step_go(walk, rule);
    case RULE_HASKELL:
        return walk_end(walk, UNWIND_HASKELL);
    case RULE_GO_NO_CFI:
        return walk_step_go_pointer(walk);
    case RULE_TOO_COSTLY:
        return walk_end(walk, UNWIND_TOO_COSTLY);
    default: /* RULE_UNMAPPED */
        if (walk->frame == 0)
            return step_out_of_wild_call(walk);
        walk_store_unmapped(walk, pc);
        walk->result.frames--; /* a wrong step found this pc */
        walk->frame--;
        if (walk->frame == 0 && !walk->leaf_by_return)
            return restart_with_return_rule(walk);
        return walk->by_pointer ? walk_end_without_rule(walk) : walk_end(walk, UNWIND_NO_MODULE);
    }
}

/* A copy in a perf ring was written on another processor: each of its cache lines is a miss, and each frame must be
 * read before the address of the next is known. Prefetching some lines ahead of the walk lets the misses overlap. For
 * most steps the prefetched lines are enough. */
static inline void prefetch_stack(struct walk *walk)
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
    walk->regs.r[UNWIND_REG_SP] = arch_strip_tag(walk->regs.r[UNWIND_REG_SP]);
    walk->regs.r[UNWIND_REG_BP] = arch_strip_tag(walk->regs.r[UNWIND_REG_BP]);
    if (walk->stack->sps)
        walk->stack->sps[walk->frame] = walk->regs.r[UNWIND_REG_SP];
    walk->result.frames = walk->frame + 1;
    const struct rule *rule = walk_find_rule(walk, pc, walk->exact);
    if (rule->kind <= RULE_FRAME_DEREF)
        return step_frame(walk, rule);
    return rule->kind == RULE_NO_CFI ? walk_step_frame_pointer(walk) : step_by_rare_rule(walk, rule, pc);
}

/* Takes the first step by reading the leaf's code ahead. Returns false if that fails. */
static bool step_leaf_by_return(struct walk *walk, enum step *step)
{
    struct rule rule;
    walk->pcs[0] = walk->regs.r[UNWIND_REG_PC];
    if (walk->stack->sps)
        walk->stack->sps[0] = walk->regs.r[UNWIND_REG_SP];
    walk->result.frames = 1;
    return walk_make_rule_from_return(walk, &rule) && walk_try_return(walk, &rule, step);
}

static bool drop_middle_frames(struct walk *walk, size_t max_pcs)
{
    size_t middle = max_pcs / 2, dropped = deep_stack_omit_middle(walk->pcs, walk->stack->sps, max_pcs, &walk->omitted);
    if (dropped && walk->guess > middle)
        walk->guess = walk->guess > middle + 1 + dropped ? walk->guess - dropped : middle + 1;
    walk->frame -= dropped;
    return dropped > 0;
}

static enum step run_walk(struct walk *walk, size_t max_pcs)
{
    enum step step = STEP_CALLER;
    walk->frame = 0;
    if (walk->is_in_system_call && walk_ends_in_system_call(walk, walk->regs.r[UNWIND_REG_PC]))
        walk->regs.r[UNWIND_REG_PC] -= ARCH_SYSCALL_SIZE;
    if (walk->leaf_by_return && step_leaf_by_return(walk, &step))
        walk->frame = 1;
    for (; step == STEP_CALLER && (walk->frame < max_pcs || drop_middle_frames(walk, max_pcs)); walk->frame++) {
        prefetch_stack(walk);
        step = step_to_caller(walk);
    }
    if (step == STEP_CALLER)
        step = walk_end(walk, UNWIND_TOO_DEEP);
    if (step == STEP_END && walk->guess && walk->result.end != UNWIND_COMPLETE) {
        walk->result.frames = walk->guess;
        walk->result.end = UNWIND_JIT_CODE;
    }
    return step;
}

static void init_walk(struct walk *walk, const struct unwind_regs *regs)
{
    walk->regs = *regs;
    walk->stale = regs->unknown;
    walk->switches = 0;
    walk->omitted = 0;
    walk->off_copied_stack = false;
    walk->exact = true;
    walk->is_in_system_call = arch_is_in_system_call(regs->r);
    walk->has_read_below = false;
    walk->by_pointer = false;
    walk->java_sp = 0;
    walk->guess = 0;
    walk->result = (struct unwind_result){.end = UNWIND_DAMAGED};
}

struct unwind_result unwind_walk(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs)
{
    struct unwind_stack untagged = *stack;
    struct walk walk = {.space = space, .stack = &untagged, .pcs = pcs};
    untagged.sp = arch_strip_tag(stack->sp);
    if (!space->cache)
        space->cache = unwind_cache_new();
    if (!space->cache) { /* out of memory: the leaf alone */
        if (max_pcs > 0)
            pcs[0] = regs->r[UNWIND_REG_PC];
        return (struct unwind_result){.frames = max_pcs > 0, .end = UNWIND_NO_MEMORY};
    }
    walk.cache = space->cache;
    unwind_work_start_walk(&space->work);
    uint32_t units = space->work.units;
    if (walk_is_32_bit(space, regs))
        walk.result = walk_32_bit(space, regs, stack, pcs, max_pcs);
    else
        do
            init_walk(&walk, regs);
        while (run_walk(&walk, max_pcs) == STEP_RESTART);
    /* a start found after such a step may be wrong */
    if (space->work.units != units && unwind_work_is_over(&space->work))
        walk.result.end = UNWIND_TOO_COSTLY;
    if (!walk.result.unmapped)
        walk.result.unmapped = walk.unmapped;
    return walk.result;
}

void unwind_regs_fill_waiting(struct unwind_regs *regs, uint64_t sp, uint64_t pc, const uint64_t *arguments)
{
    *regs = (struct unwind_regs){0};
    memset(regs->r, 0xff, sizeof(regs->r)); /* a register value that is neither a system call's result nor an address */
    regs->r[UNWIND_REG_SP] = sp;
    regs->r[UNWIND_REG_PC] = pc;
    regs->unknown = (UINT64_C(1) << UNWIND_REGS) - 1;
    regs->unknown &= ~(UINT64_C(1) << UNWIND_REG_SP | UINT64_C(1) << UNWIND_REG_PC);
    if (!arguments)
        return;
    for (size_t i = 0; i < ARCH_SYSCALL_ARGUMENTS; i++) {
        regs->r[arch_syscall_arguments[i]] = arguments[i];
        regs->unknown &= ~(UINT64_C(1) << arch_syscall_arguments[i]);
    }
    arch_set_in_system_call(regs->r);
}

bool unwind_has_no_user_stack(const struct unwind_regs *regs, const struct unwind_stack *stack)
{
    return stack->size == 0 && arch_is_in_system_call(regs->r);
}
