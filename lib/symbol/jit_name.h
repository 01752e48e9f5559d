/*
 * What the name that a JIT compiler gave its code says: the function, where it is written, and how it was compiled.
 */
#ifndef PROF_SYMBOL_JIT_NAME_H
#define PROF_SYMBOL_JIT_NAME_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct jit_name {
    const char *function;
    const char *file;      /* NULL: not said */
    uint32_t line, column; /* 1-based, of the declaration; 0: not said */
    const char *tier; /* "Interpreted", "Baseline", "Maglev", "Optimized": the function is the same; NULL: not said */
};

/* Takes `length` bytes apart that may be anything; texts are copied into `arena` with what is no printable character
 * replaced by U+FFFD. -ENOMEM if memory runs out. */
int jit_name_parse(struct jit_name *name, const char *text, size_t length, struct arena *arena);

#endif
