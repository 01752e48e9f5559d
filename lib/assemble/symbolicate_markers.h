/*
 * Markers may say which stack they were set by. Their payload is a JSON text, in which the stack is a number.
 */
#ifndef PROF_ASSEMBLE_SYMBOLICATE_MARKERS_H
#define PROF_ASSEMBLE_SYMBOLICATE_MARKERS_H

#include "profile/profile.h"

/* Puts stacks[n] in the place of each stack n (below `count`) that a payload names as its "cause". A number that is
 * none of these stays. Fails only when memory runs out. */
int symbolicate_markers(struct profile *profile, const uint32_t *stacks, size_t count, struct error *err);

#endif
