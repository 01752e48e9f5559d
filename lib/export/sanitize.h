/*
 * Sanitizes a profile for publication: removes personal data and data of the machine. Numbers and rows of the tables
 * stay, so a view of the original (functions by number) also fits the copy.
 * The copy has a string table with only the texts that it uses: the file does not contain removed texts. Functions
 * without samples in the copy have no names.
 */
#pragma once

#include "base/arena.h"
#include "export/sanitize_options.h"
#include "profile/profile.h"

/* Replaces the tables of `copy`, a shallow copy of a checked profile, by sanitized ones. `memory` holds them, except
 * the strings: the caller calls strings_destroy(), even after a failure. Fills `summary`. */
int sanitize_profile(struct profile *copy, const struct sanitize_options *options, struct arena *memory,
                     struct sanitize_summary *summary, struct error *err);

/* Appends a summary, a line per item: "+..." is kept, "-..." is removed; after such a line, "~..." and "=..." are a
 * text before and after. False if memory ran out. */
bool sanitize_describe(const struct sanitize_summary *summary, const struct sanitize_options *options,
                       struct text_buffer *out);
