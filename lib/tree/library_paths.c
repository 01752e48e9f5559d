#include "tree/library_paths.h"

void library_paths_find(struct library_paths *paths, const struct profile *profile, struct func_names *names)
{
    for (; paths->indexed < profile->libs.length; paths->indexed++) {
        const struct library *lib = &profile->libs.data[paths->indexed];
        if (lib->name != PROFILE_NONE && !hash_set(&paths->by_name, lib->name, lib->path))
            return;
    }
    if (names->resource != PROFILE_NONE)
        names->lib_path = hash_get(&paths->by_name, profile->resources.data[names->resource].name);
}

void library_paths_destroy(struct library_paths *paths)
{
    hash_destroy(&paths->by_name);
    paths->indexed = 0;
}
