/*
 * Markers about the recording itself: lost samples and marks, pauses, marks of the user, runs of the command, work of
 * the recorder. The first thread has these markers, because they belong to no thread.
 */
#pragma once

#include "assemble/marker_rows.h"
#include "assemble/program_marks.h"
#include "assemble/replay_marks.h"

/* The schema (JSON text) of all markers that prof records. */
extern const char recording_marker_schema[];

/* Adds the markers, and the pauses of all threads. Notes a lack of memory in `rows`. */
void recording_markers_add(struct marker_rows *rows, const struct replay_marks *marks,
                           const struct program_marks *programs);
