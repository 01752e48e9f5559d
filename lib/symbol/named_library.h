/*
 * Libraries as saved profiles name them, and which file on this machine, if any, is the one that was recorded.
 */
#ifndef PROF_SYMBOL_NAMED_LIBRARY_H
#define PROF_SYMBOL_NAMED_LIBRARY_H

#include "elf/elf_file.h"
#include "symbol/symbol.h"

/* Texts as the profile has them; "" where it has none. */
struct named_library {
    const char *debug_name, *breakpad_id;
    const char *code_id; /* hex */
    const char *path;
};

/* A library whose file can be told from others: by its build id, which lib/symbol wants a file to have, or, if it has
 * none, because the file was looked at. */
struct identified_library {
    struct symbol_lib symbol; /* points into the named one and to `build_id`: do not copy */
    unsigned char build_id[ELF_BUILD_ID_MAX];
};

/* Takes the profile's code id or, where there is none, looks whether the file has the breakpad id. The kernel's
 * own have no file, and need a code id. Returns 0, or -ENOENT with a sentence. */
int named_library_identify(const struct named_library *library, struct identified_library *out, struct error *err);

#endif
