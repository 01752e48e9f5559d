/*
 * Stacks of 32-bit programs: i386 code on an x86-64 kernel.
 *
 * Registers have their i386 DWARF numbers here (System V ABI, Intel386 supplement, table 2.14), as in the CFI of 32-bit
 * files, and words have 4 bytes. Rules are cached as in walk.c, with i386 register numbers, and slots in words of 4
 * bytes. In code without CFI, the walker follows the frame pointer.
 */
#include "unwind/walk_32_bit.h"

#include "unwind/cache.h"
#include "unwind/deep_stack.h"
#include "unwind/expression.h"
#include "unwind/module.h"
#include "unwind/module_rule.h"

enum { EBX = 3, ESP = 4, EBP = 5, ESI = 6, EDI = 7, EIP = 8, REGISTERS = 9, WORD = 4 };

/* Registers that a function keeps for its caller, in the order of the slots of a rule. */
enum { SAVED_REGISTERS = 4 };
static const uint8_t saved_registers[SAVED_REGISTERS] = {EBP, EBX, ESI, EDI};

/* The x86-64 number of each register: eax ecx edx ebx esp ebp esi edi eip. */
static const uint8_t number_of_64_bit[REGISTERS] = {0, 2, 1, 3, UNWIND_REG_SP, UNWIND_REG_BP, 4, 5, UNWIND_REG_PC};

struct walk_32 {
    struct address_space *space;
    const struct unwind_stack *stack;
    struct unwind_regs regs; /* by i386 numbers, upper halves 0; `unknown` has i386 numbers, too */
    bool exact;              /* this frame was interrupted at its pc, which is not a return address */
    uint64_t *pcs;
    size_t frame;
    struct unwind_result result;
};

/* ---- memory ---- */

static bool read_bytes(struct walk_32 *walk, uint32_t address, unsigned char *out, size_t size)
{
    const struct unwind_stack *stack = walk->stack;
    uint64_t offset = (uint64_t)address - stack->sp;
    if (address < stack->sp)
        return false;
    size_t copied = offset < stack->size ? stack->size - (size_t)offset : 0;
    if (copied > size)
        copied = size;
    if (copied)
        memcpy(out, stack->bytes + offset, copied);
    if (copied == size)
        return true;
    if (!stack->read_above || !stack->read_above(stack->context, address + copied, out + copied, size - copied))
        return false;
    walk->result.used_read_above = true;
    return true;
}

static bool read_word(struct walk_32 *walk, uint64_t address, uint64_t *value)
{
    uint32_t word;
    if (!read_bytes(walk, (uint32_t)address, (unsigned char *)&word, sizeof(word)))
        return false;
    *value = word;
    return true;
}

static bool read_for_expression(void *context, uint64_t address, unsigned size, uint64_t *value)
{
    unsigned char bytes[8] = {0};
    if (!read_bytes(context, (uint32_t)address, bytes, size < WORD ? size : WORD))
        return false;
    memcpy(value, bytes, sizeof(bytes));
    return true;
}

/* ---- rules ---- */

static bool fits_in_slot(int64_t offset)
{
    return offset % WORD == 0 && offset / WORD >= INT16_MIN && offset / WORD <= INT16_MAX;
}

/* Makes a rule like the compact rules of 64-bit code in module_rule.c. The caller may rely only on registers of the
 * rule. */
static bool make_compact_rule(const struct cfi_row *row, struct rule *rule)
{
    rule->kind = RULE_START;
    if (row->rules[EIP] == CFI_UNDEFINED)
        return true;
    rule->kind = RULE_FRAME;
    rule->cfa_register = (uint8_t)row->cfa_register;
    rule->cfa_offset = (int32_t)row->cfa_value;
    rule->return_slot = (int16_t)(row->values[EIP] / WORD);
    bool fits = !row->is_signal_frame && row->cfa_kind == CFI_CFA_REGISTER && row->cfa_register < EIP &&
                row->cfa_value == (int32_t)row->cfa_value && row->rules[EIP] == CFI_OFFSET &&
                fits_in_slot(row->values[EIP]) && row->rules[ESP] == CFI_SAME_VALUE;
    for (size_t i = 0; i < SAVED_REGISTERS; i++) {
        uint8_t reg = saved_registers[i], kind = row->rules[reg];
        if (kind == CFI_SAME_VALUE || kind == CFI_UNDEFINED)
            continue;
        fits &= kind == CFI_OFFSET && fits_in_slot(row->values[reg]);
        rule->slots[i] = (int16_t)(row->values[reg] / WORD);
        rule->saved |= (arch_saved_set)(1u << reg);
    }
    return fits;
}

