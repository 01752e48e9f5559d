/*
 * Library paths by library name. A func names its library through a resource, which has no path. A profile can have as
 * many libraries as funcs (a callgrind file with 400,000 objects), so an index finds each one.
 *
 * Thread safety: one caller at a time.
 */
#pragma once

#include "base/hash.h"
#include "profile/profile.h"
#include "tree/stack_view.h"

/* Starts zeroed. The index belongs to one profile; libraries may be added to the profile, not removed. */
struct library_paths {
    struct hash by_name;
    size_t indexed; /* libraries */
};

/* Sets names->lib_path for a func of the profile. The path stays unknown if memory runs out. */
void library_paths_find(struct library_paths *paths, const struct profile *profile, struct func_names *names);

void library_paths_destroy(struct library_paths *paths);
