/*
 * The path of a library by its name. A func names its library through a resource, which has no path; and a profile may
 * have as many libraries as funcs (a callgrind file of 400,000 objects), so each is looked up in an index.
 *
 * Threads: none of its own; one caller at a time.
 */
#pragma once

#include "base/hash.h"
#include "profile/profile.h"
#include "tree/stack_view.h"

#include <stddef.h>
#include <stdint.h>

/* Starts zeroed. It belongs to one profile, whose libraries may only grow in number. */
struct library_paths {
    struct hash by_name;
    size_t indexed; /* libraries */
};

/* Sets names->lib_path, of a func of the profile. It stays unknown if memory runs out. */
void library_paths_find(struct library_paths *paths, const struct profile *profile, struct func_names *names);

void library_paths_destroy(struct library_paths *paths);
