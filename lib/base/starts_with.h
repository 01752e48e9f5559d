/* Tests how a text begins or ends. */
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

/* Whether the first `length` bytes of `text` end with `end`. */
static inline bool part_ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= size && memcmp(text + length - size, end, size) == 0;
}

static inline bool ends_with(const char *text, const char *end)
{
    return part_ends_with(text, strlen(text), end);
}
