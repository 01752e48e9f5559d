/* Kinds of characters in ASCII, whatever the locale is. */
#pragma once

#include "base/standard.h"

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the value of a hexadecimal digit, or -1 for another character. */
static inline int parse_hex_digit(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
