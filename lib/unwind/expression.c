#include "unwind/expression.h"

#include <dwarf.h>

/* Limits of steps and stack depth, which no expression of a compiler reaches. The limits end loops (DW_OP_skip can
 * jump back) and endless pushes. */
enum { STACK_DEPTH = 64, MAX_OPERATIONS = 1024 };

struct machine {
    uint64_t stack[STACK_DEPTH];
    unsigned depth;
    bool failed;
};

static void push_value(struct machine *m, uint64_t value)
{
    if (m->depth == STACK_DEPTH)
        m->failed = true;
    else
        m->stack[m->depth++] = value;
}

static uint64_t pop_value(struct machine *m)
{
    if (m->depth == 0) {
        m->failed = true;
        return 0;
    }
    return m->stack[--m->depth];
}

static void push_pick(struct machine *m, unsigned index)
{
    if (index >= m->depth)
        m->failed = true;
    else
        push_value(m, m->stack[m->depth - 1 - index]);
}

static void rotate_top(struct machine *m)
{
    uint64_t first = pop_value(m), second = pop_value(m), third = pop_value(m);
    push_value(m, first);
    push_value(m, third);
    push_value(m, second);
}

static void push_register(struct machine *m, const struct unwind_regs *regs, uint64_t number, int64_t offset)
{
    if (number >= UNWIND_REGS)
        m->failed = true;
    else
        push_value(m, regs->r[number] + (uint64_t)offset);
}

static uint64_t divide_signed(struct machine *m, uint64_t a, uint64_t b)
{
    if (b == 0) {
        m->failed = true;
        return 0;
    }
    if (b == UINT64_MAX) /* the division by -1 traps for the smallest integer */
        return 0 - a;
    return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift_arithmetically(uint64_t value, unsigned count)
{
    uint64_t signs = (int64_t)value < 0 ? ~(UINT64_MAX >> count) : 0;
    return value >> count | signs;
}

static uint64_t compute_binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case DW_OP_and:
        return a & b;
    case DW_OP_div:
        return divide_signed(m, a, b);
    case DW_OP_minus:
        return a - b;
    case DW_OP_mod:
        m->failed |= b == 0;
        return b ? a % b : 0;
    case DW_OP_mul:
        return a * b;
    case DW_OP_or:
        return a | b;
    case DW_OP_plus:
        return a + b;
    case DW_OP_shl:
        return b < 64 ? a << b : 0;
    case DW_OP_shr:
        return b < 64 ? a >> b : 0;
    case DW_OP_shra:
        return shift_arithmetically(a, b < 64 ? (unsigned)b : 63);
    case DW_OP_xor:
        return a ^ b;
    case DW_OP_eq:
        return a == b;
    case DW_OP_ge:
        return sa >= sb;
    case DW_OP_gt:
        return sa > sb;
    case DW_OP_le:
        return sa <= sb;
    case DW_OP_lt:
        return sa < sb;
    default: /* DW_OP_ne */
        return a != b;
    }
}

static void jump_by(struct machine *m, struct cursor *c, const unsigned char *start, int16_t distance)
{
    ptrdiff_t at = (c->at - start) + distance;
    if (c->failed || at < 0 || at > c->end - start)
        m->failed = true;
    else
        c->at = start + at;
}

static uint64_t read_constant(struct cursor *c, uint8_t op)
{
    switch (op) {
    case DW_OP_const1u:
        return cursor_u8(c);
    case DW_OP_const1s:
        return (uint64_t)(int8_t)cursor_u8(c);
    case DW_OP_const2u:
        return cursor_u16(c);
    case DW_OP_const2s:
        return (uint64_t)(int16_t)cursor_u16(c);
    case DW_OP_const4u:
        return cursor_u32(c);
    case DW_OP_const4s:
        return (uint64_t)(int32_t)cursor_u32(c);
    case DW_OP_constu:
        return cursor_uleb(c);
    case DW_OP_consts:
        return (uint64_t)cursor_sleb(c);
    default: /* DW_OP_addr, DW_OP_const8u, DW_OP_const8s */
        return cursor_u64(c);
    }
}

/* Runs an operation that only changes the stack. Returns false for other operations. */
static bool run_stack_operation(struct machine *m, struct cursor *c, uint8_t op)
{
    uint64_t top, below;
    switch (op) {
    case DW_OP_nop:
        return true;
    case DW_OP_dup:
        push_pick(m, 0);
        return true;
    case DW_OP_over:
        push_pick(m, 1);
        return true;
    case DW_OP_pick:
        push_pick(m, cursor_u8(c));
        return true;
    case DW_OP_rot:
        rotate_top(m);
        return true;
    }
    top = pop_value(m);
    switch (op) {
    case DW_OP_drop:
        return true;
    case DW_OP_swap:
        below = pop_value(m);
        push_value(m, top);
        push_value(m, below);
        return true;
    case DW_OP_abs:
        push_value(m, (int64_t)top < 0 ? 0 - top : top);
        return true;
    case DW_OP_neg:
        push_value(m, 0 - top);
        return true;
    case DW_OP_not:
        push_value(m, ~top);
        return true;
    case DW_OP_plus_uconst:
        push_value(m, top + cursor_uleb(c));
        return true;
    }
    if (op < DW_OP_and || op > DW_OP_ne)
        return false;
    below = pop_value(m);
    push_value(m, compute_binary(m, op, below, top));
    return true;
}

bool evaluate_expression(struct cursor code, const struct unwind_regs *regs, const uint64_t *initial,
                         expression_read *read, void *context, struct unwind_work *work, uint64_t *result)
{
    const unsigned char *start = code.at;
    struct machine m = {.depth = 0};
    if (initial)
        push_value(&m, *initial);
    struct cursor *c = &code;
    for (unsigned count = 0; c->at < c->end; count++) {
        if (count == MAX_OPERATIONS || !unwind_work_add(work, 1))
            return false;
        uint8_t op = cursor_u8(c);
        uint64_t value;
        if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
            push_value(&m, op - DW_OP_lit0);
        } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
            push_register(&m, regs, op - DW_OP_breg0, cursor_sleb(c));
        } else if (op == DW_OP_bregx) {
            value = cursor_uleb(c);
            push_register(&m, regs, value, cursor_sleb(c));
        } else if (op == DW_OP_addr || (op >= DW_OP_const1u && op <= DW_OP_consts)) {
            push_value(&m, read_constant(c, op));
        } else if (op == DW_OP_deref || op == DW_OP_deref_size) {
            unsigned size = op == DW_OP_deref ? 8 : cursor_u8(c);
            uint64_t address = pop_value(&m);
            if (m.failed || size < 1 || size > 8 || !read(context, address, size, &value))
                return false;
            push_value(&m, value);
        } else if (op == DW_OP_bra || op == DW_OP_skip) {
            int16_t distance = (int16_t)cursor_u16(c);
            if (op == DW_OP_skip || pop_value(&m) != 0)
                jump_by(&m, c, start, distance);
        } else if (!run_stack_operation(&m, c, op)) {
            return false;
        }
        if (m.failed || c->failed)
            return false;
    }
    if (m.depth == 0)
        return false;
    *result = pop_value(&m);
    return true;
}
