/*
 * Parses and writes the numbers of JSON: independent of the locale, correctly rounded, and fast for the typical numbers
 * of profiles (small integers, times with a few decimals).
 */
#pragma once

#include "base/standard.h"

enum { NUMBER_MAX = 40 }; /* bytes of the longest written number */

/* Returns the double nearest to the number in `text` (ties to even), a whole JSON number, not NUL-terminated. A number
 * beyond the range of a double becomes the largest finite double, because JSON has no infinities. */
double number_parse(const char *text, size_t length);

/* Computes the double nearest to `digits` * 10^`exponent`. True if the fast methods apply (|exponent| <= 27). */
bool number_scale(uint64_t digits, int exponent, double *value);

/* The functions below write a number without a NUL at `out`, which has NUMBER_MAX bytes, and return the first byte
 * after the number. */
char *number_put_unsigned(char *out, uint64_t value);
char *number_put_signed(char *out, int64_t value);

/* Writes `value` / 10^`decimals` (at most 18), without trailing zeros: (1230, 3) is "1.23", (-5, 1) is "-0.5". */
char *number_put_decimal(char *out, int64_t value, unsigned decimals);

/* Writes the shortest decimal that number_parse() turns into the same double; "null" for NaN and infinities. */
char *number_put_double(char *out, double value);
