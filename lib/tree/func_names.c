#include "tree/func_names.h"

#include "tree/stack_view.h"

static uint32_t path_of_library(const struct profile *profile, uint32_t name)
{
    uint32_t path = PROFILE_NONE;
    for (size_t i = 0; name != PROFILE_NONE && i < profile->libs.length; i++)
        if (profile->libs.data[i].name == name)
            path = profile->libs.data[i].path;
    return path;
}

struct func_names func_names_of(const struct profile *profile, uint32_t func)
{
    struct func_names names = {.name = PROFILE_NONE,
                               .lib = PROFILE_NONE,
                               .lib_path = PROFILE_NONE,
                               .file = PROFILE_NONE,
                               .resource = PROFILE_NONE};
    if (func >= profile->funcs.length) {
        uint32_t resource = func - func_of_resource(profile, 0);
        if (resource < profile->resources.length) {
            names.resource = resource;
            names.name = profile->resources.data[resource].name;
            names.lib_path = path_of_library(profile, names.name);
        }
        return names;
    }
    uint32_t resource = profile->funcs.resource[func], source = profile->funcs.source[func];
    names.name = profile->funcs.name[func];
    names.line = profile->funcs.line[func];
    if (resource < profile->resources.length) {
        names.resource = resource;
        names.lib = profile->resources.data[resource].name;
        names.lib_path = path_of_library(profile, names.lib);
    }
    if (source < profile->sources.length)
        names.file = profile->sources.data[source].filename;
    return names;
}
