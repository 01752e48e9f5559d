/*
 * Updates the stack numbers in marker payloads (JSON): a marker may refer to the stack that set the marker.
 */
#pragma once

#include "profile/profile.h"

/* Replaces each stack n (below `count`) in a payload's "cause" by stacks[n]. Other numbers stay. Fails only when memory
 * runs out. */
int symbolicate_markers(struct profile *profile, const uint32_t *stacks, size_t count, struct error *err);
