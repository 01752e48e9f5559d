/*
 * What a user should do differently next time, one sentence each: why there are few samples or none, and how a compiler
 * at run time is asked to name its code.
 */
#ifndef PROF_ASSEMBLE_HINTS_H
#define PROF_ASSEMBLE_HINTS_H

#include "assemble/replay.h"
#include "assemble/symbolization.h"

enum { HINTS = 2, HINT_SIZE = 400 };

struct hints {
    char text[HINTS][HINT_SIZE];
    size_t count;
};

void hints_find(struct hints *hints, const struct replay *replay, const struct symbolization *symbolization);

#endif
