/*
 * The libraries that the served profile names. They are the only files that the symbol API looks into, and they are
 * known to its clients by debug name and breakpad id.
 */
#ifndef PROF_SERVE_SERVED_LIBS_H
#define PROF_SERVE_SERVED_LIBS_H

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "symbol/elf_file.h"
#include "symbol/symbol.h"

/* Texts as the profile has them; "" where it has none. */
struct served_lib {
    const char *debug_name, *breakpad_id;
    const char *code_id; /* hex */
    const char *path;
};

/* Zero it to start. */
struct served_libs {
    ARRAY(struct served_lib) rows;
    struct strings keys; /* "debug name/breakpad id" of each row, at its index */
    struct arena arena;
};

#define SERVED_LIB_NONE UINT32_MAX

/* Copies the row, unless one of this name and id is there. False if memory ran out. */
bool served_libs_add(struct served_libs *libs, const struct served_lib *lib);

/* Adds those of the profile that `profile_fd` has open. */
int served_libs_load(struct served_libs *libs, int profile_fd, struct error *err);

/* The row of "debug name/breakpad id", or SERVED_LIB_NONE. */
uint32_t served_libs_find(const struct served_libs *libs, const char *key);

void served_libs_destroy(struct served_libs *libs);

/* A library whose file can be told from others: by its build id, which lib/symbol wants a file to have, or, if it has
 * none, because the file was looked at. */
struct identified_lib {
    struct symbol_lib symbol; /* points into the row and to `build_id`: do not copy */
    unsigned char build_id[ELF_BUILD_ID_MAX];
};

/* Takes the profile's code id or, where there is none, looks whether the file has the breakpad id. Returns 0, or
 * -ENOENT with a sentence. */
int served_lib_identify(const struct served_lib *lib, struct identified_lib *out, struct error *err);

#endif
