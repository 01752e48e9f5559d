/*
 * A profile for the eyes of others: without what it tells of the person and the machine that recorded it. The numbers
 * stay, and so do the tables' rows, so that a view of the original (functions by their numbers) is one of the copy.
 *
 * The copy has a string table of its own, with only those texts that something in it refers to: what is left out is not
 * in the file at all. Functions that no sample of the copy has are without names.
 */
#pragma once

#include "base/arena.h"
#include "export/sanitize_options.h"
#include "profile/profile.h"

/* Replaces the tables of `copy`, which begins as a shallow copy of a checked profile, by sanitized ones. They are in
 * `memory`, but for the strings: strings_destroy() frees these, also after a failure. `summary` is filled. */
int sanitize_profile(struct profile *copy, const struct sanitize_options *options, struct arena *memory,
                     struct sanitize_summary *summary, struct error *err);

/* Appends what a summary says, a line for each thing: "+..." stays, "-..." is left out, and after such a line "~..."
 * and "=..." are a text before and after. False if memory ran out. */
bool sanitize_describe(const struct sanitize_summary *summary, const struct sanitize_options *options,
                       struct text_buffer *out);
