#include "tree/own_frame.h"

#include "tree/frame_kinds.h"
#include "tree/runtime_frames.h"
#include "tree/stack_view.h"

/* Returns the stack, or the caller in the same library that has a name if the function has only an address. */
static uint32_t find_named_caller(const struct profile *profile, uint32_t stack)
{
    const struct stack_table *stacks = &profile->stacks;
    uint32_t lib = PROFILE_NONE;
    for (uint32_t at = stack; at != PROFILE_NONE; at = stacks->prefix[at]) {
        const struct func_names names = get_func_names(profile, profile->frames.func[stacks->frame[at]]);
        if (at != stack && names.lib != lib)
            break;
        if (!profile_is_address(profile_text(profile, names.name)) &&
            !is_runtime_frame(profile, profile->frames.func[stacks->frame[at]]))
            return at;
        lib = names.lib;
    }
    return stack;
}

uint32_t find_own_stack(const struct profile *profile, uint32_t stack)
{
    const struct stack_table *stacks = &profile->stacks;
    uint32_t innermost = PROFILE_NONE, in_interpreter = PROFILE_NONE;
    for (uint32_t at = stack; at != PROFILE_NONE; at = stacks->prefix[at]) {
        uint32_t func = profile->frames.func[stacks->frame[at]];
        if (!(get_frame_kind(profile, func) & FRAME_CODE))
            continue;
        bool is_runtime = is_runtime_frame(profile, func);
        if (!is_runtime && !is_interpreter_frame(profile, func))
            return find_named_caller(profile, at);
        if (!is_runtime && in_interpreter == PROFILE_NONE)
            in_interpreter = at;
        if (innermost == PROFILE_NONE)
            innermost = at;
    }
    return in_interpreter != PROFILE_NONE ? in_interpreter : innermost;
}

struct own_place find_own_place(const struct profile *profile, uint32_t stack)
{
    uint32_t own = find_own_stack(profile, stack);
    if (own == PROFILE_NONE)
        return (struct own_place){PROFILE_NONE, 0};
    uint32_t frame = profile->stacks.frame[own];
    return (struct own_place){profile->frames.func[frame], profile->frames.line[frame]};
}
