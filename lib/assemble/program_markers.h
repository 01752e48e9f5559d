/*
 * What programs marked, in the profile: markers of the thread that made them, and a counter for each name of a
 * process's counter marks.
 */
#pragma once

#include "assemble/marker_rows.h"
#include "assemble/replay.h"

/* `rows_of`: for each thread of the replay, the profile's thread that shows it; PROFILE_NONE. */
struct shown_threads {
    const uint32_t *rows_of;
    const struct replay *replay;
};

/* The profile's thread that stands for a thread of the replay: itself, that of its process, that of the next process
 * above that has one, or the first. */
uint32_t shown_thread(const struct shown_threads *shown, uint32_t thread);

/* Adds markers and counters. Memory that ran out is noted in `rows`. Returns how many counters are left out, because a
 * profile takes only so many. */
size_t program_markers_add(struct marker_rows *rows, const struct shown_threads *shown);
