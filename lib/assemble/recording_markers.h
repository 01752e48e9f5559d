/*
 * Markers of a profile that tell what happened to the recording itself: lost samples, pauses, what the user marked,
 * runs of the command. They are in the first thread: none of them belongs to a thread.
 */
#pragma once

#include "assemble/replay_marks.h"
#include "base/error.h"
#include "base/strings.h"
#include "profile/profile.h"

/* Fills the markers of the profile's first thread, the schema of its markers and the pauses of all threads. `start_ns`
 * is time 0 of the profile, `end_ns` ends what has no end. */
int recording_markers_fill(struct profile *profile, const struct replay_marks *marks, uint64_t start_ns,
                           uint64_t end_ns, struct error *err);
