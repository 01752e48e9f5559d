/*
 * Appends one profile to another: its threads with their samples, markers and counters, on the tables of the first.
 * Functions that are the same (match_funcs.h) become one, so that call trees merge; libraries, sources, categories and
 * events do so by what they say. Frames and stacks are appended as they are: they differ by addresses.
 */
#pragma once

#include "profile/profile.h"

/* Takes the columns of `from`, which the caller destroys; `into` is to be destroyed, too, if this fails. Both were
 * checked, and have the same units: see compare.c. Of metadata, only what tables need. */
int profile_merge(struct profile *into, struct profile *from, struct error *err);
