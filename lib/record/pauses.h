/*
 * The pauses of a recording.
 */
#pragma once

#include "base/standard.h"

struct pause {
    uint64_t start, end; /* ns; end UINT64_MAX: still paused */
};

struct pauses {
    struct pause last, before; /* zero: none */
};

/* Whether the recording was paused at `time` (ns), in one of its last two pauses. */
static inline bool pauses_include(const struct pauses *pauses, uint64_t time)
{
    return (time >= pauses->last.start && time < pauses->last.end) ||
           (time >= pauses->before.start && time < pauses->before.end);
}