static const struct rule *make_rule(struct walk_32 *walk, const struct mapping *mapping, uint64_t pc)
{
    struct cfi_fde fde;
    struct cfi_row row;
    struct rule *rule = unwind_cache_add(walk->space->cache, pc);
    rule->kind = RULE_NO_CFI;
    unwind_work_add(&walk->space->work, UNWIND_WORK_OF_RULE);
    if (!mapping->module || !unwind_module_is_32_bit(mapping->module))
        return rule;
    if (module_rule_find_row(mapping, pc, &fde, &row, &walk->space->work)) {
        if (!make_compact_rule(&row, rule))
            *rule = (struct rule){.pc = rule->pc, .generation = rule->generation, .kind = RULE_COMPLEX};
    } else if (unwind_module_is_entry(mapping->module, find_mapped_vaddr(mapping, pc))) {
        rule->kind = RULE_START; /* _start of ld.so */
    }
    if (unwind_work_is_over(&walk->space->work))
        *rule = (struct rule){.kind = RULE_TOO_COSTLY};
    return rule;
}

/* ---- steps: return true with the registers of the caller, or false with the reason in result.end ---- */

static bool set_end(struct walk_32 *walk, enum unwind_end end)
{
    walk->result.end = end;
    return false;
}

static bool set_end_of_memory(struct walk_32 *walk)
{
    return set_end(walk, walk->stack->size ? UNWIND_STACK_SHORT : UNWIND_NO_STACK);
}

static bool set_end_without_rule(struct walk_32 *walk, const struct mapping *mapping)
{
    if (mapping->module)
        return set_end(walk, UNWIND_NO_CFI);
    return set_end(walk, mapping->lib == MAPPING_NO_LIB ? UNWIND_JIT_CODE : UNWIND_NO_FILE);
}

static bool find_caller_register(struct walk_32 *walk, const struct cfi_row *row, unsigned reg, uint64_t cfa,
                                 uint64_t *value)
{
    int64_t given = row->values[reg];
    uint64_t address = cfa + (uint64_t)given;
    switch (row->rules[reg]) {
    case CFI_OFFSET:
        /* the function has popped the register already */
        return (address < walk->regs.r[ESP] && reg != EIP) || read_word(walk, address, value);
    case CFI_VAL_OFFSET:
        *value = address;
        return true;
    case CFI_REGISTER:
        if (given < 0 || given >= REGISTERS)
            return false;
        *value = walk->regs.r[given];
        return true;
    case CFI_EXPRESSION:
        return evaluate_expression(cfi_get_expression(row, given), &walk->regs, &cfa, read_for_expression, walk,
                                   &walk->space->work, &address) &&
               read_word(walk, address, value);
    case CFI_VAL_EXPRESSION:
        return evaluate_expression(cfi_get_expression(row, given), &walk->regs, &cfa, read_for_expression, walk,
                                   &walk->space->work, value);
    default:
        return true;
    }
}

static bool is_return_address(const struct walk_32 *walk, uint64_t pc)
{
    const struct mapping *mapping = pc ? address_space_find(walk->space, pc - 1) : NULL;
    uint64_t target;
    return mapping && (!mapping->module || module_rule_follows_call(mapping, pc, &target));
}

/* glibc's memcpy pushes a register for its copying loop, and its CFI lacks the push. */
static bool has_pushed_register(struct walk_32 *walk, const struct rule *rule, uint64_t return_slot)
{
    uint64_t pc, above;
    return walk->exact && rule->cfa_register == ESP && read_word(walk, return_slot, &pc) &&
           !is_return_address(walk, pc) && read_word(walk, return_slot + WORD, &above) &&
           is_return_address(walk, above);
}

