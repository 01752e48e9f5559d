/*
 * Appends one profile to another: its threads with their samples, markers and counters, on the tables of the first
 * profile. Matching functions (match_funcs.h) become one, so call trees merge; equal libraries, sources, categories and
 * events become one, too. Frames and stacks are appended: they differ by address.
 */
#pragma once

#include "profile/profile.h"

/* Moves the columns of `from`, which the caller destroys; the caller also destroys `into` on failure. The caller has
 * checked both profiles, which have the same units (compare.c). Merges only the metadata that tables need. */
int profile_merge(struct profile *into, struct profile *from, struct error *err);
