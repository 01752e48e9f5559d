/*
 * Shared by the files of the stack walker: the state of a walk, and the functions of its inner loop. walk.c explains
 * the walker; walk_*.c handle the rarer frames. Private to lib/unwind.
 */
#pragma once

#include "unwind/address_space.h"
#include "unwind/cache.h"

struct walk {
    struct address_space *space;
    struct unwind_cache *cache;
    const struct unwind_stack *stack;
    struct unwind_regs regs;
    uint64_t stale; /* bit set of the DWARF registers that are unknown, or lost by a light walk */
    bool full;
    bool leaf_by_return;    /* the leaf's CFI failed: the walk uses a rule from the leaf's code */
    bool exact;             /* this frame was interrupted at its pc, which is not a return address */
    bool is_in_system_call; /* the leaf is in a system call */
    bool by_pointer;        /* the callee's frame pointer led to this frame */
    uint64_t *pcs;
    size_t frame;
    uint64_t omitted;      /* number of frames dropped from the middle */
    unsigned switches;     /* number of moves to a lower stack by Go's frame pointer */
    bool off_copied_stack; /* the frame is not on the copied stack */
    bool has_read_below;   /* the walk has read a word below sp */
    uint64_t fetched;      /* prefetched bytes of the copy */
    struct rule made;      /* a rule outside of the cache */
    struct rule kept;      /* copy of this frame's rule, while the cache changes */
    /* index of the frame that step_out_of_jit_code() found, or 0; the walk from that frame must be complete */
    size_t guess;
    uint64_t java_sp;  /* stack pointer of this frame if its callee may be HotSpot's interpreter, or 0 */
    uint64_t unmapped; /* first caller address outside of all mappings; survives restarts */
    struct unwind_result result;
};

/* Bytes. An address this far above sp is on another stack: no frame is so large, and most stacks are smaller. */
enum { FAR = 16 << 20 };

enum step {
    STEP_CALLER,  /* the registers are now the caller's */
    STEP_END,     /* result.end has the reason */
    STEP_RESTART, /* a light walk needs a lost register */
};

/* ---- ends (walk.c) ---- */

enum step walk_end(struct walk *walk, enum unwind_end end);

static inline void walk_store_unmapped(struct walk *walk, uint64_t pc)
{
    if (!walk->unmapped)
        walk->unmapped = pc;
}

/* Ends the walk at an unreadable word. */
enum step walk_end_of_memory(struct walk *walk);

/* Ends the walk at a frame whose caller cannot be found. */
enum step walk_end_without_rule(struct walk *walk);

/* A return address or frame pointer of 0, or a return address that no call precedes, marks the first frame of a thread
 * or coroutine. A wrong step may find such words anywhere, so they count as a mark only at the end of the stack. */
enum step walk_end_at_zero_pc(struct walk *walk, uint64_t sp);

/* Restarts as a full walk, because this frame needs a register that the light walk has lost. */
enum step walk_restart_with_all_registers(struct walk *walk);

/* ---- memory of the walked thread (walk_memory.c) ---- */

/* Reads memory that is not entirely in the copied stack. */
bool walk_read_outside(struct walk *walk, uint64_t address, unsigned char *out, size_t size);

/* The callback for evaluate_expression(). `context` is the walk. */
bool walk_read_for_expression(void *context, uint64_t address, unsigned size, uint64_t *value);

static inline bool walk_read_word(struct walk *walk, uint64_t address, uint64_t *value)
{
    uint64_t offset = address - walk->stack->sp;
    if (__builtin_expect(walk->stack->size >= 8 && offset <= walk->stack->size - 8, 1)) {
        memcpy(value, walk->stack->bytes + offset, 8);
        return true;
    }
    unsigned char bytes[8];
    if (!walk_read_outside(walk, address, bytes, 8))
        return false;
    memcpy(value, bytes, 8);
    return true;
}

