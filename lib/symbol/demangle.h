/* Names as programmers write them, from the names that linkers see: C++ (Itanium) and Rust (legacy and v0). */
#ifndef PROF_SYMBOL_DEMANGLE_H
#define PROF_SYMBOL_DEMANGLE_H

#include "base/arena.h"

#include <stdbool.h>

/* Whether the name looks like one that demangle() knows. */
static inline bool is_mangled(const char *name)
{
    return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* The demangled name in `arena`; `name` itself, copied, if it is not mangled, damaged, or absurd (longer than
 * DEMANGLE_INPUT_MAX, or longer than DEMANGLE_OUTPUT_MAX when demangled). NULL if memory ran out. Wants 1 MiB of stack
 * and up to 8 MiB for names that nest deeply: call it on a thread with DEMANGLE_STACK_SIZE of it. */
const char *demangle(const char *name, struct arena *arena);

/* The length of the name without what compilers append to parts and copies of a function (".cold", ".part.0",
 * ".constprop.1", ".isra.0", ".llvm.123"): by it they are one function. */
size_t demangle_base_length(const char *name);

enum { DEMANGLE_INPUT_MAX = 16 << 10, DEMANGLE_OUTPUT_MAX = 64 << 10, DEMANGLE_STACK_SIZE = 64 << 20 };

#endif
