#include "unwind/jit_rule.h"

#include "arch/arch.h"

/* Reads the code from `before` bytes before `at` to `after` bytes after `at`, within the mapping. Unreadable bytes
 * become 0. */
static bool read_around(const struct unwind_stack *stack, const struct mapping *mapping, uint64_t at, size_t before,
                        size_t after, unsigned char *bytes)
{
    uint64_t most_before = at - mapping->start, most_after = mapping->end - at;
    size_t skip = most_before < before ? before - (size_t)most_before : 0;
    size_t end = before + (most_after < after ? (size_t)most_after : after);
    memset(bytes, 0, before + after);
    return stack->read_code && stack->read_code(stack->context, at - before + skip, bytes + skip, end - skip);
}

bool jit_rule_make_from_snippet(const struct jit_frame *frame, bool is_java, struct rule *rule)
{
    unsigned char bytes[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    if (!read_around(frame->stack, frame->mapping, frame->next_pc, ARCH_CODE_BEFORE, ARCH_CODE_AFTER, bytes))
        return false;
    struct arch_code code = {.kind = ARCH_CODE_UNKNOWN};
    if (is_java && frame->exact)
        code = arch_find_java_prologue_or_epilogue(bytes);
    if (code.kind == ARCH_CODE_UNKNOWN)
        code = arch_code_recognize(bytes);
    if (code.kind != ARCH_CODE_STUB)
        return false;
    rule_fill_from_snippet(&code, RULE_FRAME, rule);
    return true;
}

void jit_rule_make_for_java(const struct jit_frame *frame, struct rule *rule)
{
    unsigned char bytes[ARCH_JAVA_REACH];
    rule->kind = RULE_NO_CFI;
    if (!read_around(frame->stack, frame->mapping, frame->next_pc, sizeof(bytes), 0, bytes))
        return;
    struct arch_code code = arch_find_java_function(bytes, sizeof(bytes));
    if (code.kind == ARCH_CODE_STUB)
        rule_fill_from_snippet(&code, RULE_JAVA, rule);
}

static size_t read_jit_code(void *context, uint64_t address, unsigned char *out, size_t size)
{
    const struct jit_frame *frame = context;
    const struct mapping *mapping = frame->mapping;
    if (address - mapping->start >= mapping->end - mapping->start)
        return 0;
    if (size > mapping->end - address)
        size = mapping->end - address;
    return frame->stack->read_code && frame->stack->read_code(frame->stack->context, address, out, size) ? size : 0;
}

bool jit_rule_make_from_return(const struct jit_frame *frame, struct rule *rule)
{
    struct arch_frame found;
    if (arch_find_return(read_jit_code, (void *)(uintptr_t)frame, frame->next_pc, &found) != ARCH_RETURNS)
        return false;
    return rule_fill_from_return(&found, rule);
}

bool jit_rule_returns_to(const struct unwind_stack *stack, const struct mapping *mapping, uint64_t address)
{
    unsigned char bytes[ARCH_CODE_BEFORE + ARCH_CODE_AFTER];
    return !read_around(stack, mapping, address, ARCH_CODE_BEFORE, ARCH_CODE_AFTER, bytes) ||
           arch_code_is_after_call(bytes) || arch_returns_to_java_interpreter(bytes);
}
