/*
 * Paths as texts; nothing here looks at a file.
 */
#pragma once

#include <string.h>

/* What follows the last slash, or the whole path if nothing does. */
static inline const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
