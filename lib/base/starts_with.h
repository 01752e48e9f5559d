/* Tests how a text begins. */
#pragma once

#include "base/standard.h"

static inline bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* `starts` ends with NULL. */
static inline bool starts_with_any(const char *text, const char *const *starts)
{
    for (; *starts; starts++)
        if (starts_with(text, *starts))
            return true;
    return false;
}