static bool step_frame(struct walk_32 *walk, const struct rule *rule)
{
    uint64_t esp = walk->regs.r[ESP], pc;
    if (walk->regs.unknown >> rule->cfa_register & 1)
        return set_end(walk, UNWIND_DAMAGED);
    uint64_t cfa = (uint32_t)(walk->regs.r[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset);
    uint64_t to_return = (uint64_t)((int64_t)rule->return_slot * WORD);
    if (has_pushed_register(walk, rule, cfa + to_return))
        cfa += WORD;
    if (cfa <= esp)
        return set_end(walk, UNWIND_DAMAGED);
    if (!read_word(walk, cfa + to_return, &pc))
        return set_end_of_memory(walk);
    for (size_t i = 0; i < SAVED_REGISTERS; i++) {
        uint8_t reg = saved_registers[i];
        uint64_t slot = cfa + (uint64_t)((int64_t)rule->slots[i] * WORD);
        if (!(rule->saved >> reg & 1) || slot < esp) /* the function has popped the register already */
            continue;
        if (!read_word(walk, slot, &walk->regs.r[reg]))
            return set_end_of_memory(walk);
        walk->regs.unknown &= ~(UINT64_C(1) << reg);
    }
    walk->regs.r[ESP] = cfa;
    walk->regs.r[EIP] = pc;
    walk->exact = false;
    return true;
}

static bool step_by_cfi_row(struct walk_32 *walk, const struct cfi_row *row)
{
    uint64_t esp = walk->regs.r[ESP], cfa;
    if (row->cfa_kind == CFI_CFA_REGISTER) {
        if (row->cfa_register >= REGISTERS || walk->regs.unknown >> row->cfa_register & 1)
            return set_end(walk, UNWIND_DAMAGED);
        cfa = walk->regs.r[row->cfa_register] + (uint64_t)row->cfa_value;
    } else if (!evaluate_expression(cfi_get_expression(row, row->cfa_value), &walk->regs, NULL, read_for_expression,
                                    walk, &walk->space->work, &cfa)) {
        return set_end_of_memory(walk);
    }
    struct unwind_regs caller = walk->regs;
    caller.r[ESP] = cfa = (uint32_t)cfa;
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        if (!find_caller_register(walk, row, reg, cfa, &caller.r[reg]))
            return set_end_of_memory(walk);
        caller.r[reg] = (uint32_t)caller.r[reg];
        if (row->rules[reg] != CFI_SAME_VALUE && row->rules[reg] != CFI_UNDEFINED)
            caller.unknown &= ~(UINT64_C(1) << reg);
    }
    if (!row->is_signal_frame && caller.r[ESP] <= esp)
        return set_end(walk, UNWIND_DAMAGED);
    walk->regs = caller;
    if (row->is_signal_frame && !walk->exact) /* the handler returns to the start of the trampoline */
        walk->pcs[walk->frame]++;
    walk->exact = row->is_signal_frame;
    return true;
}

/* For code interrupted in a prologue or epilogue, counts the words below the return address; the last word is the
 * caller's ebp. Returns -1 for other code. */
static int count_words_below_return_address(const struct walk_32 *walk, const struct mapping *mapping, uint64_t pc)
{
    enum { BEFORE = 1, SIZE = BEFORE + 4 };
    unsigned char code[SIZE] = {0};
    if (!walk->exact || !mapping->module)
        return -1;
    uint64_t vaddr = find_mapped_vaddr(mapping, pc);
    if (unwind_module_read_code(mapping->module, vaddr - BEFORE, code, SIZE) != SIZE)
        return -1;
    bool is_endbr = memcmp(code + BEFORE, "\xf3\x0f\x1e\xfb", 4) == 0, is_ret = code[BEFORE] == 0xc3;
    if (is_endbr || is_ret || memcmp(code + BEFORE, "\x55\x89\xe5", 3) == 0) /* push %ebp; mov %esp,%ebp */
        return 0;
    bool is_pushed = memcmp(code, "\x55\x89\xe5", 3) == 0, is_last = memcmp(code + BEFORE, "\x5d\xc3", 2) == 0;
    return is_pushed || is_last ? 1 : -1; /* pop %ebp; ret */
}

/* A function that aligns its stack (gcc: main()) copies its return address below its new frame, and pushes the sp at
 * its call below the saved registers. */
static uint64_t find_caller_sp(struct walk_32 *walk, uint64_t ebp, uint64_t pc)
{
    enum { ALIGNMENT_MAX = 64, SAVED_MAX = 4 };
    uint64_t sp = ebp + 2 * WORD, pushed, original;
    for (uint64_t i = 1; i <= SAVED_MAX && ebp - i * WORD >= walk->regs.r[ESP]; i++)
        if (read_word(walk, ebp - i * WORD, &pushed) && pushed > sp && pushed - sp <= ALIGNMENT_MAX &&
            read_word(walk, pushed - WORD, &original) && original == pc)
            return pushed;
    return sp;
}

static bool step_without_cfi(struct walk_32 *walk, uint64_t pc, uint64_t sp)
{
    walk->regs.r[EIP] = pc;
    walk->regs.r[ESP] = (uint32_t)sp;
    walk->exact = false;
    walk->result.used_no_cfi = true;
    return true;
}

