/* Kinds of characters in ASCII, whatever the locale is. */
#pragma once

#include "base/standard.h"

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
