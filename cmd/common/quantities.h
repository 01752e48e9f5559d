/*
 * Sizes and times as options take them: a number and a unit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Bytes: "64M", "1.5GiB"; K, M and G are powers of 1024. False for what is no positive size. */
bool parse_size(const char *text, uint64_t *bytes);

/* ns: "200ms", "30s", "5min", "1h". */
bool parse_time(const char *text, uint64_t *ns);

/* ns, of a number of seconds without a unit. */
bool parse_seconds(const char *text, uint64_t *ns);
