/*
 * The libraries that the served profile names. The symbol API opens only these libraries. Clients name a library by
 * debug name and breakpad id. The list includes the scripts of the profile: source files of code that was compiled at
 * run time, which belong to no library.
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
    struct strings keys; /* "debug name/breakpad id" of each row, at its index */
    struct strings
        scripts; /* absolute paths of scripts: files with the extension of a script, and without code in a library */
    struct arena arena;
};

#define SERVED_LIB_NONE UINT32_MAX

/* Adds a copy of a library, unless a library with its debug name and breakpad id exists. Returns false if memory ran
 * out. */
bool served_libs_add(struct served_libs *libs, const struct named_library *lib);

/* Adds the libraries and scripts of the profile. */
int served_libs_add_profile(struct served_libs *libs, const struct profile *profile, struct error *err);

/* Adds the libraries and scripts of the profile in `profile_fd`. -ECANCELED soon after *stop is true. */
int served_libs_load(struct served_libs *libs, int profile_fd, const atomic_bool *stop, struct error *err);

/* Finds the row with the key "debug name/breakpad id", or SERVED_LIB_NONE if none has it. */
uint32_t served_libs_find(const struct served_libs *libs, const char *key);

/* Finds the first row with this code id, in lower-case hex, or SERVED_LIB_NONE if none has it. */
uint32_t served_libs_find_code_id(const struct served_libs *libs, const char *code_id);

/* Returns the path in the name of a script, which may be a URL such as "file:///a.js". */
const char *get_script_path(const char *file);

void served_libs_destroy(struct served_libs *libs);
