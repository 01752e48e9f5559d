/*
 * Libraries as saved profiles name them, and the file on this machine, if any, that matches.
 */
#pragma once

#include "elf/elf_file.h"
#include "symbol/symbol.h"

/* Texts from the profile; "" if missing. */
struct named_library {
    const char *debug_name, *breakpad_id;
    const char *code_id; /* hex */
    const char *path;
};

/* A library with an identity to match files against: a build id, or, without one, the breakpad id of the file that was
 * checked. */
struct identified_library {
    struct symbol_lib symbol; /* points into the named library and to `build_id`, so it must not be copied */
    unsigned char build_id[ELF_BUILD_ID_MAX];
};

/* Identifies the library by the profile's code id; without one, checks the breakpad id of the file; without both, takes
 * the file at the path. The kernel and its
 * modules have no file, and need a code id. Returns 0, or -ENOENT with a sentence. */
int named_library_identify(const struct named_library *library, struct identified_library *out, struct error *err);
