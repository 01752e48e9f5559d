/*
 * Reads memory for the walker: the copy of the stack, and memory outside of it.
 */
#include "unwind/walk.h"

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

static bool read_below(struct walk *walk, uint64_t address, unsigned char *out, size_t size)
{
    const struct unwind_stack *stack = walk->stack;
    uint64_t below = stack->sp - address;
    walk->has_read_below = true;
    if (size > below)
        return false;
    if (below <= stack->below) {
        memcpy(out, stack->bytes - below, size);
        return true;
    }
    if (!stack->read_below || !stack->read_below(stack->context, address, out, size))
        return false;
    walk->result.used_read_above = true;
    return true;
}

bool walk_read_outside(struct walk *walk, uint64_t address, unsigned char *out, size_t size)
{
    const struct unwind_stack *stack = walk->stack;
    uint64_t offset = address - stack->sp;
    if (address > UINT64_MAX - size)
        return false;
    if (address < stack->sp && stack->sp - address <= UNWIND_BELOW_SP)
        return read_below(walk, address, out, size);
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

bool walk_read_for_expression(void *context, uint64_t address, unsigned size, uint64_t *value)
{
    unsigned char bytes[8] = {0};
    if (!walk_read_outside(context, address, bytes, size))
        return false;
    memcpy(value, bytes, 8);
    return true;
}
