/*
 * Sanitizes a profile for publication: removes personal data and data about the machine. Tables keep their rows, so a
 * view of the original (functions by index) also fits the copy. The string table of the copy has only the texts that
 * the copy uses, so the file does not contain removed texts. Functions without samples in the copy have no names.
 */
#pragma once

#include "base/arena.h"
#include "export/sanitize_options.h"
#include "profile/profile.h"

/* Replaces the tables of `copy`, a shallow copy of a checked profile, by sanitized ones. `memory` holds the tables
 * except the strings, which the caller frees with strings_destroy(), even after a failure. Fills `summary`. */
int sanitize_profile(struct profile *copy, const struct sanitize_options *options, struct arena *memory,
                     struct sanitize_summary *summary, struct error *err);

/* Appends a summary, a line per item: "+..." is kept, "-..." is removed; "~..." and "=..." are an example before and
 * after. False if memory ran out. */
bool sanitize_describe(const struct sanitize_summary *summary, const struct sanitize_options *options,
                       struct text_buffer *out);
