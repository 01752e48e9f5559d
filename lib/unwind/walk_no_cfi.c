/*
 * Steps out of code without CFI: by the frame pointer, by reading the code ahead to its return, and by words that JIT
 * compilers leave on the stack.
 */
#include "unwind/walk.h"

enum step walk_arrive_by_pointer(struct walk *walk, uint64_t pc, uint64_t bp, uint64_t sp)
{
    walk->regs.r[UNWIND_REG_BP] = bp;
    walk->result.used_no_cfi = true;
    enum step step = walk_finish_step(walk, pc, sp);
    walk->by_pointer = true;
    return step;
}

/* Compiled code makes room for the arguments of an interpreted function, and the interpreter stores the previous sp
 * in its frame (frame::interpreter_frame_sender_sp_offset). In other frames this word is arbitrary. */
static void store_java_sp(struct walk *walk, uint64_t bp)
{
    enum { ROOM_MAX = 4096 };
    uint64_t sp;
    if (walk->space->is_java && walk_read_word(walk, bp - 8, &sp) && sp > bp + 16 && sp - bp <= ROOM_MAX && sp % 8 == 0)
        walk->java_sp = sp;
}

/* Code that switches stacks also loads sp from a register, usually from an argument or a word in memory. A distant
 * address is not a frame of this stack. */
static bool is_near_sp(const struct walk *walk, const struct rule *rule, uint64_t base)
{
    enum { FRAME_MAX = 1 << 20 };
    bool is_usual =
        rule->kind != RULE_RETURN_DEREF && (rule->cfa_register == UNWIND_REG_SP || rule->cfa_register == UNWIND_REG_BP);
    return is_usual || base - walk->regs.r[UNWIND_REG_SP] < FRAME_MAX;
}

/* Reads the word in the return address slot of the frame that `rule` finds at `base`. Returns false if it cannot be a
 * return address. */
static bool read_return_address(struct walk *walk, const struct rule *rule, uint64_t base, uint64_t *address)
{
    bool off_copied_stack = walk->off_copied_stack;
    uint64_t at = base + (uint64_t)(int64_t)rule->cfa_offset;
    bool is_there = (rule->kind != RULE_RETURN_DEREF || walk_read_word(walk, at, &at)) && is_near_sp(walk, rule, at) &&
                    walk_read_return_address(walk, at + (uint64_t)((int64_t)rule->return_slot * 8), address) &&
                    walk_can_return_to(walk, *address);
    if (!is_there)
        walk->off_copied_stack = off_copied_stack;
    return is_there;
}

static bool is_return_frame(struct walk *walk, const struct rule *rule, uint64_t base)
{
    uint64_t address;
    return read_return_address(walk, rule, base, &address);
}

static bool is_register_stale(const struct walk *walk, unsigned reg)
{
    return walk->stale >> reg & 1;
}

/* Code that never returns has a frame only if the code shows where a returning call would find it. */
static bool has_return_slot(const struct rule *rule)
{
    return rule->kind != RULE_NO_CFI && (rule->kind != RULE_NO_RETURN || rule->cfa_offset);
}

static bool has_known_frame(const struct walk *walk, const struct rule *rule)
{
    return has_return_slot(rule) && !is_register_stale(walk, rule->cfa_register);
}

/* A leaf may keep its return address in a register (vfork of musl). */
static bool try_return_register(struct walk *walk, const struct rule *rule, enum step *step)
{
    unsigned reg = (unsigned)rule->return_slot;
    uint64_t address = arch_strip_signature(walk->regs.r[reg]);
    if (!walk->exact || is_register_stale(walk, reg) || is_register_stale(walk, rule->cfa_register) ||
        !walk_can_return_to(walk, address))
        return false;
    walk->result.used_no_cfi = true;
    *step = walk_finish_step(walk, address, walk->regs.r[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset);
    return true;
}

bool walk_try_return(struct walk *walk, const struct rule *rule, enum step *step)
{
    bool is_deref = rule->kind == RULE_RETURN_DEREF;
    if (rule->kind == RULE_RETURN_REGISTER)
        return try_return_register(walk, rule, step);
    if (has_return_slot(rule) && is_register_stale(walk, rule->cfa_register) && !walk->full &&
        rule->cfa_register != UNWIND_REG_BP) {
        *step = walk_restart_with_all_registers(walk);
        return true;
    }
    if (!has_known_frame(walk, rule) || !is_return_frame(walk, rule, walk->regs.r[rule->cfa_register]))
        return false;
    struct rule frame = *rule;
    frame.kind = is_deref ? RULE_FRAME_DEREF : RULE_FRAME;
    walk->result.used_no_cfi = true;
    *step = walk_step_frame(walk, &frame);
    return true;
}

static bool is_in_file(const struct walk *walk)
{
    const struct mapping *mapping = address_space_find(walk->space, walk->pcs[walk->frame]);
    return mapping && mapping->module;
}

/* JIT code that does not return and keeps no frame pointer, like LuaJIT's traces, runs in the frame of the code that
 * entered it. So the caller is the first return address on the stack, if that address is in a file. An address in JIT
 * code could belong to any of several unknown frames. */
static enum step step_out_of_jit_code(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], address;
    const struct mapping *mapping = address_space_find(walk->space, walk->pcs[walk->frame]);
    if (!mapping || mapping->module || mapping->lib != MAPPING_NO_LIB ||
        !walk_find_next_return_address(walk, &sp, &address))
        return walk_end_without_rule(walk);
    const struct mapping *caller = address_space_find(walk->space, address - 1);
    if (!caller || !caller->module)
        return walk_end_without_rule(walk);
    if (!walk->guess)
        walk->guess = walk->frame + 1;
    for (size_t i = 0; i < ARCH_SAVED_REGISTERS; i++)
        walk->stale |= UINT64_C(1) << arch_saved_registers[i];
    walk->result.used_no_cfi = true;
    return walk_finish_step(walk, address, sp + 8);
}

