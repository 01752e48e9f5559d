/* Functions for paths as texts, without access to files. */
#pragma once

#include "base/standard.h"

/* Returns the part after the last slash, or the whole path without a slash. */
static inline const char *path_get_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