static bool step_by_frame_pointer(struct walk_32 *walk, const struct mapping *mapping)
{
    uint64_t ebp = walk->regs.r[EBP], caller, pc;
    int below = count_words_below_return_address(walk, mapping, walk->regs.r[EIP]);
    if (below >= 0 && read_word(walk, walk->regs.r[ESP] + (uint64_t)below * WORD, &pc) && is_return_address(walk, pc)) {
        if (below)
            read_word(walk, walk->regs.r[ESP], &walk->regs.r[EBP]);
        return step_without_cfi(walk, pc, walk->regs.r[ESP] + (uint64_t)(below + 1) * WORD);
    }
    if (walk->regs.unknown >> EBP & 1)
        return set_end_without_rule(walk, mapping);
    if (ebp == 0 && walk->frame > 0) /* the mark of the deepest frame */
        return set_end(walk, UNWIND_COMPLETE);
    if (ebp < walk->regs.r[ESP] || ebp % WORD != 0)
        return set_end_without_rule(walk, mapping);
    if (!read_word(walk, ebp, &caller) || !read_word(walk, ebp + WORD, &pc))
        return set_end_of_memory(walk);
    if (pc && !address_space_find(walk->space, pc - 1))
        return set_end_without_rule(walk, mapping);
    walk->regs.r[EBP] = caller;
    return step_without_cfi(walk, pc, find_caller_sp(walk, ebp, pc));
}

/* The pc is outside of all code, usually after a call of a wild pointer; the return address is then on top of the
 * stack. */
static bool step_out_of_wild_call(struct walk_32 *walk)
{
    uint64_t esp = walk->regs.r[ESP], pc;
    if (walk->frame > 0) {
        walk->result.frames--; /* not a frame */
        return set_end(walk, UNWIND_NO_MODULE);
    }
    if (!read_word(walk, esp, &pc) || !pc || !address_space_find(walk->space, pc - 1))
        return set_end(walk, UNWIND_NO_MODULE);
    return step_without_cfi(walk, pc, esp + WORD);
}

static bool step_by_rule(struct walk_32 *walk, const struct rule *rule, const struct mapping *mapping, uint64_t pc)
{
    struct cfi_fde fde;
    struct cfi_row row;
    switch (rule->kind) {
    case RULE_FRAME:
        return step_frame(walk, rule);
    case RULE_START:
        return set_end(walk, UNWIND_COMPLETE);
    case RULE_COMPLEX:
        if (module_rule_find_row(mapping, pc, &fde, &row, &walk->space->work))
            return step_by_cfi_row(walk, &row);
        return set_end(walk, UNWIND_DAMAGED);
    case RULE_TOO_COSTLY:
        return set_end(walk, UNWIND_TOO_COSTLY);
    default:
        return step_by_frame_pointer(walk, mapping);
    }
}

static bool step_to_caller(struct walk_32 *walk, uint64_t pc)
{
    const struct mapping *mapping = address_space_find(walk->space, pc);
    if (!mapping) {
        walk->result.unmapped = walk->frame ? pc : 0;
        return step_out_of_wild_call(walk);
    }
    const struct rule *rule = unwind_cache_find(walk->space->cache, pc);
    if (!rule && unwind_work_is_over(&walk->space->work))
        return set_end(walk, UNWIND_TOO_COSTLY);
    if (!rule)
        rule = make_rule(walk, mapping, pc);
    if (!step_by_rule(walk, rule, mapping, pc))
        return false;
    return walk->regs.r[EIP] != 0 || set_end(walk, UNWIND_COMPLETE);
}

bool walk_is_32_bit(const struct address_space *space, const struct unwind_regs *regs)
{
    uint64_t pc = regs->r[UNWIND_REG_PC];
    const struct mapping *mapping = pc >> 32 || regs->is_32_bit ? NULL : address_space_find(space, pc);
    return regs->is_32_bit || (mapping && mapping->module && unwind_module_is_32_bit(mapping->module));
}

struct unwind_result walk_32_bit(struct address_space *space, const struct unwind_regs *regs,
                                 const struct unwind_stack *stack, uint64_t *pcs, size_t max_pcs)
{
    struct walk_32 walk = {
        .space = space, .stack = stack, .pcs = pcs, .exact = true, .result = {.end = UNWIND_TOO_DEEP}};
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        walk.regs.r[reg] = (uint32_t)regs->r[number_of_64_bit[reg]];
        walk.regs.unknown |= (regs->unknown >> number_of_64_bit[reg] & 1) << reg;
    }
    uint64_t omitted = 0;
    for (;; walk.frame++) {
        size_t dropped = walk.frame < max_pcs ? 0 : deep_stack_omit_middle(pcs, stack->sps, max_pcs, &omitted);
        if (walk.frame == max_pcs && !dropped)
            break;
        walk.frame -= dropped;
        uint64_t pc = walk.regs.r[EIP] - (walk.exact ? 0 : 1);
        pcs[walk.frame] = pc;
        if (stack->sps)
            stack->sps[walk.frame] = walk.regs.r[ESP];
        walk.result.frames = walk.frame + 1;
        if (!step_to_caller(&walk, pc))
            break;
    }
    return walk.result;
}
