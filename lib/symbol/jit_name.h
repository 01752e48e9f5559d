/*
 * Parses the name of JIT code: the function, its source location, and the compiler tier.
 */
#pragma once

#include "base/arena.h"

struct jit_name {
    const char *function;
    const char *file;      /* NULL if unknown */
    uint32_t line, column; /* 1-based, of the declaration, or 0 if unknown */
    bool is_javascript;
    const char *tier; /* "Interpreted", "Baseline", "Maglev", "Optimized", or NULL if unknown. The tier does not
                         distinguish functions */
};

/* Whether the text is UTF-8 without unprintable characters, and not empty. */
bool jit_text_is_printable(const char *text, size_t length);

/* Parses `length` arbitrary bytes. Copies texts to `arena`, with U+FFFD for unprintable characters. -ENOMEM. */
int jit_name_parse(struct jit_name *name, const char *text, size_t length, struct arena *arena);
