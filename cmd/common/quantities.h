/*
 * Parsers of the numbers, sizes and times in option values.
 */
#pragma once

#include "base/standard.h"

/* Parses a decimal number from `least` to `most`. */
bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* Parses a size in bytes, such as "64M" or "1.5GiB"; K, M and G are powers of 1024. Returns false unless the text is a
 * positive size. */
bool parse_size(const char *text, uint64_t *bytes);

/* Parses a time such as "200ms", "30s", "5min" or "1h" into ns. */
bool parse_time(const char *text, uint64_t *ns);

/* Parses a number of seconds without a unit into ns. */
bool parse_seconds(const char *text, uint64_t *ns);
