#include "unwind/module_rule.h"

#include <dwarf.h>

bool module_rule_find_row(const struct mapping *mapping, uint64_t pc, struct cfi_fde *fde, struct cfi_row *row,
                          struct unwind_work *work)
{
    uint64_t vaddr = find_mapped_vaddr(mapping, pc);
    return unwind_module_find_fde(mapping->module, vaddr, fde) && cfi_find_row(fde, vaddr, row, work);
}

static bool fits_in_slot(int64_t offset)
{
    return offset % 8 == 0 && offset / 8 >= INT16_MIN && offset / 8 <= INT16_MAX;
}

/* Makes a rule for a CFA of the form `*(register + offset)` (DW_OP_breg, DW_OP_deref). */
static bool make_deref_rule(const struct cfi_row *row, struct rule *rule)
{
    struct cursor c = cfi_get_expression(row, row->cfa_value);
    uint8_t reg = (uint8_t)(cursor_u8(&c) - DW_OP_breg0);
    int64_t offset = cursor_sleb(&c);
    if (cursor_u8(&c) != DW_OP_deref || c.failed || c.at != c.end || reg >= UNWIND_REG_PC || offset != (int32_t)offset)
        return false;
    if (rule->return_slot != -1)
        return false;
    rule->kind = RULE_FRAME_DEREF;
    rule->cfa_register = reg;
    rule->cfa_offset = (int32_t)offset;
    return true;
}

/* Omits the rules of registers that no caller relies on (rax and others, which exception handling code saves). */
static bool make_compact_rule(const struct cfi_row *row, struct rule *rule)
{
    uint8_t return_rule = row->rules[UNWIND_REG_RETURN], sp_rule = row->rules[UNWIND_REG_SP];
    if (return_rule == CFI_UNDEFINED) {
        rule->kind = RULE_START;
        return true;
    }
    bool is_in_link = ARCH_HAS_LINK_REGISTER && return_rule == CFI_SAME_VALUE;
    bool has_slot = return_rule == CFI_OFFSET && fits_in_slot(row->values[UNWIND_REG_RETURN]);
    if (row->is_signal_frame || !(has_slot || is_in_link))
        return false;
    if (sp_rule != CFI_SAME_VALUE && !(sp_rule == CFI_VAL_OFFSET && row->values[UNWIND_REG_SP] == 0))
        return false;
    rule->return_slot = is_in_link ? ARCH_RETURN_IN_LINK : (int16_t)(row->values[UNWIND_REG_RETURN] / 8);
    for (size_t i = 0; i < ARCH_SAVED_REGISTERS; i++) {
        uint8_t reg = arch_saved_registers[i], kind = row->rules[reg];
        if (kind == CFI_SAME_VALUE || kind == CFI_UNDEFINED)
            continue;
        if (kind != CFI_OFFSET || !fits_in_slot(row->values[reg]))
            return false;
        rule->slots[i] = (int16_t)(row->values[reg] / 8);
        rule->saved |= (arch_saved_set)(1u << reg);
    }
    if (row->cfa_kind == CFI_CFA_EXPRESSION)
        return make_deref_rule(row, rule);
    if (row->cfa_register >= UNWIND_REG_PC || row->cfa_value != (int32_t)row->cfa_value)
        return false;
    rule->kind = RULE_FRAME;
    rule->cfa_register = (uint8_t)row->cfa_register;
    rule->cfa_offset = (int32_t)row->cfa_value;
    return true;
}

/* Reads the code around the next instruction. For a caller, the next instruction is at the return address, pc + 1. */
static bool read_code(const struct mapping *mapping, uint64_t pc, bool exact,
                      unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    return unwind_module_read_code_around(mapping->module, find_mapped_vaddr(mapping, pc) + !exact, code);
}

static enum rule_kind choose_snippet_kind(const struct arch_code *code)
{
    return code->kind == ARCH_CODE_STUB ? RULE_FRAME : code->kind == ARCH_CODE_START ? RULE_START : RULE_AFTER_CLONE;
}

static size_t read_module_code(void *context, uint64_t address, unsigned char *out, size_t size)
{
    const struct mapping *mapping = context;
    if (address - mapping->start >= mapping->end - mapping->start)
        return 0;
    return unwind_module_read_code(mapping->module, find_mapped_vaddr(mapping, address), out, size);
}

