/*
 * Amounts as text for people: counts, bytes, durations, and weights of samples in any unit. web/src/base/format.ts does
 * the same for the page.
 */
#pragma once

#include "base/standard.h"

enum { QUANTITY_TEXT_MAX = 96 };

/* "1,234,567" */
void format_count(char out[QUANTITY_TEXT_MAX], double value);

/* "12 B", "1.5 KiB", "340 MiB" */
void format_bytes(char out[QUANTITY_TEXT_MAX], double value);

/* "1.25 s", "12.5 ms", "340 µs" */
void format_duration(char out[QUANTITY_TEXT_MAX], double ms);

/* Writes a time with the decimals of tables: "12.5 ms", "3.124 s", "1,204.1 s". */
void format_time(char out[QUANTITY_TEXT_MAX], double ms);

/* Writes a weight for a column whose header has the unit: "1,234.5" (ms), "1,234" (samples or events), "1.5 KiB". */
void format_weight(char out[QUANTITY_TEXT_MAX], double weight, const char *unit);

/* Writes a value like format_weight(), and an estimate, whose `error` is visible in these digits, as "about 3,400". */
void format_estimate(char out[QUANTITY_TEXT_MAX], double value, double error, const char *unit);
