/*
 * The innermost frame of a stack that belongs to the recorded program: not to the kernel, not to the C or C++ library,
 * not to an interpreter, and no placeholder. In this frame, a reader of the program finds the call that waits.
 */
#pragma once

#include "profile/profile.h"

/* Returns the stack that ends with this frame, which is `stack` or one of its callers. For a wait, `stack` is the
 * caller of the wait. A function with only an address yields to a caller of the same library with a name. If all frames
 * belong to libraries of the system or to an interpreter, the innermost frame of the interpreter counts, else the
 * innermost frame outside of the kernel. Returns PROFILE_NONE if the stack has no code. */
uint32_t find_own_stack(const struct profile *profile, uint32_t stack);

struct own_place {
    uint32_t func; /* PROFILE_NONE: unknown */
    uint32_t line; /* 1-based; 0: unknown */
};

/* Returns the function and the line of find_own_stack(). */
struct own_place find_own_place(const struct profile *profile, uint32_t stack);