bool module_rule_make_from_return(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule)
{
    struct arch_frame frame;
    enum arch_return found = arch_find_return(read_module_code, (void *)(uintptr_t)mapping, pc + !exact, &frame);
    bool fits = (found == ARCH_RETURNS || found == ARCH_MAY_RETURN) && rule_fill_from_return(&frame, rule);
    if (found == ARCH_NEVER_RETURNS || (found == ARCH_MAY_RETURN && fits && rule->kind == RULE_RETURN))
        rule->kind = RULE_NO_RETURN;
    return fits || found == ARCH_NEVER_RETURNS;
}

bool module_rule_follows_call(const struct mapping *mapping, uint64_t address, uint64_t *target)
{
    unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    read_code(mapping, address, true, code);
    *target = arch_find_call_target(code, address);
    return arch_code_is_after_call(code);
}

bool module_rule_ends_in_system_call(const struct mapping *mapping, uint64_t pc)
{
    unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    uint64_t start, size, vaddr = find_mapped_vaddr(mapping, pc);
    if (!read_code(mapping, pc - ARCH_SYSCALL_SIZE, true, code) || !arch_code_is_system_call(code))
        return false;
    if (arch_code_recognize(code).kind == ARCH_CODE_SIGNAL_FRAME)
        return true;
    bool continues = unwind_module_find_function(mapping->module, vaddr, &start, &size) && start != vaddr;
    return !continues && unwind_module_find_function(mapping->module, vaddr - ARCH_SYSCALL_SIZE, &start, &size);
}

/* Whether a caller keeps its return address in the link register, although no call precedes the pc: glibc starts
 * contexts so on arm64. */
static bool is_context_start_with_link(const struct mapping *mapping, uint64_t pc, bool exact, const struct rule *rule)
{
    uint64_t target;
    return ARCH_HAS_LINK_REGISTER && !exact && rule->return_slot == ARCH_RETURN_IN_LINK &&
           !module_rule_follows_call(mapping, pc + 1, &target);
}

/* Whether makecontext or a coroutine library stored this return address: no call precedes the address, and it is the
 * start of a function (__start_context) or in code without CFI (Boost). */
static bool is_context_start(const struct mapping *mapping, uint64_t pc, bool exact)
{
    unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    uint64_t start, size, vaddr = find_mapped_vaddr(mapping, pc) + 1;
    return !exact && read_code(mapping, pc, exact, code) && !arch_code_is_after_call(code) &&
           (!unwind_module_find_function(mapping->module, vaddr, &start, &size) || start == vaddr);
}

static bool make_go_table_rule(const struct mapping *mapping, uint64_t pc, struct rule *rule)
{
    int32_t size = unwind_module_find_go_frame_size(mapping->module, find_mapped_vaddr(mapping, pc));
    if (size < 0 || size > INT32_MAX - 8)
        return false;
    rule->kind = RULE_GO;
    rule->cfa_register = UNWIND_REG_SP;
    rule->cfa_offset = ARCH_HAS_LINK_REGISTER ? size : size + 8;
    rule->return_slot = -1;
    if (ARCH_HAS_LINK_REGISTER) /* at the lower end of the frame */
        rule->return_slot = size ? (int16_t)(-size / 8) : ARCH_RETURN_IN_LINK;
    return size / 8 < -ARCH_RETURN_IN_LINK;
}

/* Makes the rule of a Go function from the Go function table. The table does not describe runtime code that starts or
 * switches stacks, which this function recognizes by its bytes. */
