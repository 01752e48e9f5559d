/*
 * Hints for the next recording, one sentence each: the reasons for few or no samples, and the option that makes a JIT
 * compiler write symbols.
 */
#pragma once

#include "assemble/replay_state.h"
#include "assemble/symbolization.h"

enum { HINTS = 6, HINT_SIZE = 400 };

struct hints {
    char text[HINTS][HINT_SIZE];
    size_t count;
};

void hints_find(struct hints *hints, const struct replay *replay, const struct symbolization *symbolization);
