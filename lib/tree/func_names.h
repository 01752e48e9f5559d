/*
 * What a func of a stack view is called: one of the profile, or one that stands for a whole library.
 */
#ifndef PROF_TREE_FUNC_NAMES_H
#define PROF_TREE_FUNC_NAMES_H

#include "profile/profile.h"

struct func_names {
    uint32_t name;     /* string; all strings are PROFILE_NONE where unknown */
    uint32_t lib;      /* string: the library */
    uint32_t lib_path; /* string */
    uint32_t file;     /* string: the source file */
    uint32_t line;     /* of the declaration, 1-based; 0 unknown */
    uint32_t resource; /* that can be collapsed into one func; PROFILE_NONE: none */
};

/* Also for an index that no func has: then nothing is known. */
struct func_names func_names_of(const struct profile *profile, uint32_t func);

#endif
