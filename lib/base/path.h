/*
 * Paths as texts; these functions read no files.
 */
#pragma once

#include <string.h>

/* The part after the last slash, or the whole path without one. */
static inline const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