/* Where a frame pointer without a caller leads. */
enum pointer_end {
    POINTER_NOWHERE,
    POINTER_OUT_OF_REACH, /* the frame pointer leads out of the stack, perhaps to an unreadable frame */
    POINTER_UNKNOWN_CODE, /* the frame's caller is in no known mapping, but possibly in a new mapping */
};

static enum step step_without_frame_pointer(struct walk *walk, enum pointer_end end)
{
    enum step step;
    struct rule rule;
    if (walk_make_rule_from_return(walk, &rule) && walk_try_return(walk, &rule, &step))
        return step;
    if (walk->regs.r[UNWIND_REG_BP] == 0 && walk->frame > 0 && (walk->by_pointer || is_in_file(walk)))
        return walk_end_at_zero_pc(walk, walk->regs.r[UNWIND_REG_SP]);
    if (end == POINTER_UNKNOWN_CODE)
        return walk_end(walk, UNWIND_NO_MODULE);
    return end == POINTER_OUT_OF_REACH ? walk_end_of_memory(walk) : step_out_of_jit_code(walk);
}

static bool is_frame_of_unknown_code(struct walk *walk, uint64_t bp, uint64_t caller_bp, uint64_t pc)
{
    const struct mapping *lowest = address_space_find_at_or_above(walk->space, 0);
    bool is_unknown = lowest && pc > lowest->start && caller_bp > bp && caller_bp - bp < FAR && caller_bp % 8 == 0 &&
                      !address_space_find(walk->space, pc - 1);
    if (is_unknown)
        walk_store_unmapped(walk, pc - 1);
    return is_unknown;
}

enum step walk_step_frame_pointer(struct walk *walk)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], bp = walk->regs.r[UNWIND_REG_BP], caller_bp, pc;
    if (bp < sp || bp - sp >= FAR || bp % 8 != 0)
        return step_without_frame_pointer(walk, POINTER_NOWHERE);
    if (!walk_read_word(walk, bp, &caller_bp) || !walk_read_return_address(walk, bp + 8, &pc))
        return step_without_frame_pointer(walk, POINTER_OUT_OF_REACH);
    if (!walk_can_return_to(walk, pc) && (pc != 0 || caller_bp != 0))
        return step_without_frame_pointer(walk, is_frame_of_unknown_code(walk, bp, caller_bp, pc) ? POINTER_UNKNOWN_CODE
                                                                                                  : POINTER_NOWHERE);
    enum step step = walk_arrive_by_pointer(walk, pc, caller_bp, bp + 16);
    store_java_sp(walk, bp);
    return step;
}

/* Returns whether the instruction before `address` probably called the code at `pc`: the instruction starts the thread,
 * or is a direct call of a function that begins at or shortly before `pc`. */
static bool is_call_to(struct walk *walk, uint64_t address, uint64_t pc)
{
    enum { REACH = 4096 };
    uint64_t target;
    uint8_t kind = walk_find_rule(walk, address - 1, false)->kind;
    return kind == RULE_START || kind == RULE_ENTRY ||
           (walk_follows_call(walk, address, &target) && pc - target < REACH);
}

/* Code that never returns was called by the next return address on its stack: by the start of the thread, or by a
 * direct call of this function (exit, abort). If padding after a call aligns a loop, the code does return, and its
 * frame may contain older return addresses. */
enum step walk_step_no_return(struct walk *walk, const struct rule *rule)
{
    uint64_t sp = walk->regs.r[UNWIND_REG_SP], pc = walk->pcs[walk->frame], address;
    enum step step;
    bool is_frame = has_known_frame(walk, rule) &&
                    read_return_address(walk, rule, walk->regs.r[rule->cfa_register], &address) &&
                    is_call_to(walk, address, pc);
    if (!is_frame && walk_find_next_return_address(walk, &sp, &address)) {
        walk->result.used_no_cfi = true;
        if (is_call_to(walk, address, pc))
            return walk_finish_step(walk, address, sp + 8);
    }
    return walk_try_return(walk, rule, &step) ? step : walk_step_frame_pointer(walk);
}

/* The leaf may have pushed a register for some instructions, as HotSpot's string comparison does. */
enum step walk_step_java(struct walk *walk, const struct rule *rule)
{
    uint64_t *sp = &walk->regs.r[UNWIND_REG_SP];
    if (walk->java_sp && is_return_frame(walk, rule, walk->java_sp))
        *sp = walk->java_sp;
    else if (walk->exact && !is_return_frame(walk, rule, *sp) && is_return_frame(walk, rule, *sp + 8))
        *sp += 8;
    else if (!is_return_frame(walk, rule, *sp))
        return walk_step_frame_pointer(walk);
    return walk_step_frame(walk, rule);
}