static bool make_go_rule(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule)
{
    if (!unwind_module_is_go(mapping->module))
        return false;
    unsigned char bytes[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    read_code(mapping, pc, exact, bytes);
    struct arch_code code = arch_code_recognize(bytes);
    if (arch_code_starts_go_stack(bytes, !exact))
        rule->kind = RULE_START;
    else if (code.kind == ARCH_CODE_SIGNAL_FRAME)
        rule->kind = RULE_SIGNAL_FRAME;
    else if (code.kind == ARCH_CODE_AFTER_CLONE)
        rule_fill_from_snippet(&code, choose_snippet_kind(&code), rule);
    else
        return make_go_table_rule(mapping, pc, rule);
    return true;
}

/* Makes the rule of code without CFI: tries the entry point, known code, the start of a context, and the code up to its
 * return instruction. Otherwise the walker follows the frame pointer. */
static void make_rule_without_cfi(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule,
                                  struct unwind_work *work)
{
    unwind_work_add(work, UNWIND_WORK_OF_RETURN);
    rule->kind = RULE_NO_CFI;
    if (unwind_module_is_entry(mapping->module, find_mapped_vaddr(mapping, pc))) {
        bool returns = module_rule_make_from_return(mapping, pc, exact, rule) && rule->kind == RULE_RETURN;
        rule->kind = returns ? RULE_ENTRY : RULE_START;
        return;
    }
    unsigned char bytes[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    read_code(mapping, pc, exact, bytes);
    struct arch_code code = arch_code_recognize(bytes);
    if (code.kind == ARCH_CODE_SIGNAL_FRAME)
        rule->kind = RULE_SIGNAL_FRAME;
    else if (unwind_module_is_go(mapping->module))
        rule->kind = RULE_GO_NO_CFI;
    else if (is_context_start(mapping, pc, exact))
        rule->kind = RULE_CONTEXT_START;
    else if (code.kind != ARCH_CODE_UNKNOWN)
        rule_fill_from_snippet(&code, choose_snippet_kind(&code), rule);
    else if (unwind_module_is_haskell(mapping->module, find_mapped_vaddr(mapping, pc)))
        rule->kind = RULE_HASKELL;
    else
        module_rule_make_from_return(mapping, pc, exact, rule);
}

/* On arm64, LLVM 14 (Rust 1.63) describes a prologue only after its last instruction, and no epilogue. Within the
 * prologue, the return address is in the link register, but the rule has the wrong CFA. At a return instruction, sp and
 * all registers have the values of the caller. */
static void correct_rule_of_edge(const struct mapping *mapping, uint64_t pc, struct rule *rule)
{
    unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    bool is_in_link = rule->return_slot == ARCH_RETURN_IN_LINK && rule->cfa_register == UNWIND_REG_SP;
    if (!read_code(mapping, pc, true, code))
        return;
    if (arch_code_is_return(code))
        *rule = (struct rule){.pc = rule->pc,
                              .generation = rule->generation,
                              .kind = RULE_FRAME,
                              .cfa_register = UNWIND_REG_SP,
                              .return_slot = ARCH_RETURN_IN_LINK};
    else if (is_in_link && rule->cfa_offset == 0)
        rule->cfa_offset = arch_find_prologue_size(code);
}

void module_rule_find(const struct mapping *mapping, uint64_t pc, bool exact, struct rule *rule,
                      struct unwind_work *work)
{
    struct cfi_fde fde;
    struct cfi_row row;
    rule->kind = RULE_NO_CFI;
    if (unwind_module_is_32_bit(mapping->module))
        return;
    size_t indexed = unwind_module_count_indexed(mapping->module);
    bool is_go = make_go_rule(mapping, pc, exact, rule);
    bool has_row = !is_go && module_rule_find_row(mapping, pc, &fde, &row, work);
    indexed = unwind_module_count_indexed(mapping->module) - indexed;
    unwind_work_add(work, UNWIND_WORK_OF_RULE + (uint32_t)indexed * UNWIND_WORK_OF_FDE);
    if (is_go)
        return;
    if (!has_row) {
        make_rule_without_cfi(mapping, pc, exact, rule, work);
        return;
    }
    bool is_at_end = find_mapped_vaddr(mapping, pc) + 1 - fde.start == fde.size;
    bool is_start = is_at_end && is_context_start(mapping, pc, exact);
    if (!is_start && !make_compact_rule(&row, rule))
        *rule = (struct rule){.pc = rule->pc, .generation = rule->generation, .kind = RULE_COMPLEX};
    else if (is_start || is_context_start_with_link(mapping, pc, exact, rule))
        rule->kind = RULE_CONTEXT_START;
    else if (fde.is_debug_frame && rule->kind == RULE_FRAME && unwind_module_is_go(mapping->module))
        rule->kind = RULE_GO;
    if (ARCH_HAS_LINK_REGISTER && exact && rule->kind == RULE_FRAME)
        correct_rule_of_edge(mapping, pc, rule);
}