static inline bool walk_read_return_address(struct walk *walk, uint64_t at, uint64_t *address)
{
    bool is_read = walk_read_word(walk, at, address);
    *address = is_read ? arch_strip_signature(*address) : 0;
    return is_read;
}

/* Reads the return address of a frame that was interrupted before it saved the link register. */
static inline bool walk_read_link_register(const struct walk *walk, uint64_t *address)
{
    *address = arch_strip_signature(walk->regs.r[UNWIND_REG_RETURN]);
    return walk->exact && !(walk->stale >> UNWIND_REG_RETURN & 1);
}

/* ---- rules and return addresses (walk_rule.c) ---- */

/* Makes and caches the rule of a pc. The result is valid until the next call. */
const struct rule *walk_make_rule(struct walk *walk, uint64_t pc, bool exact);

/* Makes a rule by reading the code of the current frame up to its return instruction. */
bool walk_read_rule(struct walk *walk, struct rule *rule);

/* The same for a leaf whose CFI failed, and for JIT code. Returns false for other frames. (File code without CFI
 * already has such a rule.) */
bool walk_make_rule_from_return(struct walk *walk, struct rule *rule);

/* Whether a call instruction ends at `address`. Sets *target to the target of a direct call, otherwise to 0. */
bool walk_follows_call(struct walk *walk, uint64_t address, uint64_t *target);

/* Whether `pc`, at which the kernel reports a thread in a system call, follows the last instruction of its function. */
bool walk_ends_in_system_call(struct walk *walk, uint64_t pc);

/* Finds the first word from `*sp` up that can be a return address, and sets *sp to the address of that word. */
bool walk_find_next_return_address(struct walk *walk, uint64_t *sp, uint64_t *address);

/* `exact`: whether the frame of `pc` was interrupted at `pc`. */
static inline const struct rule *walk_find_rule(struct walk *walk, uint64_t pc, bool exact)
{
    const struct rule *rule = unwind_cache_find(walk->cache, pc);
    return __builtin_expect(rule != NULL, 1) ? rule : walk_make_rule(walk, pc, exact);
}

static inline bool walk_can_return_to(struct walk *walk, uint64_t address)
{
    uint64_t target;
    return unwind_cache_find(walk->cache, address - 1) || walk_follows_call(walk, address, &target);
}

/* ---- steps ---- */

/* Steps by a rule of a kind like RULE_FRAME (walk.c). */
enum step walk_step_frame(struct walk *walk, const struct rule *rule);

/* Ends the step to a caller found by frame pointer: its pc, frame pointer and sp (walk_no_cfi.c). */
enum step walk_arrive_by_pointer(struct walk *walk, uint64_t pc, uint64_t bp, uint64_t sp);

/* Finds the value of an unknown frame pointer. Returns false if none fits (walk_frame_pointer.c). */
bool walk_find_frame_pointer(struct walk *walk, const struct rule *rule);

/* Steps by a rule from reading ahead, if the rule leads to a return address; otherwise changes nothing (walk_no_cfi.c).
 */
bool walk_try_return(struct walk *walk, const struct rule *rule, enum step *step);

/* Step through code without CFI (walk_no_cfi.c), and through Go code (walk_go.c). */
enum step walk_step_frame_pointer(struct walk *walk);
enum step walk_step_no_return(struct walk *walk, const struct rule *rule);
enum step walk_step_java(struct walk *walk, const struct rule *rule);
enum step walk_step_go(struct walk *walk, const struct rule *rule);
enum step walk_step_go_pointer(struct walk *walk);

/* Ends the step to a caller whose registers are in place. */
static inline enum step walk_finish_step(struct walk *walk, uint64_t pc, uint64_t sp)
{
    walk->regs.r[UNWIND_REG_PC] = pc;
    walk->regs.r[UNWIND_REG_SP] = sp;
    walk->exact = false;
    walk->by_pointer = false;
    walk->java_sp = 0;
    return pc == 0 ? walk_end_at_zero_pc(walk, sp) : STEP_CALLER;
}
