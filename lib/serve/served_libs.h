/*
 * The libraries that the served profile names. The symbol API opens only these; clients name them by debug name and
 * breakpad id. Also the scripts that the profile names: source files of code that was compiled at run time, which no
 * library lists.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "profile/profile.h"
#include "symbol/named_library.h"

#include <stdatomic.h>

/* Starts zeroed. */
struct served_libs {
    ARRAY(struct named_library) rows;
    struct strings keys;    /* "debug name/breakpad id" of each row, at its index */
    struct strings scripts; /* absolute file names with the ending of a script and without code in a library */
    struct arena arena;
};

#define SERVED_LIB_NONE UINT32_MAX

/* Copies the row, unless one with this name and id exists. False if memory ran out. */
bool served_libs_add(struct served_libs *libs, const struct named_library *lib);

/* Adds the libraries and scripts of the profile. */
int served_libs_add_profile(struct served_libs *libs, const struct profile *profile, struct error *err);

/* Adds the libraries and scripts of the profile in `profile_fd`. -ECANCELED soon after *stop is true. */
int served_libs_load(struct served_libs *libs, int profile_fd, const atomic_bool *stop, struct error *err);

/* The row of "debug name/breakpad id", or SERVED_LIB_NONE. */
uint32_t served_libs_find(const struct served_libs *libs, const char *key);

/* The first row with this code id, in lower-case hex, or SERVED_LIB_NONE. */
uint32_t served_libs_find_code_id(const struct served_libs *libs, const char *code_id);

/* The path in the name of a script, which may be an address: "file:///a.js". */
const char *script_path(const char *file);

void served_libs_destroy(struct served_libs *libs);
