/*
 * Markers of a profile that tell what happened to the recording itself: lost samples and marks, pauses, what the user
 * marked, runs of the command, work of the recorder. They are in the first thread: none of them belongs to a thread.
 */
#pragma once

#include "assemble/marker_rows.h"
#include "assemble/program_marks.h"
#include "assemble/replay_marks.h"

/* The schema of all markers that prof records: JSON text. */
extern const char recording_marker_schema[];

/* Adds the markers, and the pauses of all threads. Memory that ran out is noted in `rows`. */
void recording_markers_add(struct marker_rows *rows, const struct replay_marks *marks,
                           const struct program_marks *programs);
