/*
 * Markers may refer to the stack that set them, as a number in their payload, a JSON text.
 */
#pragma once

#include "profile/profile.h"

/* Replaces each stack n (below `count`) in a payload's "cause" by stacks[n]. Other numbers stay. Fails only when memory
 * runs out. */
int symbolicate_markers(struct profile *profile, const uint32_t *stacks, size_t count, struct error *err);
