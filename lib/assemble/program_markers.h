/*
 * Adds the marks of programs to the profile: markers in the thread that set them, and a counter for each name of a
 * process's counter marks.
 */
#pragma once

#include "assemble/marker_rows.h"
#include "assemble/replay_state.h"

/* `rows_of`: for each thread of the replay, the profile's thread that shows it, or PROFILE_NONE (no thread shows
 * it). */
struct shown_threads {
    const uint32_t *rows_of;
    const struct replay *replay;
};

/* Returns the profile's thread that shows the marks of a thread of the replay: the thread itself, else the main thread
 * of its process, else the main thread of its closest ancestor, else the first thread. */
uint32_t get_shown_thread(const struct shown_threads *shown, uint32_t thread);

/* Adds markers and counters. Notes a lack of memory in `rows`. Returns the number of counters beyond the profile's
 * limit. */
size_t program_markers_add(struct marker_rows *rows, const struct shown_threads *shown);
